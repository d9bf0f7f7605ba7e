// Which layers are quantized how: an ordered list of rules, kept in a file of JSON
// (docs/quantizing.md).
#ifndef INTAGLIO_NN_QUANTIZE_RECIPE_H_
#define INTAGLIO_NN_QUANTIZE_RECIPE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/quantize/observer.h"
#include "intaglio/nn/quantize/quantize_graph.h"

namespace intaglio::nn::quantize {

// What has no value stays as the rules before it say.
struct RecipeRule {
  std::string layers;  // a regular expression (pattern.h) that occurs in the label of the layer
  std::optional<bool> keep_float = {};
  std::optional<int> weights = {};  // bits
  std::optional<Type> activations = {};
  std::optional<int> activation_bits = {};
  std::optional<bool> per_channel = {};
  std::optional<Method> method = {};
  std::optional<double> percentile = {};
  std::optional<double> ema_decay = {};
};

struct Recipe {
  std::vector<RecipeRule> rules;
};

// The most bytes that the text of a recipe may have.
inline constexpr size_t kMaxRecipeBytes = size_t{1} << 20;

// A list of objects, such as
//   [{"layers": "block3/", "weights": 4, "method": "mse"}, {"layers": "SOFTMAX", "float": true}]
// Keys: layers (required), float, weights (2 to 8), activations (2 to 8, "int8", "uint8",
// 16 or "int16"), per_channel, method, percentile, ema_decay. Errors name the rule and the key.
Result<Recipe> ParseRecipe(std::string_view json);

// What a recipe says of a graph.
struct Choices {
  std::vector<LayerRule> layers;         // one for each layer: Rules::layers
  std::vector<ObserverOptions> tensors;  // one for each tensor: CalibrationOptions::observers
};

// For each layer the last rule that matches and says something decides. The results of a layer are
// observed as its rule says, and an input of the graph as the rule of its first reader. It is an
// error if a pattern matches no layer, or is no regular expression.
Result<Choices> Apply(const Recipe& recipe, const Graph& graph, const LayerRule& layer,
                      const ObserverOptions& observer);

}  // namespace intaglio::nn::quantize

#endif  // INTAGLIO_NN_QUANTIZE_RECIPE_H_
