// Holds ways to the same result against each other, for bytes of unknown origin: kernels and
// thread counts, the model before and after a trip through a file, the whole and its three parts,
// and other shapes of its inputs. Shared by the tests and the fuzzer.
#ifndef INTAGLIO_TEST_NN_IMPORT_CROSS_CHECK_H_
#define INTAGLIO_TEST_NN_IMPORT_CROSS_CHECK_H_

#include <cstdint>
#include <span>
#include <string>

namespace intaglio::nn::test {

// What disagrees, in one line; empty where nothing does, or where the model does not run at all.
std::string CrossCheck(std::span<const uint8_t> bytes);

}  // namespace intaglio::nn::test

#endif  // INTAGLIO_TEST_NN_IMPORT_CROSS_CHECK_H_
