// Mutates .tflite files by their structure: tensors, operators, options, constants. The result is a
// file that the FlatBuffers verifier accepts, so mutations reach the code behind the verifier.
#ifndef INTAGLIO_TEST_FUZZ_TFLITE_MUTATOR_H_
#define INTAGLIO_TEST_FUZZ_TFLITE_MUTATOR_H_

#include <cstdint>
#include <span>
#include <vector>

namespace intaglio::fuzz {

// Returns the model with one to four changes. The result is empty if `bytes` is no .tflite file.
std::vector<uint8_t> MutateTflite(std::span<const uint8_t> bytes, uint32_t seed);

// Appends the first subgraph of `second` to that of `first`. Its inputs become tensors of `first`
// that have the same type. The result is empty if either is no .tflite file.
std::vector<uint8_t> ChainTflite(std::span<const uint8_t> first, std::span<const uint8_t> second,
                                 uint32_t seed);

}  // namespace intaglio::fuzz

#endif  // INTAGLIO_TEST_FUZZ_TFLITE_MUTATOR_H_
