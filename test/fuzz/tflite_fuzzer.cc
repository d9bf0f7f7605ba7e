// Fuzzes the .tflite reader, the preparation of what it read, and short runs. To build and run:
//
//   cmake -B build/fuzz -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=RelWithDebInfo
//     -DINTAGLIO_SANITIZE=fuzzer-no-link,address,undefined -DINTAGLIO_BUILD_FUZZERS=ON
//     -DINTAGLIO_BUILD_BENCH=OFF -DINTAGLIO_BUILD_EXAMPLES=OFF
//   cmake --build build/fuzz --target tflite_fuzzer
//   mkdir -p build/corpus && build/fuzz/test/fuzz/tflite_fuzzer -max_len=16384 -timeout=20
//     -rss_limit_mb=1024 -max_total_time=600 build/corpus test/fuzz/corpus
//
// What it finds goes, minimized (-minimize_crash=1), into test/fuzz/corpus, which the ordinary
// suite replays.
#include <cstddef>
#include <cstdint>

#include "intaglio/test/nn/import/exercise.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)intaglio::nn::test::Exercise({data, size});
  return 0;
}
