// Does with bytes of unknown origin all that a program would do with an .onnx file. The tests and
// the fuzzer share it.
#ifndef INTAGLIO_TEST_NN_FORMATS_ONNX_CROSS_CHECK_H_
#define INTAGLIO_TEST_NN_FORMATS_ONNX_CROSS_CHECK_H_

#include <cstdint>
#include <span>
#include <string>

namespace intaglio::nn::test {

// Imports the bytes, prepares the model and, where that is cheap, runs it. Returns the error, or
// nothing if the model ran.
std::string ExerciseOnnx(std::span<const uint8_t> bytes);

// Compares several ways to the same result (ways.h). Says in one line what disagrees. The result is
// empty if everything agrees, or if the model does not run at all.
std::string CrossCheckOnnx(std::span<const uint8_t> bytes);

}  // namespace intaglio::nn::test

#endif  // INTAGLIO_TEST_NN_FORMATS_ONNX_CROSS_CHECK_H_
