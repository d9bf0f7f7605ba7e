// Mutates .tflite files as what they are: tensors, operators, options, constants. The result is a
// file that the FlatBuffers verifier accepts, so that mutations reach what lies behind it.
#ifndef INTAGLIO_TEST_FUZZ_MODEL_MUTATOR_H_
#define INTAGLIO_TEST_FUZZ_MODEL_MUTATOR_H_

#include <cstdint>
#include <span>
#include <vector>

namespace intaglio::fuzz {

// The model with one to four things changed. Empty where `bytes` is no .tflite file.
std::vector<uint8_t> MutateModel(std::span<const uint8_t> bytes, uint32_t seed);

// The first subgraph of `second` behind that of `first`: its inputs are tensors of `first` that
// have the same type. Empty where either is no .tflite file.
std::vector<uint8_t> ChainModels(std::span<const uint8_t> first, std::span<const uint8_t> second,
                                 uint32_t seed);

}  // namespace intaglio::fuzz

#endif  // INTAGLIO_TEST_FUZZ_MODEL_MUTATOR_H_
