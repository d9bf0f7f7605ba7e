// Operators that work element by element, row by row, or reduce.
#include "intaglio/nn/export/encode.h"

namespace intaglio::nn {
namespace {

template <class Op>
Status EncodeReduction(const Op& op, Encoding& e) {
  e.AppendInput(e.Ints("axes", op.axes));
  e.SetOptions(tflite::CreateReducerOptions(e.builder(), op.keep_dims));
  return {};
}

}  // namespace

Status Encode(const Add& op, Encoding& e) {
  e.SetOptions(tflite::CreateAddOptions(e.builder(), ToTflite(op.activation), op.pot_scale_int16));
  return {};
}
Status Encode(const Sub& op, Encoding& e) {
  e.SetOptions(tflite::CreateSubOptions(e.builder(), ToTflite(op.activation), op.pot_scale_int16));
  return {};
}
Status Encode(const Mul& op, Encoding& e) {
  e.SetOptions(tflite::CreateMulOptions(e.builder(), ToTflite(op.activation)));
  return {};
}
Status Encode(const Div& op, Encoding& e) {
  e.SetOptions(tflite::CreateDivOptions(e.builder(), ToTflite(op.activation)));
  return {};
}
Status Encode(const Concatenation& op, Encoding& e) {
  e.SetOptions(tflite::CreateConcatenationOptions(e.builder(), op.axis, ToTflite(op.activation)));
  return {};
}
Status Encode(const Softmax& op, Encoding& e) {
  e.SetOptions(tflite::CreateSoftmaxOptions(e.builder(), op.beta));
  return {};
}
Status Encode(const L2Normalization&, Encoding& e) {
  e.SetOptions(tflite::CreateL2NormOptions(e.builder()));
  return {};
}
Status Encode(const LeakyRelu& op, Encoding& e) {
  e.SetOptions(tflite::CreateLeakyReluOptions(e.builder(), op.alpha));
  return {};
}
Status Encode(const Gelu& op, Encoding& e) {
  e.SetOptions(tflite::CreateGeluOptions(e.builder(), op.approximate));
  return {};
}

Status Encode(const Mean& op, Encoding& e) { return EncodeReduction(op, e); }
Status Encode(const Sum& op, Encoding& e) { return EncodeReduction(op, e); }
Status Encode(const ReduceMax& op, Encoding& e) { return EncodeReduction(op, e); }
Status Encode(const ReduceMin& op, Encoding& e) { return EncodeReduction(op, e); }
Status Encode(const ReduceProd& op, Encoding& e) { return EncodeReduction(op, e); }
Status Encode(const ReduceAny& op, Encoding& e) { return EncodeReduction(op, e); }
Status Encode(const ReduceAll& op, Encoding& e) { return EncodeReduction(op, e); }

}  // namespace intaglio::nn
