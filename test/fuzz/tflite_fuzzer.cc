// Fuzzes all that is done with a .tflite file: reading, preparing, short runs, resizing,
// partitioning and writing. Ways to the same result are held against each other (cross_check.h).
// To build and run:
//
//   cmake --preset fuzz && cmake --build --preset fuzz --target tflite_fuzzer tflite_seeds
//   mkdir -p build/corpus build/seeds && build/fuzz/test/fuzz/tflite_seeds build/seeds
//   build/fuzz/test/fuzz/tflite_fuzzer -max_len=65536 -timeout=10 -rss_limit_mb=1024
//     -malloc_limit_mb=512 -max_total_time=3600 build/corpus build/seeds test/fuzz/corpus
//
// What it finds goes, minimized (-minimize_crash=1), into test/fuzz/corpus, which the ordinary
// suite replays.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "intaglio/test/fuzz/tflite_mutator.h"
#include "intaglio/test/nn/formats/tflite/cross_check.h"
#include "intaglio/test/nn/formats/tflite/exercise.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

// One mutation in this many changes bytes, which breaks most files.
constexpr unsigned kBytesOnly = 16;

// Copies a file into libFuzzer's buffer. Returns 0 if it does not fit.
size_t Give(const std::vector<uint8_t>& file, uint8_t* to, size_t max_size) {
  if (file.size() > max_size) return 0;
  std::copy(file.begin(), file.end(), to);
  return file.size();
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  if (seed % kBytesOnly == 0) return LLVMFuzzerMutate(data, size, max_size);
  const size_t written = Give(intaglio::fuzz::MutateTflite({data, size}, seed), data, max_size);
  return written > 0 ? written : LLVMFuzzerMutate(data, size, max_size);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* first, size_t first_size,
                                            const uint8_t* second, size_t second_size, uint8_t* out,
                                            size_t max_size, unsigned seed) {
  return Give(intaglio::fuzz::ChainTflite({first, first_size}, {second, second_size}, seed), out,
              max_size);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)intaglio::nn::test::Exercise({data, size});
  const std::string error = intaglio::nn::test::CrossCheck({data, size});
  if (error.empty()) return 0;
  std::fprintf(stderr, "%s\n", error.c_str());
  std::abort();
}
