// Mutates .onnx files by their structure: nodes, attributes, constants, types and shapes. The
// result is a message that Protobuf parses, so mutations reach the code behind the parser.
#ifndef INTAGLIO_TEST_FUZZ_ONNX_MUTATOR_H_
#define INTAGLIO_TEST_FUZZ_ONNX_MUTATOR_H_

#include <cstdint>
#include <span>
#include <vector>

namespace intaglio::fuzz {

// Returns the model with one to four changes. The result is empty if `bytes` is no .onnx file.
std::vector<uint8_t> MutateOnnx(std::span<const uint8_t> bytes, uint32_t seed);

// Appends the nodes of `second` to those of `first`. Its inputs become values of `first` that have
// the same type. The result is empty if either is no .onnx file.
std::vector<uint8_t> ChainOnnx(std::span<const uint8_t> first, std::span<const uint8_t> second,
                               uint32_t seed);

}  // namespace intaglio::fuzz

#endif  // INTAGLIO_TEST_FUZZ_ONNX_MUTATOR_H_
