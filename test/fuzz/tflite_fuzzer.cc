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
#include "intaglio/test/fuzz/format.h"
#include "intaglio/test/fuzz/tflite_mutator.h"
#include "intaglio/test/nn/formats/tflite/cross_check.h"
#include "intaglio/test/nn/formats/tflite/exercise.h"

namespace intaglio::fuzz {

std::vector<uint8_t> Mutate(std::span<const uint8_t> bytes, uint32_t seed) {
  return MutateTflite(bytes, seed);
}

std::vector<uint8_t> Chain(std::span<const uint8_t> first, std::span<const uint8_t> second,
                           uint32_t seed) {
  return ChainTflite(first, second, seed);
}

std::string Check(std::span<const uint8_t> bytes) {
  (void)nn::test::Exercise(bytes);
  return nn::test::CrossCheck(bytes);
}

}  // namespace intaglio::fuzz
