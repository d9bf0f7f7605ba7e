// The text form of a plan. docs/tuning.md describes it.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "intaglio/nn/graph/printable.h"
#include "intaglio/nn/routine/routine_name.h"
#include "intaglio/nn/tune/device_ways.h"
#include "intaglio/nn/tune/hash.h"
#include "intaglio/nn/tune/plan.h"

namespace intaglio::nn::tune {
namespace {

// Its objects are maps: those that keep the order of members find one in linear time.
using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

constexpr const char* kFormat = "intaglio-plan-2";
// The same with ranges, by which layers of float32 compute with int8.
constexpr const char* kInt8Format = "intaglio-plan-3";
// Without schemas: every layer computes in the form that the network has.
constexpr const char* kOldFormat = "intaglio-plan-1";
constexpr const char* kFloat = "cpu:float32";
constexpr int kMaxThreads = 1 << 16;
// A way of a layer has values at depth 4, and a childnet has those of its layers two levels deeper.
constexpr int kDeepest = 4 + 2 * kDeepestChildnet;

// The names of childnets have the choices for their layers, which are entries of their own here.
std::string NameOf(const std::string& routine, const std::vector<ChildWay>& layers) {
  return layers.empty() ? routine : routine.substr(0, routine.size() - LayersIn(routine).size());
}

OrderedJson ToJson(const std::vector<ChildWay>& layers) {
  OrderedJson list = OrderedJson::array();
  for (const ChildWay& child : layers) {
    OrderedJson& json =
        list.emplace_back(OrderedJson{{"layer", child.layer},
                                      {"operator", child.operator_name},
                                      {"routine", NameOf(child.routine, child.layers)},
                                      {"kernel", child.kernel},
                                      {"threads", child.threads},
                                      {"ns", child.ns}});
    if (!child.layers.empty()) json["layers"] = ToJson(child.layers);
  }
  return list;
}

OrderedJson ToJson(const TimedWay& way) {
  OrderedJson json = {{"routine", NameOf(way.routine, way.layers)},
                      {"kernel", way.kernel},
                      {"threads", way.threads},
                      {"ns", way.ns}};
  if (!way.layers.empty()) json["layers"] = ToJson(way.layers);
  return json;
}

// Of a layer that is converted from integers to float32, the routine may be one for any schema.
std::string SchemaOf(const TimedWay& way, bool to_float) {
  const bool is_float = way.converted && to_float && !RunsOnDevice(way.routine);
  return is_float ? kFloat : tune::SchemaOf(way.routine);
}

OrderedJson ToJson(const Difference& difference) {
  return {{"steps", difference.steps}, {"relative", difference.relative}};
}

OrderedJson ToJson(const LayerPlan& layer, bool to_float) {
  OrderedJson json = {{"layer", layer.layer},
                      {"operator", layer.operator_name},
                      {"label", layer.label},
                      {"schema", SchemaOf(layer.chosen, to_float)},
                      {"bounded", layer.chosen.converted},
                      {"chosen", ToJson(layer.chosen)},
                      {"untuned", ToJson(layer.untuned)},
                      {"noise", layer.noise}};
  if (layer.difference.measured) json["difference"] = ToJson(layer.difference);
  return json;
}

OrderedJson ToJson(const NetworkTime& network) {
  return {{"name", network.name},
          {"ns", network.ns},
          {"predicted_ns", network.predicted_ns},
          {"bytes", network.bytes}};
}

// In the order that a reader gives them.
std::vector<NamedRange> ByName(std::vector<NamedRange> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const NamedRange& a, const NamedRange& b) { return a.tensor < b.tensor; });
  return ranges;
}

std::string Quoted(const char* name) { return std::string("'").append(name).append("'"); }

// Reads members of an object. The first error stays.
class Reader {
 public:
  Reader(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) Fail("is no object");
  }

  const Json* Find(const char* name) {
    if (!status_.ok()) return nullptr;
    const auto found = object_.find(name);
    if (found == object_.end()) return Fail(std::string("lacks ").append(Quoted(name)));
    return &*found;
  }
  std::string Text(const char* name) {
    const Json* const value = Find(name);
    if (value == nullptr) return {};
    if (!value->is_string()) Fail(Quoted(name).append(" is no text"));
    return status_.ok() ? value->get<std::string>() : "";
  }
  // A time or a share.
  double Real(const char* name) {
    const Json* const value = Find(name);
    if (value == nullptr) return 0;
    const bool good =
        value->is_number() && value->get<double>() >= 0 && value->get<double>() < 1e18;
    if (!good) Fail(Quoted(name).append(" is no number from 0 to 10^18"));
    return good ? value->get<double>() : 0;
  }
  int64_t Whole(const char* name, int64_t most) {
    const Json* const value = Find(name);
    if (value == nullptr) return 0;
    const bool good =
        value->is_number_unsigned() && value->get<uint64_t>() <= static_cast<uint64_t>(most);
    if (!good) Fail(Quoted(name).append(" is no number from 0 to ").append(std::to_string(most)));
    return good ? value->get<int64_t>() : 0;
  }
  bool Flag(const char* name) {
    const Json* const value = Find(name);
    if (value != nullptr && !value->is_boolean())
      Fail(Quoted(name).append(" is not true or false"));
    return status_.ok() && value != nullptr && value->get<bool>();
  }
  const Json* List(const char* name) {
    const Json* const value = Find(name);
    if (value != nullptr && !value->is_array()) return Fail(Quoted(name).append(" is no list"));
    return value;
  }
  const Json* Fail(const std::string& what) {
    if (status_.ok()) status_ = InvalidArgument("the plan's " + where_ + " " + what);
    return nullptr;
  }
  // Takes the error of a reader of a member.
  void Take(const Reader& inner) {
    if (status_.ok()) status_ = inner.status_;
  }
  const Status& status() const { return status_; }

 private:
  const Json& object_;
  std::string where_;
  Status status_;
};

// The layers of a childnet. Adds the choices to the name of its routine. The depth of the text
// limits how deep they are nested.
std::vector<ChildWay> ReadChildren(Reader& outer, const Json& object, const std::string& where,
                                   std::string& routine) {
  std::vector<ChildWay> children;
  if (!object.is_object() || !object.contains("layers")) return children;
  const Json* const list = outer.List("layers");
  if (list == nullptr) return children;
  std::vector<ChildChoice> choices;
  for (size_t i = 0; i < list->size() && outer.status().ok(); ++i) {
    const std::string entry = where + " layer " + std::to_string(i);
    Reader reader((*list)[i], entry);
    ChildWay& child = children.emplace_back();
    child.layer = static_cast<size_t>(reader.Whole("layer", INT32_MAX));
    child.operator_name = reader.Text("operator");
    child.routine = reader.Text("routine");
    child.kernel = reader.Text("kernel");
    child.threads = static_cast<int>(reader.Whole("threads", kMaxThreads));
    child.ns = reader.Real("ns");
    // They would end a choice in the name of the childnet.
    const auto is_name = [](const std::string& name) {
      return name.find_first_of("[],*@") == name.npos;
    };
    if (!is_name(child.routine) || !is_name(child.kernel)) reader.Fail("is computed by no name");
    child.layers = ReadChildren(reader, (*list)[i], entry + ",", child.routine);
    choices.push_back({child.layer, {child.routine, child.kernel, child.threads}});
    outer.Take(reader);
  }
  if (!LayersIn(routine).empty()) outer.Fail("has layers twice");
  routine = WithChildChoices(routine, choices);
  return children;
}

TimedWay ReadWay(Reader& outer, const char* name, const std::string& where) {
  TimedWay way;
  const Json* const json = outer.Find(name);
  if (json == nullptr) return way;
  Reader reader(*json, where + ", '" + name + "',");
  way.routine = reader.Text("routine");
  way.kernel = reader.Text("kernel");
  way.threads = static_cast<int>(reader.Whole("threads", kMaxThreads));
  way.ns = reader.Real("ns");
  way.layers = ReadChildren(reader, *json, where + ", '" + name + "',", way.routine);
  outer.Take(reader);
  return way;
}

// What a plan need not have.
Difference ReadDifference(Reader& outer, const Json& object, const std::string& where) {
  Difference difference;
  if (!object.is_object() || !object.contains("difference")) return difference;
  Reader reader(object["difference"], where + ", 'difference',");
  difference.steps = reader.Real("steps");
  difference.relative = reader.Real("relative");
  difference.measured = true;
  outer.Take(reader);
  return difference;
}

LayerPlan ReadLayer(Reader& outer, const Json& json, size_t index, const std::string& format) {
  const std::string where = "entry " + std::to_string(index);
  Reader reader(json, where);
  LayerPlan layer;
  layer.layer = static_cast<size_t>(reader.Whole("layer", INT32_MAX));
  layer.operator_name = reader.Text("operator");
  layer.label = reader.Text("label");
  layer.chosen = ReadWay(reader, "chosen", where);
  layer.untuned = ReadWay(reader, "untuned", where);
  layer.noise = reader.Real("noise");
  if (format != kOldFormat) {
    const std::string schema = reader.Text("schema");
    layer.chosen.converted = reader.Flag("bounded");
    layer.difference = ReadDifference(reader, json, where);
    if (schema != SchemaOf(layer.chosen, format == kFormat)) {
      reader.Fail("has a 'schema' that its routine does not have");
    }
  }
  outer.Take(reader);
  return layer;
}

Machine ReadMachine(Reader& outer) {
  Machine machine;
  const Json* const json = outer.Find("machine");
  if (json == nullptr) return machine;
  Reader reader(*json, "'machine'");
  machine.cpu = reader.Text("cpu");
  machine.library = reader.Text("library");
  if (const Json* const kernels = reader.List("kernels")) {
    for (const Json& kernel : *kernels) {
      if (!kernel.is_string()) reader.Fail("has a kernel that is no text");
      if (kernel.is_string()) machine.kernels.push_back(kernel.get<std::string>());
    }
  }
  outer.Take(reader);
  return machine;
}

uint64_t ReadDigest(Reader& reader, const char* name) {
  const std::string text = reader.Text(name);
  uint64_t digest = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), digest, 16);
  if (reader.status().ok() && (error != std::errc() || end != text.data() + text.size())) {
    reader.Fail(Quoted(name).append(" is no hexadecimal number"));
  }
  return digest;
}

void ReadNetworks(Reader& outer, const Json& json, Plan& plan) {
  plan.adapters = static_cast<size_t>(outer.Whole("adapters", INT32_MAX));
  plan.difference = ReadDifference(outer, json, "text");
  const Json* const networks = outer.List("networks");
  for (size_t i = 0; networks != nullptr && i < networks->size(); ++i) {
    Reader reader((*networks)[i], "network " + std::to_string(i));
    NetworkTime& network = plan.networks.emplace_back();
    network.name = reader.Text("name");
    network.ns = reader.Real("ns");
    network.predicted_ns = reader.Real("predicted_ns");
    network.bytes = static_cast<size_t>(reader.Whole("bytes", INT64_MAX));
    outer.Take(reader);
  }
}

// A number of float32.
bool ReadFloat(const Json& value, float& number) {
  if (!value.is_number()) return false;
  const double wide = value.get<double>();
  if (!(std::abs(wide) <= double{std::numeric_limits<float>::max()})) return false;
  number = static_cast<float>(wide);
  return true;
}

void ReadRanges(Reader& reader, Plan& plan) {
  const Json* const ranges = reader.Find("ranges");
  if (ranges == nullptr) return;
  if (!ranges->is_object() || ranges->empty()) {
    reader.Fail("has no object 'ranges' with tensors");
    return;
  }
  for (const auto& [tensor, value] : ranges->items()) {
    NamedRange& range = plan.ranges.emplace_back();
    range.tensor = tensor;
    const bool good = value.is_array() && value.size() == 2 && ReadFloat(value[0], range.min) &&
                      ReadFloat(value[1], range.max);
    if (!good) reader.Fail("has a range that is no list of two numbers");
  }
}

}  // namespace

std::string ToJson(const Plan& plan) {
  const bool to_float = plan.ranges.empty();
  OrderedJson json = {{"format", to_float ? kFormat : kInt8Format},
                      {"model", plan.model},
                      {"digest", ToHex(plan.digest)},
                      {"machine",
                       {{"cpu", plan.machine.cpu},
                        {"kernels", plan.machine.kernels},
                        {"library", plan.machine.library}}},
                      {"threads", plan.threads},
                      {"untuned_ns", plan.untuned_ns},
                      {"tuned_ns", plan.tuned_ns},
                      {"predicted_ns", plan.predicted_ns},
                      {"adapters", plan.adapters},
                      {"networks", OrderedJson::array()},
                      {"layers", OrderedJson::array()}};
  if (!plan.device.empty()) json["device"] = plan.device;
  if (plan.accepted != 0) json["accepted"] = ToHex(plan.accepted);
  if (plan.difference.measured) json["difference"] = ToJson(plan.difference);
  for (const NamedRange& range : ByName(plan.ranges)) {
    json["ranges"][range.tensor] = {double{range.min}, double{range.max}};
  }
  for (const NetworkTime& network : plan.networks) json["networks"].push_back(ToJson(network));
  for (const LayerPlan& layer : plan.layers) json["layers"].push_back(ToJson(layer, to_float));
  return json.dump(1, ' ', true, OrderedJson::error_handler_t::replace) + "\n";
}

Result<Plan> ParsePlan(std::string_view text) {
  if (text.size() > kMaxPlanBytes) {
    return InvalidArgument("a plan has at most " + std::to_string(kMaxPlanBytes) + " bytes");
  }
  // Depth is limited first, because the parser's own copies of deep values recurse.
  int deepest = 0;
  const auto shallow = [&deepest](int depth, Json::parse_event_t, Json&) {
    deepest = std::max(deepest, depth);
    return depth <= kDeepest;
  };
  const Json json = Json::parse(text.begin(), text.end(), shallow, /*allow_exceptions=*/false);
  if (json.is_discarded()) return InvalidArgument("the plan is no JSON");
  if (deepest > kDeepest) {
    return InvalidArgument("the plan is nested more than " + std::to_string(kDeepest) +
                           " levels deep");
  }
  Reader reader(json, "text");
  const std::string format = reader.Text("format");
  if (reader.status().ok() && format != kFormat && format != kInt8Format && format != kOldFormat) {
    return InvalidArgument("the plan's format is '" + Printable(format) + "', not '" + kFormat +
                           "'");
  }
  Plan plan;
  plan.model = reader.Text("model");
  plan.digest = ReadDigest(reader, "digest");
  if (json.is_object() && json.contains("accepted")) plan.accepted = ReadDigest(reader, "accepted");
  plan.machine = ReadMachine(reader);
  plan.threads = static_cast<int>(reader.Whole("threads", kMaxThreads));
  plan.untuned_ns = reader.Real("untuned_ns");
  plan.tuned_ns = reader.Real("tuned_ns");
  plan.predicted_ns = reader.Real("predicted_ns");
  if (format != kOldFormat) ReadNetworks(reader, json, plan);
  if (format == kInt8Format) ReadRanges(reader, plan);
  if (json.is_object() && json.contains("device")) plan.device = reader.Text("device");
  if (const Json* const layers = reader.List("layers")) {
    for (size_t i = 0; i < layers->size() && reader.status().ok(); ++i) {
      plan.layers.push_back(ReadLayer(reader, (*layers)[i], i, format));
    }
  }
  if (!reader.status().ok()) return reader.status();
  return plan;
}

}  // namespace intaglio::nn::tune
