#include "intaglio/nn/quantize/recipe.h"

#include <gtest/gtest.h>

#include <string>

#include "intaglio/nn/ops/builder.h"

namespace intaglio::nn::quantize {
namespace {

// RELU #0 'a', RELU6 #1 'b', SOFTMAX #2 'y'.
Graph Network() {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {1, 4});
  const Value first = b.Relu(x, {});
  const Value second = b.Relu6(first, {});
  b.Output(b.Softmax(second), "y");
  Graph graph = *b.Finish();
  graph.layers[0].label = "RELU #0 'stem/a'";
  graph.layers[1].label = "RELU6 #1 'head/b'";
  graph.layers[2].label = "SOFTMAX #2 'head/y'";
  return graph;
}

std::string ErrorOf(const char* json) {
  const Result<Recipe> recipe = ParseRecipe(json);
  if (!recipe.ok()) return recipe.status().message();
  const Result<Choices> choices = Apply(*recipe, Network(), {}, {});
  return choices.ok() ? "ok" : choices.status().message();
}

TEST(Recipe, LastMatchWinsKeyByKey) {
  const Result<Recipe> recipe = ParseRecipe(R"([
      {"layers": "head/", "weights": 4, "activations": 16, "method": "mse"},
      {"layers": "SOFTMAX", "float": true, "weights": 6},
      {"layers": "^RELU #0", "per_channel": false, "method": "percentile", "percentile": 99.5}])");
  ASSERT_TRUE(recipe.ok()) << recipe.status().message();
  const Graph graph = Network();
  const Result<Choices> c = Apply(*recipe, graph, {.weight_bits = 8}, {.ema_decay = 0.5});
  ASSERT_TRUE(c.ok()) << c.status().message();
  EXPECT_EQ(c->layers[0], (LayerRule{.per_channel = false}));
  EXPECT_EQ(c->layers[1], (LayerRule{.weight_bits = 4, .activations = Type::kInt16}));
  EXPECT_EQ(c->layers[2],
            (LayerRule{.keep_float = true, .weight_bits = 6, .activations = Type::kInt16}));
  const ObserverOptions first = {
      .method = Method::kPercentile, .ema_decay = 0.5, .percentile = 99.5};
  const ObserverOptions head = {.method = Method::kMse, .ema_decay = 0.5, .bits = 16};
  const auto observer = [&](TensorId id) { return c->tensors[static_cast<size_t>(id)]; };
  EXPECT_EQ(observer(graph.inputs[0]), first);
  EXPECT_EQ(observer(graph.layers[0].outputs[0]), first);
  EXPECT_EQ(observer(graph.layers[1].outputs[0]), head);
  EXPECT_EQ(observer(graph.outputs[0]), head);
}

TEST(Recipe, TakesAllKeys) {
  EXPECT_EQ(ErrorOf("[]"), "ok");
  EXPECT_EQ(ErrorOf(R"([{"layers": ".", "activations": "uint8", "ema_decay": 0.9}])"), "ok");
  EXPECT_EQ(
      ErrorOf(R"([{"layers": ".", "activations": "int16"}, {"layers": ".", "activations": 8}])"),
      "ok");
}

TEST(Recipe, NamesWhatIsWrong) {
  EXPECT_EQ(ErrorOf("{"), "the recipe is no JSON");
  EXPECT_EQ(ErrorOf("{}"), "the recipe is no list of rules");
  EXPECT_EQ(ErrorOf("[7]"), "rule 0 of the recipe is no object");
  EXPECT_EQ(ErrorOf("[{\"weights\": 4}]"), "rule 0 of the recipe lacks 'layers'");
  EXPECT_EQ(ErrorOf(R"([{"layers": ".", "weights": 9}])"),
            "rule 0 of the recipe: 'weights' is no number of bits from 2 to 8");
  EXPECT_EQ(ErrorOf(R"([{"layers": "."}, {"layers": ".", "bits": 8}])"),
            "rule 1 of the recipe: 'bits' is no key of a rule");
  EXPECT_NE(ErrorOf(R"([{"layers": ".", "activations": 9}])").find("is none of 2 to 8, 16"),
            std::string::npos);
  EXPECT_NE(ErrorOf(R"([{"layers": ".", "method": "best"}])").find("there is no method 'best'"),
            std::string::npos);
  EXPECT_NE(ErrorOf(R"([{"layers": ".", "percentile": 101}])").find("the percentile is 101"),
            std::string::npos);
  EXPECT_EQ(ErrorOf(R"([{"layers": "tail/"}])"),
            "'tail/' matches no layer; the first is RELU #0 'stem/a'");
  EXPECT_NE(ErrorOf(R"([{"layers": "(a{9}){9}"}])").find("counts in braces are not supported"),
            std::string::npos);
  EXPECT_NE(ErrorOf(R"([{"layers": "(a)\\1"}])").find("back references are not supported"),
            std::string::npos);
  EXPECT_NE(ErrorOf(R"([{"layers": "("}])").find("'(' is no regular expression"),
            std::string::npos);
  EXPECT_NE(ErrorOf(R"([{"layers": ".", "float": 1}])").find("neither true nor false"),
            std::string::npos);
}

// Each "+" of a "+" makes the compiled expression twice as large.
TEST(Recipe, PatternsTakeLittleMemory) {
  const auto error_of = [](const std::string& pattern) {
    return ErrorOf((R"([{"layers": ")" + pattern + R"("}])").c_str());
  };
  const auto nested = [](int depth, const std::string& core, const std::string& end) {
    std::string pattern(static_cast<size_t>(depth), '(');
    pattern += core;
    for (int i = 0; i < depth; ++i) pattern += end;
    return pattern;
  };
  const std::string why_not = "repeats what is repeated too often";
  for (const std::string& pattern :
       {nested(40, "R", "+)"), nested(40, "[+]", "+)"), nested(40, "[]+]", ")+"),
        nested(40, "[[:upper:]]", "b*|R+)+"), "R" + std::string(40, '+'),
        "(R|" + nested(40, R"(\\()", "+)") + ")"}) {
    EXPECT_NE(error_of(pattern).find(why_not), std::string::npos) << pattern;
  }
  for (const std::string& pattern :
       {std::string("((R+E+)+LU)+"), nested(100, "R", ")"), nested(100, "R", "*)"),
        nested(8, "R", "+)"), std::string("[+++++++++++++++++R]"),
        std::string("[^]+++++++++++++++]"), std::string("[[:upper:]++++++++++++++++++]"),
        "RE" + std::string(300, '?')}) {
    EXPECT_EQ(error_of(pattern), "ok");
  }
}

}  // namespace
}  // namespace intaglio::nn::quantize
