// The entry points of libFuzzer, for files of one format (format.h).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "intaglio/test/fuzz/format.h"

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
  const size_t written = Give(intaglio::fuzz::Mutate({data, size}, seed), data, max_size);
  return written > 0 ? written : LLVMFuzzerMutate(data, size, max_size);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* first, size_t first_size,
                                            const uint8_t* second, size_t second_size, uint8_t* out,
                                            size_t max_size, unsigned seed) {
  return Give(intaglio::fuzz::Chain({first, first_size}, {second, second_size}, seed), out,
              max_size);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string error = intaglio::fuzz::Check({data, size});
  if (error.empty()) return 0;
  std::fprintf(stderr, "%s\n", error.c_str());
  std::abort();
}
