#include "intaglio/nn/quantize/recipe.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "intaglio/nn/graph/printable.h"
#include "intaglio/nn/quantize/pattern.h"

namespace intaglio::nn::quantize {
namespace {

using Json = nlohmann::json;

std::string NameOfRule(size_t index) {
  return std::string("rule ").append(std::to_string(index)).append(" of the recipe");
}

// Reads the members of one rule. The first error stays.
class RuleReader {
 public:
  RuleReader(const Json& object, size_t index) : object_(object), index_(index) {}

  Result<RecipeRule> Read() {
    if (!object_.is_object()) return InvalidArgument(NameOfRule(index_) + " is no object");
    RecipeRule rule;
    for (const auto& [key, value] : object_.items()) {
      INTAGLIO_RETURN_IF_ERROR(Take(key, value, rule));
    }
    if (!object_.contains("layers")) return InvalidArgument(NameOfRule(index_) + " lacks 'layers'");
    return rule;
  }

 private:
  Status Fail(const std::string& key, const std::string& what) const {
    return InvalidArgument(NameOfRule(index_) + ": '" + ShortName(key) + "' " + what);
  }

  Status Take(const std::string& key, const Json& value, RecipeRule& rule) const {
    if (key == "layers") {
      if (!value.is_string()) return Fail(key, "is no text");
      rule.layers = value.get<std::string>();
    } else if (key == "float" || key == "per_channel") {
      if (!value.is_boolean()) return Fail(key, "is neither true nor false");
      (key == "float" ? rule.keep_float : rule.per_channel) = value.get<bool>();
    } else if (key == "weights") {
      const bool good = value.is_number_unsigned() && value >= 2u && value <= 8u;
      if (!good) return Fail(key, "is no number of bits from 2 to 8");
      rule.weights = value.get<int>();
    } else if (key == "activations") {
      if (!TakeActivations(value, rule)) {
        return Fail(key, "is none of 2 to 8, 16, \"int8\", \"uint8\" and \"int16\"");
      }
    } else if (key == "method") {
      const Result<Method> method = MethodByName(value.is_string() ? value.get<std::string>() : "");
      if (!method.ok()) return Fail(key, "is wrong: " + method.status().message());
      rule.method = *method;
    } else if (key == "percentile" || key == "ema_decay") {
      if (!value.is_number()) return Fail(key, "is no number");
      (key == "percentile" ? rule.percentile : rule.ema_decay) = value.get<double>();
    } else {
      return Fail(key, "is no key of a rule");
    }
    return {};
  }

  static bool TakeActivations(const Json& value, RecipeRule& rule) {
    rule.activation_bits = 8;
    if (value == 8 || value == "int8") rule.activations = Type::kInt8;
    if (value == 16 || value == "int16") rule.activations = Type::kInt16;
    if (value == "uint8") rule.activations = Type::kUInt8;
    if (rule.activations.has_value()) return true;
    const bool few = value.is_number_unsigned() && value >= 2u && value < 8u;
    if (few) rule.activation_bits = value.get<int>();
    return few;
  }

  const Json& object_;
  size_t index_;
};

template <class T>
void Replace(T& value, const std::optional<T>& by) {
  if (by.has_value()) value = *by;
}

void ApplyTo(const RecipeRule& rule, LayerRule& layer, ObserverOptions& observer) {
  Replace(layer.keep_float, rule.keep_float);
  Replace(layer.weight_bits, rule.weights);
  Replace(layer.activations, rule.activations);
  Replace(layer.activation_bits, rule.activation_bits);
  if (layer.activation_bits < 8 && layer.activations == Type::kInt16) {
    layer.activations = Type::kInt8;
  }
  Replace(layer.per_channel, rule.per_channel);
  Replace(observer.method, rule.method);
  Replace(observer.percentile, rule.percentile);
  Replace(observer.ema_decay, rule.ema_decay);
}

std::string Quoted(const std::string& pattern) {
  return std::string("'").append(ShortName(pattern)).append("'");
}

Result<std::vector<bool>> Match(const RecipeRule& rule, const std::vector<std::string>& labels) {
  const Result<Pattern> pattern = Pattern::Compile(rule.layers);
  if (!pattern.ok()) {
    return InvalidArgument(Quoted(rule.layers) +
                           " is no regular expression: " + pattern.status().message());
  }
  std::vector<bool> matches;
  for (const std::string& label : labels) matches.push_back(pattern->OccursIn(label));
  if (std::find(matches.begin(), matches.end(), true) != matches.end()) return matches;
  return InvalidArgument(Quoted(rule.layers).append(" matches no layer") +
                         (labels.empty() ? "" : "; the first is " + labels[0]));
}

}  // namespace

Result<Recipe> ParseRecipe(std::string_view json) {
  if (json.size() > kMaxRecipeBytes) return InvalidArgument("the recipe is longer than 1 MiB");
  const Json list = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (list.is_discarded()) return InvalidArgument("the recipe is no JSON");
  if (!list.is_array()) return InvalidArgument("the recipe is no list of rules");
  Recipe recipe;
  for (size_t i = 0; i < list.size(); ++i) {
    const Result<RecipeRule> rule = RuleReader(list[i], i).Read();
    if (!rule.ok()) return rule.status();
    recipe.rules.push_back(*rule);
  }
  return recipe;
}

Result<Choices> Apply(const Recipe& recipe, const Graph& graph, const LayerRule& layer,
                      const ObserverOptions& observer) {
  std::vector<std::string> labels;
  for (size_t i = 0; i < graph.layers.size(); ++i) labels.push_back(LabelOf(graph, i));
  Choices choices;
  choices.layers.assign(graph.layers.size(), layer);
  choices.tensors.assign(graph.tensors.size(), observer);
  std::vector<ObserverOptions> observers(graph.layers.size(), observer);
  for (const RecipeRule& rule : recipe.rules) {
    const Result<std::vector<bool>> matches = Match(rule, labels);
    if (!matches.ok()) return matches.status();
    for (size_t i = 0; i < matches->size(); ++i) {
      if ((*matches)[i]) ApplyTo(rule, choices.layers[i], observers[i]);
    }
  }
  // From the last layer to the first, so that the first reader of an input decides.
  for (size_t i = graph.layers.size(); i-- > 0;) {
    observers[i].bits =
        choices.layers[i].activations == Type::kInt16 ? 16 : choices.layers[i].activation_bits;
    INTAGLIO_RETURN_IF_ERROR(Check(observers[i]));
    for (const TensorId id : graph.layers[i].outputs) {
      choices.tensors[static_cast<size_t>(id)] = observers[i];
    }
    for (const TensorId id : graph.layers[i].inputs) {
      const bool is_input =
          std::find(graph.inputs.begin(), graph.inputs.end(), id) != graph.inputs.end();
      if (is_input) choices.tensors[static_cast<size_t>(id)] = observers[i];
    }
  }
  return choices;
}

}  // namespace intaglio::nn::quantize
