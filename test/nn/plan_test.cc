#include "intaglio/nn/plan.h"

#include <limits>

#include "intaglio/test/nn/testing.h"

namespace intaglio::nn {
namespace {

bool Meet(int first_a, int last_a, int first_b, int last_b) {
  return first_a <= last_b && first_b <= last_a;
}

TEST(PlaceBlocks, LivingBlocksDoNotOverlap) {
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<Block> blocks;
    size_t most = 0;  // bytes alive at one step: no plan needs less
    size_t total = 0;
    for (int i = random.Int(0, 40); i > 0; --i) {
      const int first = random.Int(0, 20);
      const size_t bytes = static_cast<size_t>(random.Int(0, 10)) * kArenaAlignment;
      blocks.push_back({bytes, first, first + random.Int(0, 6), 0});
      total += bytes;
    }
    for (int step = 0; step < 30; ++step) {
      size_t alive = 0;
      for (const Block& b : blocks) alive += b.first <= step && step <= b.last ? b.bytes : 0;
      most = std::max(most, alive);
    }
    const Result<size_t> arena = PlaceBlocks(blocks);
    ASSERT_TRUE(arena.ok());
    EXPECT_GE(*arena, most);
    EXPECT_LE(*arena, total);
    for (size_t i = 0; i < blocks.size(); ++i) {
      EXPECT_EQ(blocks[i].offset % kArenaAlignment, 0u);
      EXPECT_LE(blocks[i].offset + blocks[i].bytes, *arena);
      for (size_t j = 0; j < i; ++j) {
        if (!Meet(blocks[i].first, blocks[i].last, blocks[j].first, blocks[j].last)) continue;
        EXPECT_TRUE(blocks[i].offset >= blocks[j].offset + blocks[j].bytes ||
                    blocks[j].offset >= blocks[i].offset + blocks[i].bytes);
      }
    }
  }
}

TEST(PlaceBlocks, TakesTheSmallestGapThatFits) {
  constexpr size_t kUnit = kArenaAlignment;
  // 9 and 8 leave, once 5 and 2 are over, gaps of 5 and 2 beside them; a block of 2 takes the
  // latter.
  std::vector<Block> blocks = {{9 * kUnit, 0, 9, 0}, {8 * kUnit, 0, 9, 0}, {5 * kUnit, 0, 3, 0},
                               {4 * kUnit, 0, 9, 0}, {2 * kUnit, 0, 3, 0}, {1 * kUnit, 0, 9, 0},
                               {2 * kUnit, 5, 6, 0}};
  ASSERT_EQ(*PlaceBlocks(blocks), 29 * kUnit);
  EXPECT_EQ(blocks[6].offset, 17 * kUnit);  // placed before the 1 is
  EXPECT_EQ(blocks[5].offset, 28 * kUnit);
}

TEST(PlaceBlocks, RefusesWhatCannotBeAddressed) {
  const size_t half = static_cast<size_t>(std::numeric_limits<ptrdiff_t>::max()) / 2 + 1;
  std::vector<Block> blocks = {{half / 64 * 64, 0, 1, 0}, {half / 64 * 64, 0, 1, 0}};
  EXPECT_EQ(PlaceBlocks(blocks).status().code(), StatusCode::kOutOfMemory);
}

// A graph of random layers on [1, 4, 4, 2] tensors: the plan must not disturb any result.
struct RandomGraph {
  Builder builder;
  std::vector<Q> inputs;

  explicit RandomGraph(Random& random) {
    std::vector<Value> values;
    for (int i = random.Int(1, 3); i > 0; --i) {
      inputs.push_back(random.Tensor(Type::kInt8, {1, 4, 4, 2}));
      values.push_back(Input(builder, inputs.back()));
    }
    for (int i = random.Int(1, 25); i > 0; --i) values.push_back(AddLayer(random, values));
    builder.Output(values.back(), "last");
    for (int i = random.Int(0, 2); i > 0; --i) builder.Output(random.Of(values), "another");
  }

 private:
  Value AddLayer(Random& random, const std::vector<Value>& values) {
    const Value x = random.Of(values);
    const Quantization q = PerTensor(random.Scale(0.02, 0.1), random.Int(-20, 20));
    switch (random.Int(0, 6)) {
      case 0:
        return builder.Add(x, random.Of(values), {}, q);
      case 1:
        return builder.Relu(x, q);
      case 2:
        return builder.Reshape(builder.Reshape(x, {8, 4}), {1, 4, 4, 2});
      case 3:
        return builder.MaxPool2D(x, {{3, 3}, {1, 1}, Padding::Same(), Activation::kNone});
      case 4: {
        const Constant filter =
            builder.Const<int8_t>("f", {1, -2, 3, 4}, {2, 1, 1, 2}, PerTensor(0.3f, 0));
        return builder.Conv2D(x, filter, kNoBias, {}, q);
      }
      case 5: {
        const Value halves[] = {Half(x, q), Half(random.Of(values), q)};
        return builder.Concatenation(halves, {1, Activation::kNone}, q);
      }
      default:
        return builder.Tanh(x);
    }
  }

  // [1, 2, 4, 2]
  Value Half(Value x, const Quantization& q) {
    return builder.Relu(builder.MaxPool2D(x, {{2, 1}, {2, 1}, Padding::Same(), Activation::kNone}),
                        q);
  }
};

std::vector<std::vector<std::byte>> Outputs(Model& model, const std::vector<Q>& inputs) {
  std::vector<std::vector<std::byte>> in;
  std::vector<std::vector<std::byte>> out;
  std::vector<InputBuffer> in_buffers;
  std::vector<OutputBuffer> out_buffers;
  for (const Q& q : inputs) in.push_back(Bytes(q.type, q.values));
  for (const auto& bytes : in) in_buffers.push_back({bytes.data(), bytes.size(), Type::kInt8});
  for (size_t i = 0; i < model.output_count(); ++i) {
    out.emplace_back(*CountBytes(model.output(i).shape, model.output(i).type));
  }
  for (auto& bytes : out) out_buffers.push_back({bytes.data(), bytes.size(), Type::kInt8});
  EXPECT_TRUE(model.Run(in_buffers, out_buffers).ok());
  return out;
}

TEST(PlanMemory, ChangesNoResult) {
  Random random(2);
  int in_place = 0;
  for (int round = 0; round < 200; ++round) {
    RandomGraph random_graph(random);
    Result<Graph> graph = random_graph.builder.Finish();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    Result<Model> planned = Model::Prepare(*graph);
    Result<Model> apart = Model::Prepare(*graph, {.keep_all_tensors = true});
    ASSERT_TRUE(planned.ok() && apart.ok());
    EXPECT_LE(planned->arena_bytes(), apart->arena_bytes());
    for (const LayerInfo& layer : planned->layers()) in_place += layer.in_place ? 1 : 0;
    for (const LayerInfo& layer : apart->layers()) EXPECT_FALSE(layer.in_place);
    const auto expected = Outputs(*apart, random_graph.inputs);
    ASSERT_EQ(Outputs(*planned, random_graph.inputs), expected);
    ASSERT_EQ(Outputs(*planned, random_graph.inputs), expected) << "in the second run";
  }
  EXPECT_GT(in_place, 100);
}

bool Inside(const Placement& a, const Placement& b) {
  return b.offset <= a.offset && a.offset + a.bytes <= b.offset + b.bytes;
}

TEST(PlanMemory, PlacementsOfLivingTensorsOverlapOnlyInPlace) {
  Random random(3);
  for (int round = 0; round < 100; ++round) {
    RandomGraph random_graph(random);
    Result<Model> model = Model::Prepare(*random_graph.builder.Finish());
    ASSERT_TRUE(model.ok());
    for (const Placement& a : model->placements()) {
      EXPECT_LE(a.offset + a.bytes, model->arena_bytes());
      for (const Placement& b : model->placements()) {
        // A tensor that dies where the other is born may give it its memory, aliases share one, and
        // operands lie in the result of their concatenation.
        if (a.tensor >= b.tensor || a.offset == b.offset) continue;
        if (!Meet(a.first, a.last, b.first, b.last)) continue;
        if (Inside(a, b) || Inside(b, a)) continue;
        EXPECT_TRUE(a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset);
      }
    }
  }
}

TEST(PlanMemory, AChainOfElementwiseLayersNeedsOneBlock) {
  Builder b;
  Value x = b.Input("x", Type::kInt8, {1000}, PerTensor(1, 0));
  for (int i = 0; i < 5; ++i) x = b.Reshape(b.Relu(x, PerTensor(1, 0)), {10, 100});
  b.Output(x, "y");
  const Result<Model> model = Model::Prepare(*b.Finish());
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->arena_bytes(), 1024u);
  for (const LayerInfo& layer : model->layers()) EXPECT_TRUE(layer.in_place) << layer.label;
}

TEST(PlanMemory, InPlaceOnlyWhereTheInputIsNotReadLater) {
  Builder b;
  const Value x = b.Input("x", Type::kInt8, {1000}, PerTensor(1, 0));
  const Value y = b.Relu(x, PerTensor(1, 0));
  const Value alias = b.Reshape(x, {10, 100});
  b.Output(b.Add(alias, b.Reshape(y, {10, 100}), {}, PerTensor(1, 0)), "z");
  const Result<Model> model = Model::Prepare(*b.Finish());
  ASSERT_TRUE(model.ok());
  EXPECT_FALSE(model->layers()[0].in_place);
  EXPECT_TRUE(model->layers()[1].in_place);
  EXPECT_TRUE(model->layers()[3].in_place);
  EXPECT_EQ(model->arena_bytes(), 2048u);
}

TEST(PlanMemory, OperandsLieInTheResultsOfConcatenations) {
  Builder b;
  const Quantization q = PerTensor(1, 0);
  const Value x = b.Input("x", Type::kInt8, {1, 1000}, q);
  const Value inner[] = {b.Relu(x, q), b.Relu6(x, q)};
  const Value outer[] = {b.Concatenation(inner, {1, Activation::kNone}, q), b.Relu(x, q)};
  b.Output(b.Concatenation(outer, {-1, Activation::kNone}, q), "y");
  const Result<Model> model = Model::Prepare(*b.Finish());
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->arena_bytes(), 1024u + 3008u);
  for (const LayerInfo& layer : model->layers()) {
    EXPECT_EQ(layer.in_place, layer.operator_name == "CONCATENATION") << layer.label;
  }
}

TEST(PlanMemory, JoinsOnlyWhatIsOnePieceAndIsWrittenOnce) {
  Builder b;
  const Quantization q = PerTensor(1, 0);
  const Value x = b.Input("x", Type::kInt8, {2, 500}, q);
  const Value y = b.Relu(x, q);
  const Value apart[] = {y, b.Relu6(x, q)};  // rows alternate
  const Value twice[] = {y, y};              // one memory, two places
  const Value input[] = {x, b.Relu6(x, q)};  // the caller's
  b.Output(b.Concatenation(apart, {1, Activation::kNone}, q), "apart");
  b.Output(b.Concatenation(twice, {0, Activation::kNone}, q), "twice");
  b.Output(b.Concatenation(input, {0, Activation::kNone}, q), "input");
  const Result<Model> model = Model::Prepare(*b.Finish());
  ASSERT_TRUE(model.ok());
  for (const LayerInfo& layer : model->layers()) EXPECT_FALSE(layer.in_place) << layer.label;
}

TEST(PlanMemory, RefusesAnArenaOverTheLimit) {
  Builder b;
  const int rows = 1 << (sizeof(size_t) > 4 ? 28 : 0);
  const Value x = b.Input("x", Type::kInt8, {rows, 1 << 30}, PerTensor(1, 0));
  b.Output(b.Relu(x, PerTensor(1, 0)), "y");
  Result<Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok());
  const Result<Model> model = Model::Prepare(*graph, {.max_arena_bytes = 1 << 20});
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.status().message(), "the model needs an arena of " +
                                          std::to_string(int64_t{rows} << 30) +
                                          " bytes, but 1048576 are allowed");
}

}  // namespace
}  // namespace intaglio::nn
