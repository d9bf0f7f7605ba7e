// Fuzzes all that is done with an .onnx file: reading, its passes, preparing, short runs,
// partitioning and writing. Ways to the same result are held against each other (ways.h).
// To build and run:
//
//   cmake --preset fuzz && cmake --build --preset fuzz --target onnx_fuzzer onnx_seeds
//   mkdir -p build/corpus build/seeds && build/fuzz/test/fuzz/onnx_seeds build/seeds
//   build/fuzz/test/fuzz/onnx_fuzzer -max_len=65536 -timeout=10 -rss_limit_mb=1024
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

#include "intaglio/test/fuzz/onnx_mutator.h"
#include "intaglio/test/nn/formats/onnx/cross_check.h"

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
  const size_t written = Give(intaglio::fuzz::MutateOnnx({data, size}, seed), data, max_size);
  return written > 0 ? written : LLVMFuzzerMutate(data, size, max_size);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* first, size_t first_size,
                                            const uint8_t* second, size_t second_size, uint8_t* out,
                                            size_t max_size, unsigned seed) {
  return Give(intaglio::fuzz::ChainOnnx({first, first_size}, {second, second_size}, seed), out,
              max_size);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string error = intaglio::nn::test::CrossCheckOnnx({data, size});
  if (error.empty()) return 0;
  std::fprintf(stderr, "%s\n", error.c_str());
  std::abort();
}
