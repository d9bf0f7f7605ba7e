// What a graph must be before anything is prepared.
#include "intaglio/nn/graph/graph.h"

#include <limits>

#include "intaglio/nn/ops/operators.h"
#include "intaglio/test/nn/testing.h"

namespace intaglio::nn {
namespace {

Tensor MakeTensor(const char* name, Shape shape, bool constant = false) {
  static const int8_t zeros[64] = {};
  Tensor t;
  t.name = name;
  t.shape = std::move(shape);
  t.quantization = PerTensor(1, 0);
  t.constant = constant;
  t.data = constant ? zeros : nullptr;
  t.data_bytes = constant ? *CountBytes(t.shape, t.type) : 0;
  return t;
}

// x -> RELU -> y, and a constant c.
Graph MakeGraph() {
  Graph g;
  g.tensors = {MakeTensor("x", {4}), MakeTensor("y", {4}), MakeTensor("c", {4}, true)};
  g.layers.push_back({Relu{}, {0}, {1}, {}});
  g.inputs = {0};
  g.outputs = {1};
  return g;
}

template <class Change>
std::string MessageAfter(const Change& change) {
  Graph g = MakeGraph();
  change(g);
  const Status status = Validate(g);
  return status.ok() ? "ok" : status.message();
}

TEST(Validate, AcceptsAGoodGraph) {
  EXPECT_EQ(MessageAfter([](Graph&) {}), "ok");
  EXPECT_EQ(MessageAfter([](Graph& g) { g.outputs = {1, 1, 0, 2}; }), "ok");
  EXPECT_EQ(MessageAfter([](Graph& g) { g.tensors.push_back(MakeTensor("unused", {1})); }), "ok");
}

TEST(Validate, RefusesTensorIds) {
  EXPECT_EQ(MessageAfter([](Graph& g) { g.layers[0].inputs = {3}; }),
            "RELU #0 'y': input 0 is tensor #3, but the graph has 3 tensors");
  EXPECT_EQ(MessageAfter([](Graph& g) { g.layers[0].inputs = {-2}; }),
            "RELU #0 'y': input 0 is tensor #-2, but the graph has 3 tensors");
  EXPECT_EQ(MessageAfter([](Graph& g) { g.layers[0].inputs = {kNoTensor}; }),
            "RELU #0 'y': input 0 is absent");
  EXPECT_EQ(MessageAfter([](Graph& g) { g.layers[0].outputs = {-1}; }),
            "RELU #0: output 0 is tensor #-1, but the graph has 3 tensors");
  EXPECT_EQ(MessageAfter([](Graph& g) { g.inputs = {7}; }),
            "an input of the graph is tensor #7, but the graph has 3 tensors");
  EXPECT_EQ(MessageAfter([](Graph& g) { g.outputs = {-1}; }),
            "an output of the graph is tensor #-1, but the graph has 3 tensors");
}

TEST(Validate, RefusesOrders) {
  EXPECT_EQ(MessageAfter([](Graph& g) { g.inputs = {}; }),
            "RELU #0 'y': reads tensor #0 'x', which nothing has written before");
  EXPECT_EQ(MessageAfter([](Graph& g) { g.layers[0].outputs = {0}; }),
            "RELU #0 'x': writes tensor #0 'x', which is a constant, a variable, an input or "
            "written before");
  EXPECT_EQ(MessageAfter([](Graph& g) { g.layers[0].outputs = {2}; }),
            "RELU #0 'c': writes tensor #2 'c', which is a constant, a variable, an input or "
            "written before");
  EXPECT_EQ(MessageAfter([](Graph& g) { g.layers.push_back(g.layers[0]); }),
            "RELU #1 'y': writes tensor #1 'y', which is a constant, a variable, an input or "
            "written before");
  EXPECT_EQ(MessageAfter([](Graph& g) {
              g.inputs = {0, 0};
            }),
            "tensor #0 'x' cannot be an input: it is a constant, a variable or an input already");
  EXPECT_EQ(MessageAfter([](Graph& g) {
              g.inputs = {0, 2};
            }),
            "tensor #2 'c' cannot be an input: it is a constant, a variable or an input already");
  EXPECT_EQ(MessageAfter([](Graph& g) {
              g.tensors.push_back(MakeTensor("z", {1}));
              g.outputs = {3};
            }),
            "tensor #3 'z' is an output, but nothing writes it");
}

TEST(Validate, RefusesTensors) {
  EXPECT_EQ(MessageAfter([](Graph& g) { g.tensors[2].shape = {-1}; }),
            "tensor #2 'c': shape [-1] has a negative dimension");
  EXPECT_EQ(
      MessageAfter([](Graph& g) {
        g.tensors[2].shape = {1 << 30, 1 << 30, 1 << 30};
      }),
      "tensor #2 'c': shape [1073741824, 1073741824, 1073741824] has more elements than memory "
      "can hold");
  EXPECT_EQ(MessageAfter([](Graph& g) { g.tensors[2].data_bytes = 3; }),
            "tensor #2 'c': is given 3 bytes, but int8[4] has 4");
  EXPECT_EQ(MessageAfter([](Graph& g) { g.tensors[2].data = nullptr; }),
            "tensor #2 'c': is a constant without data");
  EXPECT_EQ(MessageAfter([](Graph& g) { g.tensors[2].quantization.zero_points = {}; }),
            "tensor #2 'c': has 1 scales but 0 zero points");
  EXPECT_EQ(MessageAfter([](Graph& g) {
              g.tensors[2].quantization.scales = {std::numeric_limits<float>::infinity()};
            }),
            "tensor #2 'c': has the scale inf");
}

TEST(Validate, RefusesLayers) {
  EXPECT_EQ(MessageAfter([](Graph& g) {
              g.layers[0].inputs = {0, 2};
            }),
            "RELU #0 'y': has 2 inputs; 1 expected");
  EXPECT_EQ(MessageAfter([](Graph& g) { g.layers[0].inputs = {}; }),
            "RELU #0 'y': has 0 inputs; 1 expected");
  EXPECT_EQ(MessageAfter([](Graph& g) {
              g.layers[0].outputs = {};
              g.outputs = {};
            }),
            "RELU #0: has 0 outputs; 1 expected");
  EXPECT_EQ(MessageAfter([](Graph& g) {
              g.tensors[1].shape = {2, 2};
            }),
            "RELU #0 'y': output 'y' has the shape [2, 2], but the operator makes [4]");
  EXPECT_EQ(MessageAfter([](Graph& g) {
              g.layers[0].label = "RELU #5 'given'";
              g.tensors[1].shape = {5};
            }),
            "RELU #5 'given': output 'y' has the shape [5], but the operator makes [4]");
}

TEST(CountElements, CountsAndRefuses) {
  EXPECT_EQ(*CountElements({}), 1);
  EXPECT_EQ(*CountElements({3, 4}), 12);
  EXPECT_EQ(*CountElements({1 << 30, 0, 1 << 30, 1 << 30}), 0);
  EXPECT_EQ(*CountElements({1 << 20, 1 << 20}), int64_t{1} << 40);
  EXPECT_FALSE(CountElements({2, -1}).ok());
  EXPECT_FALSE(CountElements({1 << 30, 1 << 30, 4}).ok());
  EXPECT_EQ(*CountBytes({3, 4}, Type::kFloat32), 48u);
}

// Extents that overflow where they meet a dimension of 0 must not be multiplied.
TEST(EmptyTensors, OfAnyOtherExtents) {
  const int big = 2147483647;
  const Shape shape = {big, big, big, 0};
  const Q empty{Type::kInt8, shape, 1, 0, {}};
  Builder add;
  const Value a = Input(add, empty);
  EXPECT_TRUE(RunGraph(add, add.Add(a, a, {}, PerTensor(1, 0)), {empty}).empty());
  Builder pad;
  EXPECT_TRUE(RunGraph(pad, pad.Pad(Input(pad, empty), {{{0, 0}, {0, 0}, {0, 0}, {0, 0}}}), {empty})
                  .empty());
  const Q few{Type::kInt8, {4, 4, 4, 0}, 1, 0, {}};
  Builder pool;
  EXPECT_TRUE(RunGraph(pool, pool.MaxPool2D(Input(pool, few), {.filter = {2, 2}}), {few}).empty());
  Builder mean;
  EXPECT_TRUE(
      RunGraph(mean, mean.Mean(Input(mean, few), {{1}, true}, PerTensor(1, 0)), {few}).empty());
  Builder sum;
  EXPECT_TRUE(
      RunGraph(sum, sum.Mean(Input(sum, empty), {{0, 1, 2}, true}, PerTensor(1, 0)), {empty})
          .empty());
  Builder soft;
  EXPECT_TRUE(RunGraph(soft, soft.Softmax(Input(soft, empty)), {empty}).empty());
}

}  // namespace
}  // namespace intaglio::nn
