// Inside the .onnx reader: arithmetic as this format means it.
#ifndef INTAGLIO_NN_FORMATS_ONNX_ARITHMETIC_H_
#define INTAGLIO_NN_FORMATS_ONNX_ARITHMETIC_H_

namespace intaglio::nn::onnx {

// An operator on IEEE numbers. By default ours take the greatest number for infinity, as TFLite
// does.
template <class Op>
Op Ieee() {
  Op op;
  if constexpr (requires { op.keeps_infinities; }) op.keeps_infinities = true;
  if constexpr (requires { op.keeps_nan; }) op.keeps_nan = true;
  return op;
}

}  // namespace intaglio::nn::onnx

#endif  // INTAGLIO_NN_FORMATS_ONNX_ARITHMETIC_H_
