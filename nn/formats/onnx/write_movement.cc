// Operators that move elements, or make them of shapes, in .onnx files. Quantized numbers are moved
// as they are.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "intaglio/nn/formats/onnx/layer_maker.h"
#include "intaglio/nn/formats/onnx/write_rows.h"
#include "intaglio/nn/ops/operators.h"

namespace intaglio::nn::onnx {
namespace {

const Permutation kToOurs = {0, 2, 3, 1};
const Permutation kToChannelsFirst = {0, 3, 1, 2};

using Paddings = std::vector<std::pair<int, int>>;

// All elements before, then all behind, in the file's order.
Value PadsOf(LayerWriter& w, const Paddings& paddings) {
  std::vector<int> before;
  std::vector<int> behind;
  for (const auto& [first, second] : paddings) {
    before.push_back(first);
    behind.push_back(second);
  }
  std::vector<int> pads = InOrder(w.order(), before);
  const std::vector<int> last = InOrder(w.order(), behind);
  pads.insert(pads.end(), last.begin(), last.end());
  return w.nodes().Ints(pads);
}

double ZeroPointOf(const Tensor& tensor) {
  return IsQuantized(tensor) ? tensor.quantization.zero_points[0] : 0;
}

Value PadValue(const Pad& op, LayerWriter& w) {
  const Type type = w.input(0).type;
  if (!op.has_value) return w.nodes().Number(type, ZeroPointOf(w.output()));
  const auto* const integer = std::get_if<int64_t>(&op.value);
  if (integer != nullptr && type == Type::kInt64) return w.nodes().Scalar(*integer);
  const double value =
      std::visit([](auto number) { return static_cast<double>(number); }, op.value);
  return w.nodes().Number(type, value);
}

// onnxruntime does not pad int16. Zero points are zeros of the real numbers.
bool PadsReal(const Pad& op, const LayerWriter& w) {
  return w.input(0).type == Type::kInt16 && IsQuantized(w.input(0)) && !op.has_value &&
         SameQuantization(w.input(0), w.output());
}

void Write(const Pad& op, LayerWriter& w) {
  if (PadsReal(op, w)) return w.SetReal(w.nodes().Node("Pad", {w.Real(0), PadsOf(w, op.paddings)}));
  w.SetNumbers(w.nodes().Node("Pad", {w.Numbers(0), PadsOf(w, op.paddings), PadValue(op, w)}));
}

// Along one axis, by the places of the elements: the format has no such mode.
Value Mirrored(LayerWriter& w, Value x, int axis, int extent, std::pair<int, int> padding) {
  std::vector<int> places;
  for (int i = padding.first; i-- > 0;) places.push_back(i);
  for (int i = 0; i < extent; ++i) places.push_back(i);
  for (int i = 0; i < padding.second; ++i) places.push_back(extent - 1 - i);
  return w.nodes().Node("Gather", {x, w.nodes().Ints(places)}, {{"axis", axis}});
}

void Write(const MirrorPad& op, LayerWriter& w) {
  if (!op.symmetric) {
    return w.SetNumbers(
        w.nodes().Node("Pad", {w.Numbers(0), PadsOf(w, op.paddings)}, {{"mode", "reflect"}}));
  }
  constexpr int kMost = 1 << 24;
  Value x = w.Numbers(0);
  for (size_t i = 0; i < op.paddings.size(); ++i) {
    if (w.output().shape[i] > kMost) return w.Refuse("more than 2^24 places of a dimension");
    if (op.paddings[i] == std::pair(0, 0)) continue;
    x = Mirrored(w, x, w.AxisIn(static_cast<int>(i)), w.input(0).shape[i], op.paddings[i]);
  }
  w.SetNumbers(x);
}

// Reshape, Squeeze, ExpandDims. The output may have another quantization for the same numbers.
void WriteReshape(LayerWriter& w, const WriteRow&) {
  const Shape& from = w.input(0).shape;
  const Shape& to = w.output().shape;
  if (from == to) return w.SetNumbers(w.Numbers(0));
  w.SetNumbers(w.nodes().Reshaped(w.Numbers(0, Order::kOurs), from, to), Order::kOurs);
}

// One order of images becomes the other without a node.
void Write(const Transpose& op, LayerWriter& w) {
  Permutation p;
  for (const int axis : op.permutation) {
    p.push_back(onnx::AxisIn(Order::kOurs, axis, op.permutation.size()));
  }
  if (p == kToOurs) return w.SetNumbers(w.Numbers(0, Order::kOurs), Order::kChannelsFirst);
  if (p == kToChannelsFirst) {
    return w.SetNumbers(w.Numbers(0, Order::kChannelsFirst), Order::kOurs);
  }
  w.SetNumbers(w.nodes().Transposed(w.Numbers(0, Order::kOurs), p), Order::kOurs);
}

// Parts with other quantizations than the whole are brought to it.
void Write(const Concatenation& op, LayerWriter& w) {
  bool same = op.activation == Activation::kNone;
  for (size_t i = 0; i < w.input_count(); ++i) {
    same = same && (!IsQuantized(w.output()) || SameQuantization(w.input(i), w.output()));
  }
  const Attributes axis = {{"axis", w.AxisIn(op.axis)}};
  if (same) return w.SetNumbers(w.nodes().Node("Concat", w.AllNumbers(), axis));
  w.SetReal(w.nodes().Node("Concat", w.AllReal(), axis), op.activation);
}

std::vector<Value> Parts(LayerWriter& w, int axis, Order order) {
  const size_t count = w.layer().layer().outputs.size();
  const auto place = static_cast<size_t>(onnx::AxisIn(Order::kOurs, axis, w.input(0).shape.size()));
  std::vector<int> sizes;
  for (size_t i = 0; i < count; ++i) {
    const bool stays = w.output(i).shape.size() == w.input(0).shape.size();
    sizes.push_back(stays ? w.output(i).shape[place] : 1);
  }
  const int in_file = onnx::AxisIn(order, axis, w.input(0).shape.size());
  return w.nodes().Nodes("Split", {w.Numbers(0, order), w.nodes().Ints(sizes)}, count,
                         {{"axis", in_file}});
}

template <class Op>
void WriteSplit(const Op& op, LayerWriter& w) {
  const std::vector<Value> parts = Parts(w, op.axis, w.order());
  for (size_t i = 0; i < parts.size(); ++i) w.SetNumbers(parts[i], i);
}

void Write(const Unpack& op, LayerWriter& w) {
  const std::vector<Value> parts = Parts(w, op.axis, Order::kOurs);
  const auto axis = static_cast<size_t>(w.AxisIn(op.axis));
  Shape part = w.input(0).shape;
  part[axis] = 1;
  for (size_t i = 0; i < parts.size(); ++i) {
    w.SetNumbers(w.nodes().Reshaped(parts[i], part, w.output(i).shape), Order::kOurs, i);
  }
}

void Write(const Pack& op, LayerWriter& w) {
  const Shape& whole = w.output().shape;
  const int axis = op.axis < 0 ? op.axis + static_cast<int>(whole.size()) : op.axis;
  Shape part = whole;
  part[static_cast<size_t>(axis)] = 1;
  std::vector<Value> parts;
  for (size_t i = 0; i < w.input_count(); ++i) {
    parts.push_back(w.nodes().Reshaped(w.Numbers(i, Order::kOurs), w.input(i).shape, part));
  }
  w.SetNumbers(w.nodes().Node("Concat", parts, {{"axis", axis}}), Order::kOurs);
}

void Write(const Tile& op, LayerWriter& w) {
  const Value multiples = w.nodes().Ints(InOrder(w.order(), op.multiples));
  w.SetNumbers(w.nodes().Node("Tile", {w.Numbers(0), multiples}));
}

void Write(const BroadcastTo&, LayerWriter& w) {
  const Value shape = w.nodes().Ints(InOrder(w.order(), w.output().shape));
  w.SetNumbers(w.nodes().Node("Expand", {w.Numbers(0), shape}));
}

void Write(const Fill&, LayerWriter& w) {
  const Value value = w.nodes().Reshaped(w.Numbers(0, Order::kOurs), w.input(0).shape, {});
  const Value shape = w.nodes().Ints(w.output().shape);
  w.SetNumbers(w.nodes().Node("Expand", {value, shape}), Order::kOurs);
}

// All shapes are known.
void Write(const ShapeOf&, LayerWriter& w) {
  const Shape& shape = w.input(0).shape;
  const Value value = w.output().type == Type::kInt64
                          ? w.nodes().Ints(shape)
                          : w.nodes().Vector(std::vector<int32_t>(shape.begin(), shape.end()));
  w.SetNumbers(value, Order::kOurs);
}

void Write(const Sequence&, LayerWriter& w) {
  std::vector<Value> numbers;
  for (size_t i = 0; i < 3; ++i) {
    numbers.push_back(w.nodes().Reshaped(w.Numbers(i, Order::kOurs), w.input(i).shape, {}));
  }
  w.SetNumbers(w.nodes().Node("Range", numbers), Order::kOurs);
}

// Quantized numbers are real ones in between: other runtimes move only those.
void WriteBlocks(LayerWriter& w, const char* name, int block, const Attributes& more) {
  Attributes attributes = more;
  attributes.push_back({"blocksize", block});
  const Order order = Order::kChannelsFirst;
  w.SetReal(w.nodes().Node(name, {w.Real(0, order)}, attributes), order);
}

void Write(const SpaceToDepth& op, LayerWriter& w) { WriteBlocks(w, "SpaceToDepth", op.block, {}); }
void Write(const DepthToSpace& op, LayerWriter& w) {
  WriteBlocks(w, "DepthToSpace", op.block, {{"mode", "DCR"}});
}

// The dimensions behind the batch, each as blocks and places in them.
struct Blocks {
  Shape apart;          // [N, s1, b1, s2, b2, ..., rest]
  Shape gathered;       // [b1, b2, ..., N, s1, s2, ..., rest]
  Permutation gathers;  // from the first to the second
};

Blocks BlocksOf(const Shape& image, const std::vector<int>& block) {
  const auto count = static_cast<int>(block.size());
  Blocks blocks;
  blocks.apart = {image[0]};
  for (int i = 0; i < count; ++i) blocks.gathers.push_back(2 + 2 * i);
  blocks.gathers.push_back(0);
  for (int i = 0; i < count; ++i) {
    const auto place = static_cast<size_t>(i);
    blocks.apart.push_back(image[place + 1] / block[place]);
    blocks.apart.push_back(block[place]);
    blocks.gathers.push_back(1 + 2 * i);
  }
  for (size_t i = block.size() + 1; i < image.size(); ++i) {
    blocks.gathers.push_back(static_cast<int>(blocks.apart.size()));
    blocks.apart.push_back(image[i]);
  }
  for (const int dimension : blocks.gathers) {
    blocks.gathered.push_back(blocks.apart[static_cast<size_t>(dimension)]);
  }
  return blocks;
}

void Write(const SpaceToBatch& op, LayerWriter& w) {
  NodeWriter& nodes = w.nodes();
  Shape image = w.input(0).shape;
  std::vector<int> pads(2 * image.size(), 0);
  for (size_t i = 0; i < op.paddings.size(); ++i) {
    pads[i + 1] = op.paddings[i].first;
    pads[image.size() + i + 1] = op.paddings[i].second;
  }
  for (size_t i = 0; i < image.size(); ++i) image[i] += pads[i] + pads[i + image.size()];
  const Value zero = nodes.Number(w.input(0).type, ZeroPointOf(w.input(0)));
  const Value padded = nodes.Node("Pad", {w.Numbers(0, Order::kOurs), nodes.Ints(pads), zero});
  const Blocks blocks = BlocksOf(image, op.block);
  const Value apart = nodes.Reshaped(padded, image, blocks.apart);
  const Value gathered = nodes.Transposed(apart, blocks.gathers);
  w.SetNumbers(nodes.Reshaped(gathered, blocks.gathered, w.output().shape), Order::kOurs);
}

void Write(const BatchToSpace& op, LayerWriter& w) {
  NodeWriter& nodes = w.nodes();
  const Shape& from = w.input(0).shape;
  Shape image = from;
  std::vector<int> starts;
  std::vector<int> ends;
  for (size_t i = 0; i < op.block.size(); ++i) {
    image[0] /= op.block[i];
    image[i + 1] *= op.block[i];
    starts.push_back(op.crops[i].first);
    ends.push_back(image[i + 1] - op.crops[i].second);
  }
  const Blocks blocks = BlocksOf(image, op.block);
  const Value gathered = nodes.Reshaped(w.Numbers(0, Order::kOurs), from, blocks.gathered);
  const Value apart = nodes.Transposed(gathered, InverseOf(blocks.gathers));
  const Value whole = nodes.Reshaped(apart, blocks.apart, image);
  std::vector<int> axes(op.block.size());
  std::iota(axes.begin(), axes.end(), 1);
  w.SetNumbers(nodes.Node("Slice", {whole, nodes.Ints(starts), nodes.Ints(ends), nodes.Ints(axes)}),
               Order::kOurs);
}

constexpr WriteRow kRows[] = {
    {&BatchToSpace::kRow, WriteBy<BatchToSpace, Write>},
    {&BroadcastTo::kRow, WriteBy<BroadcastTo, Write>},
    {&Concatenation::kRow, WriteBy<Concatenation, Write>},
    {&DepthToSpace::kRow, WriteBy<DepthToSpace, Write>},
    {&ExpandDims::kRow, WriteReshape},
    {&Fill::kRow, WriteBy<Fill, Write>},
    {&MirrorPad::kRow, WriteBy<MirrorPad, Write>},
    {&Pack::kRow, WriteBy<Pack, Write>},
    {&Pad::kRow, WriteBy<Pad, Write>},
    {&Reshape::kRow, WriteReshape},
    {&Sequence::kRow, WriteBy<Sequence, Write>},
    {&ShapeOf::kRow, WriteBy<ShapeOf, Write>},
    {&SpaceToBatch::kRow, WriteBy<SpaceToBatch, Write>},
    {&SpaceToDepth::kRow, WriteBy<SpaceToDepth, Write>},
    {&Split::kRow, WriteBy<Split, WriteSplit<Split>>},
    {&SplitV::kRow, WriteBy<SplitV, WriteSplit<SplitV>>},
    {&Squeeze::kRow, WriteReshape},
    {&Tile::kRow, WriteBy<Tile, Write>},
    {&Transpose::kRow, WriteBy<Transpose, Write>},
    {&Unpack::kRow, WriteBy<Unpack, Write>},
};

}  // namespace

std::span<const WriteRow> MovementWriteRows() { return kRows; }

}  // namespace intaglio::nn::onnx
