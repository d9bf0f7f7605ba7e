// Parts of tensors, and elements at places that tensors name, in .onnx files.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "intaglio/nn/formats/onnx/layer_maker.h"
#include "intaglio/nn/formats/onnx/write_rows.h"
#include "intaglio/nn/ops/movement/parts.h"
#include "intaglio/nn/ops/operators.h"

namespace intaglio::nn::onnx {
namespace {

// Slice, StridedSlice, Reverse.
void WritePart(LayerWriter& w, const WriteRow&) {
  const Result<Part> found = PartOf(w.layer());
  if (!found.ok()) return w.Fail(found.status());
  const Part& part = *found;
  std::vector<int64_t> starts;
  std::vector<int64_t> ends;
  for (size_t i = 0; i < part.begin.size(); ++i) {
    const int64_t end = part.begin[i] + int64_t{part.shape[i]} * part.step[i];
    starts.push_back(part.begin[i]);
    // Before the first element; -1 would be the last one.
    ends.push_back(end < 0 ? -int64_t{w.input(0).shape[i]} - 1 : end);
  }
  NodeWriter& nodes = w.nodes();
  const bool stays = part.shape == w.output().shape;
  const Order order = stays ? w.order() : Order::kOurs;
  std::vector<int> axes;
  for (size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<int>(i));
  const Value slice =
      nodes.Node("Slice", {w.Numbers(0, order), nodes.Vector(InOrder(order, starts)),
                           nodes.Vector(InOrder(order, ends)), nodes.Ints(axes),
                           nodes.Ints(InOrder(order, part.step))});
  w.SetNumbers(stays ? slice : nodes.Reshaped(slice, part.shape, w.output().shape), order);
}

// Indices as the format takes them.
Value Indices(LayerWriter& w, size_t i, bool wide) {
  const Value indices = w.Numbers(i, Order::kOurs);
  const Type type = w.input(i).type;
  if (wide) return w.nodes().CastTo(indices, type, Type::kInt64);
  return type == Type::kInt64 ? indices : w.nodes().CastTo(indices, type, Type::kInt32);
}

void Write(const Gather& op, LayerWriter& w) {
  NodeWriter& nodes = w.nodes();
  const int axis = onnx::AxisIn(Order::kOurs, op.axis, w.input(0).shape.size());
  const Value x = w.Numbers(0, Order::kOurs);
  if (op.batch_dims == 0) {
    return w.SetNumbers(nodes.Node("Gather", {x, Indices(w, 1, false)}, {{"axis", axis}}),
                        Order::kOurs);
  }
  const Shape& shape = w.input(1).shape;
  const int common =
      op.batch_dims < 0 ? op.batch_dims + static_cast<int>(shape.size()) : op.batch_dims;
  if (axis != common) return w.Refuse("an axis behind the first one that is not common");
  Shape places = shape;
  places.push_back(1);
  const Value indices = nodes.Reshaped(Indices(w, 1, true), shape, places);
  w.SetNumbers(nodes.Node("GatherND", {x, indices}, {{"batch_dims", common}}), Order::kOurs);
}

void Write(const GatherNd& op, LayerWriter& w) {
  w.SetNumbers(w.nodes().Node("GatherND", {w.Numbers(0, Order::kOurs), Indices(w, 1, true)},
                              {{"batch_dims", op.batch_dims}}),
               Order::kOurs);
}

void Write(const GatherElements& op, LayerWriter& w) {
  const int axis = onnx::AxisIn(Order::kOurs, op.axis, w.input(0).shape.size());
  w.SetNumbers(w.nodes().Node("GatherElements", {w.Numbers(0, Order::kOurs), Indices(w, 1, false)},
                              {{"axis", axis}}),
               Order::kOurs);
}

Attribute ReductionOf(Scattering scattering) {
  switch (scattering) {
    case Scattering::kAdd:
      return {"reduction", "add"};
    case Scattering::kMultiply:
      return {"reduction", "mul"};
    case Scattering::kLeast:
      return {"reduction", "min"};
    case Scattering::kGreatest:
      return {"reduction", "max"};
    case Scattering::kReplace:
      break;
  }
  return {"reduction", "none"};
}

void Write(const ScatterElements& op, LayerWriter& w) {
  const int axis = onnx::AxisIn(Order::kOurs, op.axis, w.input(0).shape.size());
  const std::vector<Value> inputs = {w.Numbers(0, Order::kOurs), Indices(w, 1, false),
                                     w.Numbers(2, Order::kOurs)};
  w.SetNumbers(
      w.nodes().Node("ScatterElements", inputs, {{"axis", axis}, ReductionOf(op.scattering)}),
      Order::kOurs);
}

void Write(const ScatterNdUpdate& op, LayerWriter& w) {
  const std::vector<Value> inputs = {w.Numbers(0, Order::kOurs), Indices(w, 1, true),
                                     w.Numbers(2, Order::kOurs)};
  w.SetNumbers(w.nodes().Node("ScatterND", inputs, {ReductionOf(op.scattering)}), Order::kOurs);
}

// Into zeros.
void Write(const ScatterNd&, LayerWriter& w) {
  NodeWriter& nodes = w.nodes();
  const Value zeros =
      nodes.Node("Expand", {nodes.Number(w.output().type, 0), nodes.Ints(w.output().shape)});
  const std::vector<Value> inputs = {zeros, Indices(w, 0, true), w.Numbers(1, Order::kOurs)};
  w.SetNumbers(nodes.Node("ScatterND", inputs, {ReductionOf(Scattering::kAdd)}), Order::kOurs);
}

void Write(const Trilu& op, LayerWriter& w) {
  w.SetNumbers(w.nodes().Node("Trilu", {w.Numbers(0, Order::kOurs), w.nodes().Scalar(op.k)},
                              {{"upper", int64_t{op.upper}}}),
               Order::kOurs);
}

// Rows may be dequantized on the way.
void Write(const EmbeddingLookup&, LayerWriter& w) {
  const bool real = w.output().type == Type::kFloat32;
  const Value rows = real ? w.Real(1, Order::kOurs) : w.Numbers(1, Order::kOurs);
  w.SetNumbers(w.nodes().Node("Gather", {rows, Indices(w, 0, false)}, {{"axis", 0}}), Order::kOurs);
}

// The format counts negative indices from the end. Where the operator does not, they become one
// that does not exist.
Value HotIndices(const OneHot& op, LayerWriter& w) {
  NodeWriter& nodes = w.nodes();
  const Type type = w.input(0).type;
  const Value indices = w.Numbers(0, Order::kOurs);
  if (op.from_end) return indices;
  const Value is_negative = nodes.Node("Less", {indices, nodes.Number(type, 0)});
  return nodes.Node("Where", {is_negative, nodes.Number(type, op.depth), indices});
}

void Write(const OneHot& op, LayerWriter& w) {
  if (op.depth < 1) return w.Refuse("a depth of " + std::to_string(op.depth));
  NodeWriter& nodes = w.nodes();
  const auto one = [&](size_t i) {
    return nodes.Reshaped(w.Numbers(i, Order::kOurs), w.input(i).shape, {1});
  };
  const Value values = nodes.Node("Concat", {one(2), one(1)}, {{"axis", 0}});
  const std::vector<Value> inputs = {HotIndices(op, w), nodes.Scalar(int64_t{op.depth}), values};
  w.SetNumbers(nodes.Node("OneHot", inputs, {{"axis", op.axis}}), Order::kOurs);
}

constexpr WriteRow kRows[] = {
    {&EmbeddingLookup::kRow, WriteBy<EmbeddingLookup, Write>},
    {&Gather::kRow, WriteBy<Gather, Write>},
    {&GatherElements::kRow, WriteBy<GatherElements, Write>},
    {&GatherNd::kRow, WriteBy<GatherNd, Write>},
    {&OneHot::kRow, WriteBy<OneHot, Write>},
    {&Reverse::kRow, WritePart},
    {&ScatterElements::kRow, WriteBy<ScatterElements, Write>},
    {&ScatterNd::kRow, WriteBy<ScatterNd, Write>},
    {&ScatterNdUpdate::kRow, WriteBy<ScatterNdUpdate, Write>},
    {&Slice::kRow, WritePart},
    {&StridedSlice::kRow, WritePart},
    {&Trilu::kRow, WriteBy<Trilu, Write>},
};

}  // namespace

std::span<const WriteRow> PartsWriteRows() { return kRows; }

}  // namespace intaglio::nn::onnx
