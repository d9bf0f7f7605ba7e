// Inside the .onnx reader: convolutions and matrix products of any types.
#ifndef INTAGLIO_NN_FORMATS_ONNX_PRODUCTS_H_
#define INTAGLIO_NN_FORMATS_ONNX_PRODUCTS_H_

#include <optional>

#include "intaglio/nn/formats/onnx/translation.h"

namespace intaglio::nn::onnx {

// What the sums of products become.
struct Sums {
  Type type = Type::kFloat32;
  Quantization quantization = {};
  std::optional<Numerics> numerics = std::nullopt;  // none: float32 products
};

// Weights, and what their numbers mean: a scale and a zero point for each tensor or output channel.
struct Weights {
  TensorId id = kNoTensor;
  Quantization quantization = {};  // the axis does not matter
  bool transposed = false;         // a matrix [N, K] instead of [K, N]
};

// Images [N, C, H, W] or lines [N, C, W] by filters [O, C / groups, ...], with the attributes of
// Conv. `bias` may be kNoTensor.
TensorId Convolution(Translation& t, TensorId x, const Weights& filter, TensorId bias,
                     const Sums& to);
// The sums of numbers of 8 bits, less a zero point that each run tells.
TensorId ConvolutionByRun(Translation& t, TensorId x, const Weights& filter, TensorId x_zero_point);

// Matrices a [..., M, K] by b [K, N] or [..., K, N], as NumPy multiplies. Zero points per column
// are possible where b is one constant matrix. `bias`, [N], needs one, too; it may be kNoTensor.
TensorId MatrixProduct(LayerMaker& make, TensorId a, const Weights& b, TensorId bias,
                       const Sums& to);

}  // namespace intaglio::nn::onnx

#endif  // INTAGLIO_NN_FORMATS_ONNX_PRODUCTS_H_
