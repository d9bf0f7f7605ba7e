// Inside the .onnx reader and writer: the functions that recurrent cells apply.
#ifndef INTAGLIO_NN_FORMATS_ONNX_CURVES_H_
#define INTAGLIO_NN_FORMATS_ONNX_CURVES_H_

#include "intaglio/nn/ops/recurrent/sequence.h"

namespace intaglio::nn::onnx {

struct NamedCurve {
  const char* name;  // in files
  Curve curve;
  int parameters;  // that a file may give
  float a = 0;     // where it gives none
  float b = 0;
};

inline constexpr NamedCurve kCurves[] = {
    {"Sigmoid", Curve::kSigmoid, 0},
    {"Tanh", Curve::kTanh, 0},
    {"Relu", Curve::kRelu, 0},
    {"Affine", Curve::kAffine, 2, 1, 0},
    {"LeakyRelu", Curve::kLeakyRelu, 1, 0.01f},
    {"ThresholdedRelu", Curve::kThresholdedRelu, 1, 1},
    {"ScaledTanh", Curve::kScaledTanh, 2, 1, 1},
    {"HardSigmoid", Curve::kHardSigmoid, 2, 0.2f, 0.5f},
    {"Elu", Curve::kElu, 1, 1},
    {"Softsign", Curve::kSoftsign, 0},
    {"Softplus", Curve::kSoftplus, 0},
};

}  // namespace intaglio::nn::onnx

#endif  // INTAGLIO_NN_FORMATS_ONNX_CURVES_H_
