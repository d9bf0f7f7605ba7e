// Compares several ways to the same result, for bytes of unknown origin: kernels and thread counts,
// the model before and after it is written and read, the whole and its three parts, and other
// shapes of its inputs. The tests and the fuzzer share it.
#ifndef INTAGLIO_TEST_NN_FORMATS_TFLITE_CROSS_CHECK_H_
#define INTAGLIO_TEST_NN_FORMATS_TFLITE_CROSS_CHECK_H_

#include <cstdint>
#include <span>
#include <string>

namespace intaglio::nn::test {

// Says in one line what disagrees. The result is empty if everything agrees, or if the model does
// not run at all.
std::string CrossCheck(std::span<const uint8_t> bytes);

}  // namespace intaglio::nn::test

#endif  // INTAGLIO_TEST_NN_FORMATS_TFLITE_CROSS_CHECK_H_
