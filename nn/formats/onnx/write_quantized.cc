// What brings numbers from one quantization to another, in .onnx files.
#include <cstdint>
#include <set>
#include <vector>

#include "intaglio/nn/formats/onnx/write_rows.h"
#include "intaglio/nn/formats/onnx/write_windows.h"
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

bool IsQuantizedThroughout(LayerWriter& w) {
  if (!IsQuantized(w.input(0)) || !IsQuantized(w.output())) {
    w.Refuse("numbers without a quantization");
  }
  return w.status().ok();
}

// A node of the input and the parameters of input and output.
void SetByParameters(LayerWriter& w, const WriteRow& row, Order order, Attributes attributes) {
  std::vector<Value> inputs = {w.Numbers(0, order)};
  w.AppendParameters(w.input(0), inputs);
  w.AppendParameters(w.output(), inputs);
  w.SetNumbers(w.nodes().Node(row.name, inputs, attributes), order);
}

// The windows along one dimension that the format's rule of ceil_mode makes.
int64_t WindowsRoundedUp(int64_t image, int64_t filter, int64_t stride, int64_t before,
                         int64_t behind) {
  const int64_t room = image + before + behind - filter;
  const int64_t windows = (room + stride - 1) / stride + 1;
  return (windows - 1) * stride >= image + before ? windows - 1 : windows;
}

// Padding that does not count, behind some that does, is what ceil_mode adds.
void WriteAverage(LayerWriter& w, const WriteRow& row) {
  const auto& op = w.layer().op<QLinearAveragePool2D>();
  if (!IsQuantizedThroughout(w) || !HasWindows(w)) return;
  const Shape& image = w.input(0).shape;
  const Shape& out = w.output().shape;
  std::vector<int64_t> pads = PadsOf(image, op.filter, op.stride, {1, 1}, op.padding);
  const Padding& c = op.counted;
  const std::vector<int64_t> counted = {c.top, c.left, c.bottom, c.right};
  const bool counts = counted != std::vector<int64_t>(4, 0);
  const bool rounds = counts && counted != pads;
  if (rounds) {
    const bool by_rule =
        counted[0] == pads[0] && counted[1] == pads[1] &&
        WindowsRoundedUp(image[1], op.filter.height, op.stride.height, c.top, c.bottom) == out[1] &&
        WindowsRoundedUp(image[2], op.filter.width, op.stride.width, c.left, c.right) == out[2];
    if (!by_rule) return w.Refuse("padding of which a part counts");
    pads = counted;
  }
  SetByParameters(w, row, Order::kChannelsFirst,
                  {{"ceil_mode", int64_t{rounds}},
                   {"count_include_pad", int64_t{counts}},
                   {"kernel_shape", Sizes(op.filter)},
                   {"pads", pads},
                   {"strides", Sizes(op.stride)}});
}

// Whether the axes are those from `first` up to `last`.
bool AreAxes(const std::vector<int>& axes, int rank, int first, int last) {
  std::set<int> found;
  for (const int axis : axes) found.insert(axis < 0 ? axis + rank : axis);
  std::set<int> wanted;
  for (int axis = first; axis < last; ++axis) wanted.insert(axis);
  return found == wanted;
}

// The node takes the mean of all dimensions but that of images and that of channels.
void WriteMean(LayerWriter& w, const WriteRow& row) {
  const auto& op = w.layer().op<QLinearMean>();
  if (!IsQuantizedThroughout(w)) return;
  const auto rank = static_cast<int>(w.input(0).shape.size());
  const bool channels_last = AreAxes(op.axes, rank, 1, rank - 1);
  if (!op.keep_dims || rank < 3 || (!channels_last && !AreAxes(op.axes, rank, 2, rank))) {
    return w.Refuse("a mean of other dimensions than those of an image");
  }
  const bool brings_first = channels_last && rank == 4;
  SetByParameters(w, row, brings_first ? Order::kChannelsFirst : Order::kOurs,
                  {{"channels_last", int64_t{channels_last && !brings_first}}});
}

constexpr WriteRow kRows[] = {
    {&Dequantize::kRow, WriteBy<Dequantize, Write>},
    {&DynamicQuantize::kRow, WriteBy<DynamicQuantize, Write>},
    {&QLinearAdd::kRow, WritePair, "com.microsoft.QLinearAdd"},
    {&QLinearAveragePool2D::kRow, WriteAverage, "com.microsoft.QLinearAveragePool"},
    {&QLinearMean::kRow, WriteMean, "com.microsoft.QLinearGlobalAveragePool"},
    {&QLinearMul::kRow, WritePair, "com.microsoft.QLinearMul"},
    {&Quantize::kRow, WriteBy<Quantize, Write>},
};

}  // namespace

std::span<const WriteRow> QuantizedWriteRows() { return kRows; }

}  // namespace intaglio::nn::onnx
