// What brings numbers from one quantization to another, in .onnx files.
#include "intaglio/nn/formats/onnx/write_rows.h"
#include "intaglio/nn/ops/elementwise/dynamic_quantize.h"
#include "intaglio/nn/ops/operators.h"

namespace intaglio::nn::onnx {
namespace {

// Input 0 as float32, also if it holds quantized numbers of 32 bits.
Value RealInput(LayerWriter& w) {
  const Tensor& x = w.input(0);
  if (x.type != Type::kInt32 || !x.quantization.quantized()) return w.Real(0);
  return w.Dequantized(w.Numbers(0), x.quantization, x.type);
}

void Write(const Quantize&, LayerWriter& w) {
  if (!IsQuantized(w.output())) return w.Refuse("ONNX quantizes to 8 and 16 bits only");
  const Quantization& q = w.output().quantization;
  if (!q.per_axis()) return w.SetReal(RealInput(w));
  if (IsQuantized(w.input(0))) return w.Refuse("numbers with several scales for others");
  w.SetNumbers(w.Quantized(w.Numbers(0, Order::kOurs), q, w.output().type), Order::kOurs);
}

void Write(const Dequantize&, LayerWriter& w) { w.SetNumbers(RealInput(w)); }

// All outputs are in the order of the input: two of them are one number.
void Write(const DynamicQuantize&, LayerWriter& w) {
  const std::vector<Value> y = w.nodes().Nodes("DynamicQuantizeLinear", {w.Numbers(0)}, 3);
  w.SetNumbers(y[0]);
  w.SetNumbers(y[1], Order::kOurs, 1);
  w.SetNumbers(y[2], Order::kOurs, 2);
}

// onnxruntime's own operators.
void WritePair(LayerWriter& w, const WriteRow& row) {
  if (!IsQuantized(w.input(0)) || !IsQuantized(w.input(1)) || !IsQuantized(w.output())) {
    return w.Refuse("numbers without a quantization");
  }
  std::vector<Value> inputs;
  for (size_t i = 0; i < 2; ++i) {
    inputs.push_back(w.Numbers(i));
    w.AppendParameters(w.input(i), inputs);
  }
  w.AppendParameters(w.output(), inputs);
  w.SetNumbers(w.nodes().Node(row.name, inputs));
}

constexpr WriteRow kRows[] = {
    {&Dequantize::kRow, WriteBy<Dequantize, Write>},
    {&DynamicQuantize::kRow, WriteBy<DynamicQuantize, Write>},
    {&QLinearAdd::kRow, WritePair, "com.microsoft.QLinearAdd"},
    {&QLinearMul::kRow, WritePair, "com.microsoft.QLinearMul"},
    {&Quantize::kRow, WriteBy<Quantize, Write>},
};

}  // namespace

std::span<const WriteRow> QuantizedWriteRows() { return kRows; }

}  // namespace intaglio::nn::onnx
