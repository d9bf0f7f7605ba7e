#include "intaglio/tools/input_ranges.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "intaglio/nn/graph/nested_graphs.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/routine/routine.h"
#include "intaglio/tools/model_io.h"

namespace intaglio::tools {
namespace {

using nn::LayerView;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLeastPositive = 1.0 / 64;  // for numbers that must not be 0
constexpr Interval kPositive = {kLeastPositive, kInfinity};
constexpr Interval kCounter = {0, 9};  // for a loop's counter, so that it runs few rounds

// An input of an operator that is not defined for all values.
struct Domain {
  std::string_view name;
  size_t input;
  Interval interval;
};
constexpr Domain kDomains[] = {
    {"SQRT", 0, {0, kInfinity}}, {"LOG", 0, kPositive},       {"RSQRT", 0, kPositive},
    {"DIV", 1, kPositive},       {"FLOOR_DIV", 1, kPositive}, {"FLOOR_MOD", 1, kPositive},
    {"POW", 0, {0, kInfinity}},  {"POW", 1, {0, 15}},
};

// Operators whose outputs have values of some inputs, or values between them.
struct Passing {
  std::string_view name;
  uint32_t inputs;  // bit i is input i
};
constexpr uint32_t kAll = ~0u;
constexpr Passing kPassing[] = {
    {"AVERAGE_POOL_2D", 1},
    {"BATCH_TO_SPACE_ND", 1},
    {"BROADCAST_TO", 1},
    {"CONCATENATION", kAll},
    {"DEPTH_TO_SPACE", 1},
    {"DYNAMIC_SLICE", 1},
    {"EMBEDDING_LOOKUP", 2},
    {"DYNAMIC_UPDATE_SLICE", 3},
    {"FILL", 1},
    {"GATHER", 1},
    {"GATHER_ND", 1},
    {"MAXIMUM", kAll},
    {"MAX_POOL_2D", 1},
    {"MEAN", 1},
    {"MINIMUM", kAll},
    {"MIRROR_PAD", 1},
    {"PACK", kAll},
    {"PAD", 1},
    {"REDUCE_MAX", 1},
    {"REDUCE_MIN", 1},
    {"RELU", 1},
    {"RELU6", 1},
    {"RESIZE_BILINEAR", 1},
    {"REVERSE_V2", 1},
    {"RESIZE_NEAREST_NEIGHBOR", 1},
    {"SELECT", 6},
    {"SELECT_V2", 6},
    {"SLICE", 1},
    {"SPACE_TO_BATCH_ND", 1},
    {"SPACE_TO_DEPTH", 1},
    {"SPLIT", 1},
    {"SPLIT_V", 1},
    {"STRIDED_SLICE", 1},
    {"TILE", 1},
    {"TOPK_V2", 1},
    {"TRANSPOSE", 1},
    {"UNPACK", 1},
};

// Operators whose output has the elements of input 0 in the same order.
constexpr std::string_view kInOrder[] = {"CAST",     "DEQUANTIZE", "EXPAND_DIMS",
                                         "QUANTIZE", "RESHAPE",    "SQUEEZE"};

// The valid indices of `count` places.
Interval IndexOf(int64_t count) {
  return {0, static_cast<double>(std::max<int64_t>(count, 1) - 1)};
}

// The valid indices into the first dimensions of a shape, one after the other.
Range IndicesOf(const nn::Shape& shape, size_t dimensions) {
  Range range;
  if (dimensions > 0) range.parts.clear();
  for (size_t i = 0; i < dimensions; ++i) range.parts.push_back(IndexOf(shape[i]));
  return range;
}

size_t ElementsOf(const nn::Tensor& tensor) {
  return static_cast<size_t>(*nn::CountElements(tensor.shape));
}

Range PlacesToUpdate(const LayerView& layer) {
  nn::Shape places = layer.input(0).shape;
  for (size_t i = 0; i < places.size(); ++i) places[i] -= layer.input(1).shape[i] - 1;
  return IndicesOf(places, ElementsOf(layer.input(2)));
}

Range PlacesToSlice(const LayerView& layer) {
  const auto& dimensions = layer.op<nn::DynamicSlice>().dimensions;
  nn::Shape places;
  for (size_t i = 0; i < dimensions.size(); ++i) {
    const int size = dimensions[i].size;
    places.push_back(size < 0 ? 1 : layer.input(0).shape[i] - size + 1);
  }
  return IndicesOf(places, places.size());
}

Range Exactly(const nn::Shape& shape) {
  Range range;
  range.parts.clear();
  for (const int extent : shape) range.parts.push_back({1.0 * extent, 1.0 * extent});
  return range;
}

// An input that holds indices or a shape, and the values that it may have.
struct Indices {
  size_t input = 0;
  Range range = {};
};

std::optional<Indices> IndicesOf(const LayerView& layer) {
  const nn::Operator& op = layer.layer().op;
  if (const auto* const gather = op.As<nn::Gather>()) {
    const nn::Shape& shape = layer.input(0).shape;
    const int axis = gather->axis + (gather->axis < 0 ? static_cast<int>(shape.size()) : 0);
    return Indices{1, {{IndexOf(shape[static_cast<size_t>(axis)])}}};
  }
  if (op.Is<nn::GatherNd>()) {
    const auto depth = static_cast<size_t>(layer.input(1).shape.back());
    return Indices{1, IndicesOf(layer.input(0).shape, depth)};
  }
  if (op.Is<nn::EmbeddingLookup>()) {
    return Indices{0, {{IndexOf(layer.input(1).shape[0])}}};
  }
  if (const auto* const one_hot = op.As<nn::OneHot>()) {
    return Indices{0, {{IndexOf(one_hot->depth)}}};
  }
  if (const auto* const scatter = op.As<nn::ScatterNd>()) {
    const auto depth = static_cast<size_t>(layer.input(0).shape.back());
    return Indices{0, IndicesOf(scatter->shape, depth)};
  }
  if (const auto* const conv = op.As<nn::TransposeConv>()) {
    return Indices{3, Exactly(conv->shape)};
  }
  if (op.Is<nn::DynamicUpdateSlice>()) return Indices{2, PlacesToUpdate(layer)};
  if (op.Is<nn::DynamicSlice>()) return Indices{1, PlacesToSlice(layer)};
  return std::nullopt;
}

// The values of a constant that is not too large to look at; nothing if they are not numbers.
std::optional<Interval> ValuesOf(const nn::Tensor& tensor) {
  constexpr size_t kMaxBytes = size_t{1} << 22;
  if (!tensor.constant || tensor.data_bytes == 0 || tensor.data_bytes > kMaxBytes) {
    return std::nullopt;
  }
  const auto* const data = static_cast<const uint8_t*>(tensor.data);
  const std::vector<uint8_t> bytes(data, data + tensor.data_bytes);
  Interval values = {kInfinity, -kInfinity};
  for (size_t i = 0; i < bytes.size() / SizeOf(tensor.type); ++i) {
    const double value = RealValue(tensor, bytes, i);
    if (!std::isfinite(value)) return std::nullopt;
    values = {std::min(values.low, value), std::max(values.high, value)};
  }
  return values;
}

// Intervals of x such that x + c, x - c, c - x and x c lie in `out` for each value c. If no x suits
// all values, the ends are in the wrong order, and for each value there is an x between them.
Interval BeforeAdd(const Interval& out, const Interval& c) {
  return {out.low - c.low, out.high - c.high};
}
Interval BeforeSub(const Interval& out, const Interval& c) {
  return {out.low + c.high, out.high + c.low};
}
Interval BeforeSubFrom(const Interval& out, const Interval& c) {
  return {c.high - out.high, c.low - out.low};
}
std::optional<Interval> BeforeMul(const Interval& out, const Interval& c) {
  if (c.low <= 0) return std::nullopt;
  return Interval{out.low / (out.low >= 0 ? c.low : c.high),
                  out.high / (out.high >= 0 ? c.high : c.low)};
}

// Walks from the last layer to the first. A requirement on a layer's output becomes a requirement
// on its inputs.
class Walk {
 public:
  explicit Walk(const nn::Graph& graph) : ranges_(graph.tensors.size()) {
    for (size_t i = graph.layers.size(); i-- > 0;) Visit(LayerView(graph, i));
  }

  const Range& At(nn::TensorId id) const { return ranges_[static_cast<size_t>(id)]; }

 private:
  void Meet(const LayerView& layer, size_t input, const Range& range) {
    if (!layer.has_input(input)) return;
    ranges_[static_cast<size_t>(layer.layer().inputs[input])].Meet(range);
  }
  void Meet(const LayerView& layer, size_t input, const Interval& interval) {
    Meet(layer, input, Range{{interval}});
  }

  void Visit(const LayerView& layer) {
    const std::string_view name = nn::NameOf(layer.layer().op);
    VisitNested(layer, name);
    if (const std::optional<Indices> indices = IndicesOf(layer)) {
      Meet(layer, indices->input, indices->range);
    }
    for (const Domain& domain : kDomains) {
      if (domain.name == name) Meet(layer, domain.input, domain.interval);
    }
    for (const nn::TensorId id : layer.layer().outputs) PassBack(layer, name, At(id));
  }

  void PassBack(const LayerView& layer, std::string_view name, const Range out) {
    if (!out.bounded()) return;
    if (std::find(std::begin(kInOrder), std::end(kInOrder), name) != std::end(kInOrder)) {
      return Meet(layer, 0, out);
    }
    const Interval common = out.Common();
    for (const Passing& passing : kPassing) {
      if (passing.name != name) continue;
      for (size_t i = 0; i < layer.input_count(); ++i) {
        if (passing.inputs >> std::min<size_t>(i, 31) & 1) Meet(layer, i, common);
      }
    }
    if (name == "ADD" || name == "SUB" || name == "MUL") PassBackArithmetic(layer, name, common);
  }

  void PassBackArithmetic(const LayerView& layer, std::string_view name, const Interval& out) {
    const std::optional<Interval> a = ValuesOf(layer.input(0));
    const std::optional<Interval> b = ValuesOf(layer.input(1));
    if (!a && !b) {
      if (name == "ADD") MeetBoth(layer, {out.low / 2, out.high / 2});
      if (name == "MUL" && out.low >= 0) MeetBoth(layer, {std::sqrt(out.low), std::sqrt(out.high)});
      return;
    }
    if (a && b) return;
    const size_t input = a ? 1 : 0;
    const Interval c = a ? *a : *b;
    if (name == "ADD") Meet(layer, input, BeforeAdd(out, c));
    if (name == "SUB") Meet(layer, input, a ? BeforeSubFrom(out, c) : BeforeSub(out, c));
    if (name == "MUL") Meet(layer, input, BeforeMul(out, c).value_or(Interval()));
  }

  void MeetBoth(const LayerView& layer, const Interval& interval) {
    Meet(layer, 0, interval);
    Meet(layer, 1, interval);
  }

  // Input 0 of IF chooses the branch. The branch has the other inputs.
  void VisitNested(const LayerView& layer, std::string_view name) {
    const size_t first = name == "IF" ? 1 : 0;
    for (const nn::NestedGraph& nested : nn::NestedGraphsOf(layer.layer().op)) {
      const std::vector<Range> ranges = RangesOfInputs(*nested.graph);
      for (size_t i = 0; i < ranges.size(); ++i) Meet(layer, first + i, ranges[i]);
    }
    if (name != "WHILE") return;
    for (size_t i = 0; i < layer.input_count(); ++i) {
      const nn::Tensor& tensor = layer.input(i);
      const bool whole = tensor.type == Type::kInt32 || tensor.type == Type::kInt64;
      if (whole && *nn::CountElements(tensor.shape) == 1) Meet(layer, i, kCounter);
    }
  }

  std::vector<Range> ranges_;  // per tensor
};

}  // namespace

void Interval::Meet(const Interval& other) {
  const auto [least, most] = std::minmax(other.low, other.high);
  low = std::max(low, least);
  high = std::min(high, most);
  if (low > high) low = high = std::clamp(low, least, most);
}

bool Range::bounded() const {
  return std::any_of(parts.begin(), parts.end(), [](const Interval& i) { return i.bounded(); });
}

Interval Range::Common() const {
  Interval common;
  for (const Interval& part : parts) common.Meet(part);
  return common;
}

void Range::Meet(const Range& other) {
  if (parts.size() != other.parts.size() && parts.size() != 1 && other.parts.size() != 1) {
    *this = Range{{Common()}};
    return Meet(Range{{other.Common()}});
  }
  if (parts.size() < other.parts.size()) parts.resize(other.parts.size(), parts[0]);
  for (size_t i = 0; i < parts.size(); ++i) parts[i].Meet(other.parts[i % other.parts.size()]);
}

std::vector<Range> RangesOfInputs(const nn::Graph& graph) {
  const Walk walk(graph);
  std::vector<Range> ranges;
  for (const nn::TensorId id : graph.inputs) ranges.push_back(walk.At(id));
  return ranges;
}

}  // namespace intaglio::tools
