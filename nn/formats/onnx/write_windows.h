// Inside the .onnx writer: windows that slide over images.
#ifndef INTAGLIO_NN_FORMATS_ONNX_WRITE_WINDOWS_H_
#define INTAGLIO_NN_FORMATS_ONNX_WRITE_WINDOWS_H_

#include <cstdint>
#include <vector>

#include "intaglio/nn/formats/onnx/layer_writer.h"
#include "intaglio/nn/ops/support/padding.h"

namespace intaglio::nn::onnx {

// Refuses a layer with windows larger than the image, which the format takes for an error.
bool HasWindows(LayerWriter& w);

// How much padding windows need on an image [N, H, W, C]: top, left, bottom, right.
std::vector<int64_t> PadsOf(const Shape& image, Extent filter, Extent stride, Extent dilation,
                            const Padding& padding);

// Height and width.
inline std::vector<int64_t> Sizes(Extent extent) { return {extent.height, extent.width}; }

}  // namespace intaglio::nn::onnx

#endif  // INTAGLIO_NN_FORMATS_ONNX_WRITE_WINDOWS_H_
