#include "intaglio/tools/input_maker.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/tools/input_ranges.h"

namespace intaglio::tools {
namespace {

nn::Tensor MakeTensor(Type type, nn::Shape shape, float scale = 0, int zero_point = 0) {
  nn::Tensor tensor;
  tensor.type = type;
  tensor.shape = std::move(shape);
  if (scale > 0) tensor.quantization = nn::PerTensor(scale, zero_point);
  return tensor;
}

template <class T>
nn::Tensor MakeConstant(nn::Shape shape, std::vector<T> values) {
  nn::Tensor tensor = MakeTensor(TypeOf<T>, std::move(shape));
  const auto owner = std::make_shared<std::vector<T>>(std::move(values));
  tensor.constant = true;
  tensor.data = owner->data();
  tensor.data_bytes = owner->size() * sizeof(T);
  tensor.owner = owner;
  return tensor;
}

// Makes a graph of layers in their order. Tensors that no layer writes are inputs; the last tensor
// is the output.
nn::Graph MakeGraph(std::vector<nn::Tensor> tensors, std::vector<nn::Layer> layers) {
  nn::Graph graph;
  graph.tensors = std::move(tensors);
  graph.layers = std::move(layers);
  std::set<nn::TensorId> written;
  for (const nn::Layer& layer : graph.layers) {
    written.insert(layer.outputs.begin(), layer.outputs.end());
  }
  for (nn::TensorId id = 0; id < static_cast<nn::TensorId>(graph.tensors.size()); ++id) {
    if (!written.contains(id) && !graph.tensors[static_cast<size_t>(id)].constant) {
      graph.inputs.push_back(id);
    }
  }
  graph.outputs = {static_cast<nn::TensorId>(graph.tensors.size()) - 1};
  return graph;
}

// Makes one layer that uses all tensors. The last tensor is its output.
nn::Graph OneLayer(nn::Operator op, std::vector<nn::Tensor> tensors) {
  std::vector<nn::TensorId> inputs;
  for (size_t i = 0; i + 1 < tensors.size(); ++i) inputs.push_back(static_cast<nn::TensorId>(i));
  const auto output = static_cast<nn::TensorId>(tensors.size()) - 1;
  return MakeGraph(std::move(tensors), {nn::Layer{std::move(op), inputs, {output}, ""}});
}

void ExpectRange(const nn::Graph& graph, size_t input, double low, double high) {
  const Interval range = RangesOfInputs(graph)[input].Common();
  EXPECT_EQ(range.low, low);
  EXPECT_EQ(range.high, high);
}

// Runs a model of the graph on several made inputs. Returns the elements of one of them.
template <class T>
std::vector<T> RunOnMade(const nn::Graph& graph, size_t input) {
  Result<nn::Model> model = nn::Model::Prepare(graph);
  EXPECT_TRUE(model.ok()) << model.status().message();
  if (!model.ok()) return {};
  Buffers buffers(*model);
  InputMaker maker(*model, std::vector<bool>(model->input_count()));
  std::vector<T> all;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Status status = maker.Run(seed, *model, buffers);
    EXPECT_TRUE(status.ok()) << status.message();
    const std::vector<uint8_t>& bytes = buffers.inputs[input];
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

// Expects that every one of `count` indices is made, and no other.
template <class T>
void ExpectIndices(const nn::Graph& graph, size_t input, int count) {
  ExpectRange(graph, input, 0, count - 1);
  const std::vector<T> made = RunOnMade<T>(graph, input);
  std::set<T> want;
  for (int i = 0; i < count; ++i) want.insert(static_cast<T>(i));
  EXPECT_EQ(std::set<T>(made.begin(), made.end()), want);
}

const nn::Tensor kTable = MakeTensor(Type::kInt8, {5, 3}, 0.5f);

TEST(InputMaker, MakesIndices) {
  const nn::Tensor out = MakeTensor(Type::kInt8, {8, 3}, 0.5f);
  ExpectIndices<int16_t>(OneLayer(nn::Gather{0, 0}, {kTable, MakeTensor(Type::kInt16, {8}), out}),
                         1, 5);
  ExpectIndices<int32_t>(OneLayer(nn::Gather{-2, 0}, {kTable, MakeTensor(Type::kInt32, {8}), out}),
                         1, 5);
  ExpectIndices<int64_t>(OneLayer(nn::Gather{0, 0}, {kTable, MakeTensor(Type::kInt64, {8}), out}),
                         1, 5);
  ExpectIndices<int32_t>(
      OneLayer(nn::EmbeddingLookup{}, {MakeTensor(Type::kInt32, {8}), kTable, out}), 0, 5);
  ExpectIndices<int32_t>(
      OneLayer(nn::OneHot{4, -1},
               {MakeTensor(Type::kInt32, {8}), MakeConstant<float>({}, {1}),
                MakeConstant<float>({}, {0}), MakeTensor(Type::kFloat32, {8, 4})}),
      0, 4);
  ExpectIndices<int32_t>(OneLayer(nn::ScatterNd{{6, 2}}, {MakeTensor(Type::kInt32, {9, 1}),
                                                          MakeTensor(Type::kFloat32, {9, 2}),
                                                          MakeTensor(Type::kFloat32, {6, 2})}),
                         0, 6);
}

// Expects that element i of the input takes every number from 0 to counts[i mod their number] - 1,
// and no other.
void ExpectPlaces(const nn::Graph& graph, size_t input, const std::vector<int>& counts) {
  const std::vector<int32_t> made = RunOnMade<int32_t>(graph, input);
  for (size_t d = 0; d < counts.size(); ++d) {
    std::set<int32_t> got, want;
    for (size_t i = d; i < made.size(); i += counts.size()) got.insert(made[i]);
    for (int i = 0; i < counts[d]; ++i) want.insert(i);
    EXPECT_EQ(got, want) << d;
  }
}

TEST(InputMaker, MakesPlaces) {
  const nn::Tensor x = MakeTensor(Type::kFloat32, {8, 4});
  ExpectPlaces(OneLayer(nn::GatherNd{},
                        {x, MakeTensor(Type::kInt32, {16, 2}), MakeTensor(Type::kFloat32, {16})}),
               1, {8, 4});
  ExpectPlaces(OneLayer(nn::ScatterNd{{8, 4}},
                        {MakeTensor(Type::kInt32, {16, 2}), MakeTensor(Type::kFloat32, {16}), x}),
               0, {8, 4});
  ExpectPlaces(OneLayer(nn::DynamicUpdateSlice{false},
                        {x, MakeTensor(Type::kFloat32, {4, 3}), MakeTensor(Type::kInt32, {2}), x}),
               2, {5, 2});
  nn::DynamicSlice slice;
  slice.dimensions = {{3, false, false}, {1, false, true}};
  ExpectPlaces(OneLayer(slice, {x, MakeTensor(Type::kInt32, {2}), MakeTensor(Type::kFloat32, {3})}),
               1, {6, 4});
}

TEST(InputMaker, MakesTheShapeThatALayerWants) {
  nn::TransposeConv conv;
  conv.shape = {1, 4, 6, 2};
  conv.stride = {2, 2};
  conv.padding = nn::Padding::Same();
  nn::Tensor filter = MakeConstant<int8_t>({2, 2, 2, 1}, std::vector<int8_t>(8, 1));
  filter.quantization = nn::PerTensor(0.5f, 0);
  nn::Graph graph = MakeGraph(
      {MakeTensor(Type::kInt8, {1, 2, 3, 1}, 0.5f), filter, MakeTensor(Type::kInt32, {2, 2}),
       MakeTensor(Type::kInt32, {4}), MakeTensor(Type::kInt8, {1, 4, 6, 2}, 0.5f)},
      {nn::Layer{nn::Reshape{{4}}, {2}, {3}, ""},
       nn::Layer{conv, {0, 1, nn::kNoTensor, 3}, {4}, ""}});
  const std::vector<int32_t> made = RunOnMade<int32_t>(graph, 1);
  ASSERT_GE(made.size(), 4u);
  EXPECT_EQ(std::vector<int32_t>(made.begin(), made.begin() + 4),
            (std::vector<int32_t>{1, 4, 6, 2}));
}

TEST(InputMaker, StaysInTheDomain) {
  const nn::Tensor bytes = MakeTensor(Type::kInt8, {64}, 0.5f, -3);
  for (const int8_t x : RunOnMade<int8_t>(OneLayer(nn::Sqrt{}, {bytes, bytes}), 0))
    EXPECT_GE(x, -3);
  for (const int8_t x : RunOnMade<int8_t>(OneLayer(nn::Rsqrt{}, {bytes, bytes}), 0)) {
    EXPECT_GT(x, -3);
  }
  const nn::Tensor reals = MakeTensor(Type::kFloat32, {64});
  for (const float x : RunOnMade<float>(OneLayer(nn::Log{}, {reals, reals}), 0)) {
    EXPECT_GT(x, 0);
    EXPECT_LT(x, 2);
  }
  for (const float x : RunOnMade<float>(OneLayer(nn::Div{}, {reals, reals, reals}), 1)) {
    EXPECT_GT(x, 0);
  }
  const nn::Tensor quantized = MakeTensor(Type::kUInt8, {64}, 1, 128);
  for (const uint8_t x :
       RunOnMade<uint8_t>(OneLayer(nn::Div{}, {quantized, quantized, quantized}), 1)) {
    EXPECT_GT(x, 128);
  }
  const nn::Tensor whole = MakeTensor(Type::kInt32, {64});
  for (const nn::Operator& op : {nn::Operator(nn::FloorDiv{}), nn::Operator(nn::FloorMod{})}) {
    for (const int32_t x : RunOnMade<int32_t>(OneLayer(op, {whole, whole, whole}), 1)) {
      EXPECT_GT(x, 0);
    }
  }
  for (const int32_t x : RunOnMade<int32_t>(OneLayer(nn::Pow{}, {whole, whole, whole}), 1)) {
    EXPECT_GE(x, 0);
    EXPECT_LE(x, 15);
  }
}

// The made input goes through other layers before it becomes an index below 5.
TEST(InputMaker, LooksBackThroughLayers) {
  const nn::Tensor index = MakeTensor(Type::kInt32, {8});
  const nn::Tensor out = MakeTensor(Type::kInt8, {8, 3}, 0.5f);
  const auto through = [&](nn::Layer layer, nn::Tensor first, nn::Tensor second) {
    return MakeGraph({kTable, std::move(first), std::move(second), index, out},
                     {std::move(layer), nn::Layer{nn::Gather{0, 0}, {0, 3}, {4}, ""}});
  };
  const nn::Tensor twos = MakeConstant<int32_t>({}, {2});
  const nn::Tensor few = MakeConstant<int32_t>({8}, {1, 2, 1, 2, 1, 2, 1, 2});
  const nn::Graph reshaped =
      through({nn::Reshape{{8}}, {1}, {3}, ""}, MakeTensor(Type::kInt32, {2, 4}), twos);
  ExpectIndices<int32_t>(reshaped, 1, 5);
  ExpectRange(through({nn::Add{}, {1, 2}, {3}, ""}, index, few), 1, -1, 2);
  ExpectRange(through({nn::Sub{}, {1, 2}, {3}, ""}, index, few), 1, 2, 5);
  ExpectRange(through({nn::Sub{}, {2, 1}, {3}, ""}, index, few), 1, -2, 1);
  ExpectRange(through({nn::Mul{}, {1, 2}, {3}, ""}, index, few), 1, 0, 2);
  const nn::Graph thirds =
      through({nn::Mul{}, {1, 2}, {3}, ""}, index, MakeConstant<int32_t>({}, {3}));
  const std::vector<int32_t> made = RunOnMade<int32_t>(thirds, 1);
  EXPECT_EQ(std::set<int32_t>(made.begin(), made.end()), (std::set<int32_t>{0, 1}))
      << "3 times 4 / 3 is rounded down";
  ExpectRange(through({nn::Add{}, {1, 2}, {3}, ""}, index, index), 2, 0, 2);
  ExpectRange(through({nn::Mul{}, {1, 2}, {3}, ""}, index, index), 2, 0, 2);
  ExpectRange(through({nn::Maximum{}, {1, 2}, {3}, ""}, index, index), 2, 0, 4);
  const nn::Graph cast = through({nn::Cast{}, {1}, {3}, ""}, MakeTensor(Type::kFloat32, {8}), twos);
  ExpectRange(cast, 1, 0, 4);
  EXPECT_FALSE(RunOnMade<float>(cast, 1).empty());
}

// The constants are further apart than the indices, so no number suits all elements.
TEST(InputMaker, LooksBackThroughConstantsThatAreFarApart) {
  const nn::Tensor index = MakeTensor(Type::kInt32, {2});
  const nn::Tensor far = MakeConstant<int32_t>({2}, {1, 10});
  const auto through = [&](const nn::Operator& op, std::vector<nn::TensorId> inputs) {
    return MakeGraph(
        {kTable, index, far, index, MakeTensor(Type::kInt8, {2, 3}, 0.5f)},
        {nn::Layer{op, std::move(inputs), {3}, ""}, nn::Layer{nn::Gather{0, 0}, {0, 3}, {4}, ""}});
  };
  ExpectRange(through(nn::Add{}, {1, 2}), 1, -6, -1);
  ExpectRange(through(nn::Sub{}, {1, 2}), 1, 5, 10);
  ExpectRange(through(nn::Sub{}, {2, 1}), 1, 1, 6);
  const nn::Graph product =
      MakeGraph({kTable, index, far, index, MakeConstant<int32_t>({}, {10}), index,
                 MakeTensor(Type::kInt8, {2, 3}, 0.5f)},
                {nn::Layer{nn::Mul{}, {1, 2}, {3}, ""}, nn::Layer{nn::Sub{}, {3, 4}, {5}, ""},
                 nn::Layer{nn::Gather{0, 0}, {0, 5}, {6}, ""}});
  ExpectRange(product, 1, 14.0 / 10, 10);
}

TEST(InputMaker, IntervalsMeetInEitherOrder) {
  const auto meet = [](Interval a, const Interval& b) {
    a.Meet(b);
    return std::pair(a.low, a.high);
  };
  const Interval backwards = {3, -7};
  EXPECT_EQ(meet({}, backwards), std::pair(-7.0, 3.0));
  EXPECT_EQ(meet({0, 9}, backwards), std::pair(0.0, 3.0));
  EXPECT_EQ(meet({5, 9}, backwards), std::pair(3.0, 3.0));
  EXPECT_EQ(meet({-9, -8}, backwards), std::pair(-7.0, -7.0));
}

TEST(InputMaker, TriesTamerInputsWhereItCannotLookBack) {
  const nn::Tensor index = MakeTensor(Type::kInt32, {8});
  const nn::Graph graph =
      MakeGraph({kTable, index, index, MakeTensor(Type::kInt8, {8, 3}, 0.5f)},
                {nn::Layer{nn::Abs{}, {1}, {2}, ""}, nn::Layer{nn::Gather{0, 0}, {0, 2}, {3}, ""}});
  for (const int32_t x : RunOnMade<int32_t>(graph, 1)) EXPECT_LE(std::abs(x), 4);
}

TEST(InputMaker, SaysWhatCannotBeComputed) {
  const nn::Tensor index = MakeTensor(Type::kInt32, {2});
  const nn::Graph graph = MakeGraph(
      {MakeConstant<int32_t>({2}, {7, 7}), kTable, index, index,
       MakeTensor(Type::kInt8, {2, 3}, 0.5f)},
      {nn::Layer{nn::Maximum{}, {0, 2}, {3}, ""}, nn::Layer{nn::Gather{0, 0}, {1, 3}, {4}, ""}});
  Result<nn::Model> model = nn::Model::Prepare(graph);
  ASSERT_TRUE(model.ok()) << model.status().message();
  Buffers buffers(*model);
  InputMaker maker(*model, {false, false});
  const std::string message = maker.Run(1, *model, buffers).message();
  EXPECT_NE(message.find("the index"), std::string::npos) << message;
  EXPECT_NE(message.find("give some with --input"), std::string::npos) << message;
  InputMaker all_given(*model, {true, true});
  EXPECT_EQ(all_given.Run(1, *model, buffers).message().find("--input"), std::string::npos);
}

TEST(InputMaker, LoopsRunFewRounds) {
  const nn::Tensor counter = MakeTensor(Type::kInt32, {1});
  const auto condition = std::make_shared<nn::Graph>(OneLayer(
      nn::Less{}, {counter, MakeConstant<int32_t>({1}, {10}), MakeTensor(Type::kBool, {1})}));
  const auto body = std::make_shared<nn::Graph>(
      OneLayer(nn::Add{}, {counter, MakeConstant<int32_t>({1}, {1}), counter}));
  const nn::Graph graph = OneLayer(nn::While{condition, body}, {counter, counter});
  ExpectRange(graph, 0, 0, 9);
  EXPECT_FALSE(RunOnMade<int32_t>(graph, 0).empty());
}

TEST(InputMaker, LeavesGivenInputs) {
  const nn::Tensor reals = MakeTensor(Type::kFloat32, {4});
  Result<nn::Model> model = nn::Model::Prepare(OneLayer(nn::Add{}, {reals, reals, reals}));
  ASSERT_TRUE(model.ok()) << model.status().message();
  Buffers buffers(*model);
  buffers.inputs[1].assign(16, 0x11);
  const std::vector<uint8_t> zeros(16);
  InputMaker maker(*model, {false, true});
  ASSERT_TRUE(maker.Run(1, *model, buffers).ok());
  EXPECT_EQ(buffers.inputs[1], std::vector<uint8_t>(16, 0x11));
  EXPECT_NE(buffers.inputs[0], zeros);
}

}  // namespace
}  // namespace intaglio::tools
