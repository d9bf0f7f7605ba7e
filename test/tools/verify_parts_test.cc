// Compares chains of graphs with the whole that they stand for.
#include "intaglio/tools/verify_parts.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/ops/builder.h"
#include "intaglio/nn/ops/operators.h"

namespace intaglio::tools {
namespace {

using nn::Graph;
using nn::PerTensor;
using nn::Tensor;
using nn::TensorId;
using nn::Value;

const nn::Quantization kQuantization = PerTensor(0.5f, 3);

Graph Finish(nn::Builder& b) {
  Result<Graph> graph = b.Finish();
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return graph.ok() ? std::move(*graph) : Graph();
}

// Makes Relu and then Abs, or only one of them.
Graph Layers(bool relu, bool abs, int size = 4) {
  nn::Builder b("layers");
  Value x = b.Input("x", Type::kInt8, {size}, kQuantization);
  if (relu) x = b.Relu(x, kQuantization);
  if (abs) x = b.Layer(nn::Abs{}, {x.id}, Type::kInt8, kQuantization);
  b.Output(x, "y");
  return Finish(b);
}

// Outputs what a variable held, and stores x in it.
Graph Delay(bool keeps) {
  Graph graph;
  graph.name = "delay";
  for (const char* const name : {"x", "v", "y"}) {
    Tensor& tensor = graph.tensors.emplace_back();
    tensor.name = name;
    tensor.shape = {4};
    tensor.quantization = kQuantization;
    tensor.variable = *name == 'v';
  }
  graph.layers = {{nn::ReadVariable{}, {1}, {2}, {}}};
  if (keeps) graph.layers.push_back({nn::AssignVariable{}, {0, 1}, {}, {}});
  graph.inputs = {0};
  graph.outputs = {2};
  return graph;
}

std::string Verify(const Graph& whole, const std::vector<ChainLink>& chain, int runs = 3,
                   const nn::Limits& limits = {}) {
  return VerifyChain(whole, chain, {}, runs, limits).message();
}

TEST(VerifyChain, TakesWhatGivesTheSameBits) {
  EXPECT_EQ(Verify(Layers(true, true), {{Layers(true, false)}, {Layers(false, true), true}}), "");
  EXPECT_EQ(Verify(Layers(true, true), {{Layers(true, true)}}), "");
  EXPECT_EQ(Verify(Delay(true), {{Layers(false, false)}, {Delay(true), true}}), "");
}

TEST(VerifyChain, SaysWhatDiffers) {
  EXPECT_EQ(Verify(Layers(true, true), {{Layers(false, true)}}),
            "what was split does not give the bits of the whole: output 0 'y' differs in run 1; "
            "please report this");
  // Only the second run shows that nothing is stored.
  EXPECT_EQ(Verify(Delay(true), {{Delay(false)}}, 1), "");
  EXPECT_EQ(Verify(Delay(true), {{Delay(false)}}),
            "what was split does not give the bits of the whole: output 0 'y' differs in run 2; "
            "please report this");
  EXPECT_EQ(Verify(Delay(true), {{Delay(true)}, {Layers(false, false, 5)}}),
            "layers as it is read back: its inputs are not what the part before it gives");
}

TEST(VerifyChain, SaysWhatCannotBePrepared) {
  nn::Builder b("real");
  const Value x = b.Input("x", Type::kInt8, {4}, kQuantization);
  b.Output(b.Quantize(b.Dequantize(x), Type::kInt8, kQuantization), "y");
  const Graph real = Finish(b);
  EXPECT_EQ(Verify(real, {{real}}), "");
  EXPECT_EQ(Verify(real, {{real, true}}).find("real as it is read back: DEQUANTIZE #0"), 0u);
  Graph wrong = Delay(true);
  wrong.layers[0].inputs = {2};
  EXPECT_NE(Verify(wrong, {{wrong}}), "");
}

// Each layer takes 8 steps.
TEST(VerifyChain, KeepsToTheLimits) {
  const Graph one = Layers(true, false);
  const Graph two = Layers(true, true);
  EXPECT_EQ(Verify(one, {{one}}, 3, {.max_work = 8}), "");
  EXPECT_EQ(
      Verify(one, {{two}}, 3, {.max_work = 8}),
      "layers as it is read back: RELU #0 'RELU_0': takes 8 steps of a run's 16, but 8 are allowed "
      "(Limits::max_work)");
  EXPECT_EQ(Verify(two, {{one}}, 3, {.max_work = 8}),
            "RELU #0 'RELU_0': takes 8 steps of a run's 16, but 8 are allowed (Limits::max_work)");
}

}  // namespace
}  // namespace intaglio::tools
