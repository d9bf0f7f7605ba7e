// Does with bytes of unknown origin all that a program would: imports them, prepares the model and,
// where that is cheap, runs it. Shared by the tests and the fuzzer.
#ifndef INTAGLIO_TEST_NN_IMPORT_EXERCISE_H_
#define INTAGLIO_TEST_NN_IMPORT_EXERCISE_H_

#include <cstdint>
#include <span>
#include <string>

namespace intaglio::nn::test {

// The error, or empty where the model ran or would take too long.
std::string Exercise(std::span<const uint8_t> bytes);

}  // namespace intaglio::nn::test

#endif  // INTAGLIO_TEST_NN_IMPORT_EXERCISE_H_
