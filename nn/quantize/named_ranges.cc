#include "intaglio/nn/quantize/named_ranges.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "intaglio/nn/graph/printable.h"

namespace intaglio::nn::quantize {
namespace {

// Its objects are maps: those that keep the order of members find one in linear time.
using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

constexpr const char* kFormat = "intaglio-ranges-1";

bool HasRange(const Tensor& tensor) {
  return tensor.type == Type::kFloat32 && !tensor.constant && !tensor.variable;
}

bool IsPlain(const std::string& name) {
  return !name.empty() && name[0] != '#' &&
         std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c < 0x7f; });
}

// What files call the tensors that have ranges; empty for the others.
std::vector<std::string> NamesIn(const Graph& graph) {
  std::map<std::string, int> count;
  for (const Tensor& tensor : graph.tensors) count[tensor.name] += HasRange(tensor) ? 1 : 0;
  std::vector<std::string> names;
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    const Tensor& tensor = graph.tensors[i];
    std::string& name = names.emplace_back();
    if (!HasRange(tensor)) continue;
    const bool sure = IsPlain(tensor.name) && count[tensor.name] == 1;
    name = sure ? tensor.name : std::string("#").append(std::to_string(i));
  }
  return names;
}

Status Wrong(const std::string& tensor, const std::string& what) {
  return InvalidArgument("the range of tensor '" + ShortName(tensor) + "' " + what);
}

std::optional<float> AsFloat(const Json& value) {
  if (!value.is_number()) return {};
  const double number = value.get<double>();
  if (!(std::abs(number) <= double{std::numeric_limits<float>::max()})) return {};
  return static_cast<float>(number);
}

}  // namespace

std::vector<NamedRange> NameRanges(const Graph& graph, const Ranges& ranges) {
  const std::vector<std::string> names = NamesIn(graph);
  std::vector<NamedRange> named;
  for (size_t i = 0; i < std::min(names.size(), ranges.size()); ++i) {
    const std::optional<RealRange>& range = ranges[i].range;
    if (!names[i].empty() && range.has_value()) named.push_back({names[i], range->min, range->max});
  }
  return named;
}

Result<Ranges> RangesOf(const Graph& graph, std::span<const NamedRange> named) {
  const std::vector<std::string> names = NamesIn(graph);
  std::map<std::string, size_t> numbers;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!names[i].empty()) numbers[names[i]] = i;
  }
  Ranges ranges(graph.tensors.size());
  for (const NamedRange& range : named) {
    const auto found = numbers.find(range.tensor);
    if (found == numbers.end()) {
      return Wrong(range.tensor, "fits no activation of float32 in the network");
    }
    if (!std::isfinite(range.min) || !std::isfinite(range.max) || range.min > range.max) {
      return Wrong(range.tensor, "is no interval of finite numbers");
    }
    if (ranges[found->second].range.has_value()) return Wrong(range.tensor, "is there twice");
    ranges[found->second].range = RealRange{range.min, range.max};
  }
  return ranges;
}

std::string RangesToJson(std::span<const NamedRange> ranges) {
  OrderedJson json = {{"format", kFormat}, {"ranges", OrderedJson::object()}};
  for (const NamedRange& range : ranges) {
    json["ranges"][range.tensor] = {double{range.min}, double{range.max}};
  }
  return json.dump(1, ' ', true, OrderedJson::error_handler_t::replace) + "\n";
}

Result<std::vector<NamedRange>> ParseRanges(std::string_view text) {
  if (text.size() > kMaxRangesBytes) return InvalidArgument("ranges have at most 16 MiB");
  int deepest = 0;
  bool in_ranges = false;
  size_t names = 0;  // in the object of ranges
  const auto shallow = [&](int depth, Json::parse_event_t event, const Json& value) {
    deepest = std::max(deepest, depth);
    if (event == Json::parse_event_t::key && depth == 1) in_ranges = value == "ranges";
    if (event == Json::parse_event_t::key && depth == 2 && in_ranges) ++names;
    return depth <= 4;
  };
  const Json json = Json::parse(text.begin(), text.end(), shallow, /*allow_exceptions=*/false);
  if (json.is_discarded()) return InvalidArgument("the ranges are no JSON");
  if (deepest > 4 || !json.is_object())
    return InvalidArgument("the ranges are no object of ranges");
  if (!json.contains("format") || json["format"] != kFormat) {
    return InvalidArgument(std::string("the ranges lack \"format\": \"").append(kFormat) + "\"");
  }
  if (!json.contains("ranges") || !json["ranges"].is_object()) {
    return InvalidArgument("the ranges lack an object 'ranges'");
  }
  // The parser keeps the last one of those with one name.
  if (names != json["ranges"].size()) {
    return InvalidArgument("the ranges have one tensor twice");
  }
  std::vector<NamedRange> ranges;
  for (const auto& [tensor, value] : json["ranges"].items()) {
    const bool is_pair = value.is_array() && value.size() == 2;
    const std::optional<float> min = is_pair ? AsFloat(value[0]) : std::nullopt;
    const std::optional<float> max = is_pair ? AsFloat(value[1]) : std::nullopt;
    if (!min.has_value() || !max.has_value()) return Wrong(tensor, "is no list of two numbers");
    ranges.push_back({tensor, *min, *max});
  }
  return ranges;
}

}  // namespace intaglio::nn::quantize
