// Does with bytes of unknown origin all that a program would: imports them, prepares the model and,
// where that is cheap, runs it. Shared by the tests and the fuzzer.
#ifndef INTAGLIO_TEST_NN_FORMATS_TFLITE_EXERCISE_H_
#define INTAGLIO_TEST_NN_FORMATS_TFLITE_EXERCISE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "intaglio/test/nn/formats/ways.h"

namespace intaglio::nn::test {

// Returns the error, or nothing if the model ran.
std::string Exercise(std::span<const uint8_t> bytes);

// Whether an error says so. Sizes beyond 32 bits are refused before all else where those count
// them.
inline bool Says(const std::string& error, const std::string& part) {
  constexpr const char* kUncounted = "has more bytes than memory can hold";
  const bool is_uncounted = sizeof(size_t) == 4 && error.find(kUncounted) != error.npos;
  return is_uncounted || error.find(part) != error.npos;
}

}  // namespace intaglio::nn::test

#endif  // INTAGLIO_TEST_NN_FORMATS_TFLITE_EXERCISE_H_
