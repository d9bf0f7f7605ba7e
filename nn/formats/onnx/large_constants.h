// Inside the .onnx reader: constants whose elements stay in the mapped file.
#ifndef INTAGLIO_NN_FORMATS_ONNX_LARGE_CONSTANTS_H_
#define INTAGLIO_NN_FORMATS_ONNX_LARGE_CONSTANTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace intaglio::nn::onnx {

struct LargeConstant {
  size_t initializer;  // its place among those of the model's graph
  std::span<const uint8_t> elements;
};

// A ModelProto whose large constants have no elements, and these elements.
struct LeanModel {
  std::string message;
  std::vector<LargeConstant> constants;
};

inline constexpr size_t kLargeConstant = 64 << 10;

// Takes the raw_data of `large` bytes and more out of the initializers of the model's graph,
// because Protobuf would copy them. They may lie at any address: where routines could not read
// them, the reader copies them in the end (AlignConstants). Nullopt, and nothing is copied, if
// nothing is to be taken out. Nullopt also if the message looks damaged, which Parse has to tell.
std::optional<LeanModel> WithoutLargeConstants(std::span<const uint8_t> model,
                                               size_t large = kLargeConstant);

}  // namespace intaglio::nn::onnx

#endif  // INTAGLIO_NN_FORMATS_ONNX_LARGE_CONSTANTS_H_
