// The float32 form of one layer of a quantized network: the same function of the real numbers that
// its integers stand for.
#ifndef INTAGLIO_NN_PASSES_FLOAT_FORM_H_
#define INTAGLIO_NN_PASSES_FLOAT_FORM_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/graph/layer_view.h"

namespace intaglio::nn {

// Whether a tensor is an activation of int8 or uint8 with one scale. Such a tensor has a float32
// form too.
bool HasFloatForm(const Tensor& tensor);

// A layer that only changes the form of its tensor, so it vanishes if the network changes form
// there anyway: QUANTIZE of float32, DEQUANTIZE to float32, and QUANTIZE of integers.
bool QuantizesReals(const Graph& graph, const Layer& layer);
bool DequantizesToReals(const Graph& graph, const Layer& layer);
bool Requantizes(const Graph& graph, const Layer& layer);

// Says why a layer has no float32 form; the text is empty if it has one. Layers that QuantizesReals
// or DequantizesToReals have none: they are where the forms meet. Only for graphs that passed
// Validate.
std::string WhyNotFloat(const Graph& graph, size_t layer);

// The constant as float32: each element is float32(scale * (q - zero point)), computed in float64.
// Of `scales` there is one, or one for each index of the axis of the constant's quantization.
// Throws std::bad_alloc.
Tensor DequantizeConstant(const Tensor& constant, const std::vector<double>& scales);

// The scales of a constant that becomes float32 in the layer's float32 form; empty if it stays. A
// bias gets the scale of the sums that it is added to, whatever its own scale says, because that is
// what integer routines do.
std::vector<double> ScalesOfConstant(const LayerView& layer, size_t input);

// The operator of the float32 form. Bounds of the integers become an activation: those that the
// layer's numerics state, and the lowest number if it stands for 0, which is how files say ReLU
// that has no layer of its own. Other ends of the integers' range bound nothing in float32.
// There is no value if no activation has these bounds.
std::optional<Operator> FloatOperator(const LayerView& layer);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_PASSES_FLOAT_FORM_H_
