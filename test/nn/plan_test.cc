#include <ctime>
#include <limits>

#include "intaglio/nn/routine/memory_plan.h"
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

// Without visits left, blocks lie one behind the other.
TEST(PlaceBlocks, StopsLookingForGaps) {
  std::vector<Block> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back({kArenaAlignment, i, i, 0});
  std::vector<Block> some = blocks;
  int64_t visits_left = 50;
  const Result<size_t> arena = PlaceBlocks(some, visits_left);
  ASSERT_TRUE(arena.ok());
  EXPECT_GT(*arena, *PlaceBlocks(blocks));
  EXPECT_LT(*arena, 100 * kArenaAlignment);
  for (size_t i = 1; i < some.size(); ++i) {
    EXPECT_TRUE(some[i].offset == 0 || some[i].offset > some[i - 1].offset);
  }
}

// A chain of layers takes visits in proportion to its length.
TEST(PlaceBlocks, VisitsOnlyBlocksThatMayMeet) {
  std::vector<Block> blocks;
  constexpr int kLayers = 20'000;
  for (int i = 0; i < kLayers; ++i) blocks.push_back({64u * (i % 100 + 1u), i - 1, i, 0});
  blocks.push_back({64, -1, kLayers, 0});
  int64_t visits_left = kMostVisits;
  ASSERT_TRUE(PlaceBlocks(blocks, visits_left).ok());
  EXPECT_GT(visits_left, kMostVisits - 40 * kLayers);
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
    switch (random.Int(0, 7)) {
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
      case 6: {
        const Value channels[] = {Channel(x, q), Channel(random.Of(values), q)};
        return builder.Concatenation(channels, {3, Activation::kNone}, q);
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

  // [1, 4, 4, 1]
  Value Channel(Value x, const Quantization& q) {
    const Constant filter = builder.Const<int8_t>("f", {5, -6}, {1, 1, 1, 2}, PerTensor(0.3f, 0));
    return builder.Conv2D(x, filter, kNoBias, {}, q);
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

// Whether two tensors lie in other bytes of the same lines.
bool LinesInterleave(const Graph& graph, const Placement& a, const Placement& b) {
  if (a.stride == 0 || a.stride != b.stride) return false;
  if (a.offset > b.offset) return LinesInterleave(graph, b, a);
  const size_t distance = (b.offset - a.offset) % a.stride;
  const auto line = [&](const Placement& p) {
    return static_cast<size_t>(LineBytes(graph.tensors[static_cast<size_t>(p.tensor)]));
  };
  return line(a) <= distance && distance + line(b) <= a.stride;
}

bool Inside(const Placement& a, const Placement& b) {
  return b.offset <= a.offset && a.offset + a.bytes <= b.offset + b.bytes;
}

TEST(PlanMemory, PlacementsOfLivingTensorsOverlapOnlyInPlace) {
  Random random(3);
  int interleaved = 0;
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
        if (LinesInterleave(model->graph(), a, b)) {
          ++interleaved;
          continue;
        }
        if (a.stride == 0 || b.stride == 0) {
          if (Inside(a, b) || Inside(b, a)) continue;
        }
        EXPECT_TRUE(a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset);
      }
    }
  }
  EXPECT_GT(interleaved, 10);
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

// Filters of ones, as many as `channels`.
Value Conv(Builder& b, Value x, int in_channels, int channels, const Quantization& q) {
  const std::vector<int8_t> ones(static_cast<size_t>(in_channels * channels), 1);
  return b.Conv2D(x, b.Const<int8_t>("f", ones, {channels, 1, 1, in_channels}, PerTensor(1, 0)),
                  kNoBias, {}, q);
}

// The placement of output 0 of a layer.
Placement PlacementOf(const Model& model, size_t layer) {
  for (const Placement& p : model.placements()) {
    if (p.tensor == model.graph().layers[layer].outputs[0]) return p;
  }
  ADD_FAILURE() << "layer " << layer << " has no placement";
  return {};
}

TEST(PlanMemory, LinesOfOperandsLieInThoseOfResults) {
  Builder b;
  const Quantization q = PerTensor(1, 0);
  const Value x = b.Input("x", Type::kInt8, {2, 4, 4, 8}, q);
  const Value inner[] = {Conv(b, x, 8, 3, q), Conv(b, x, 8, 5, q)};
  const Value outer[] = {Conv(b, x, 8, 7, q), b.Concatenation(inner, {-1, Activation::kNone}, q)};
  b.Output(b.Concatenation(outer, {3, Activation::kNone}, q), "y");
  const Result<Model> model = Model::Prepare(*b.Finish());
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->arena_bytes(), 256u + 512u);
  const size_t start = PlacementOf(*model, 4).offset;  // of y
  EXPECT_EQ(PlacementOf(*model, 4).stride, 0u);
  const size_t offsets[] = {7, 10, 0, 7};
  const size_t lines[] = {3, 5, 7, 8};
  for (size_t i = 0; i < 4; ++i) {
    const Placement place = PlacementOf(*model, i);
    EXPECT_EQ(place.offset, start + offsets[i]) << i;
    EXPECT_EQ(place.stride, 15u) << i;
    EXPECT_EQ(place.bytes, 31 * 15 + lines[i]) << i;
  }
  EXPECT_TRUE(model->layers()[3].in_place);
  EXPECT_TRUE(model->layers()[4].in_place);
}

TEST(PlanMemory, MovesLinesApartOnlyOfWhatNothingElseReads) {
  Builder b;
  const Quantization q = PerTensor(1, 0);
  const Value x = b.Input("x", Type::kInt8, {1, 4, 4, 8}, q);
  const Value y = Conv(b, x, 8, 8, q);
  const Value z = Conv(b, x, 8, 8, q);
  const Value twice = Conv(b, x, 8, 8, q);
  const Value first[] = {y, z, twice, twice, b.Relu(x, q), x};
  b.Output(b.Concatenation(first, {3, Activation::kNone}, q), "joined");
  b.Output(b.Relu(y, q), "reader");
  b.Output(z, "z");
  const Result<Model> model = Model::Prepare(*b.Finish());
  ASSERT_TRUE(model.ok());
  for (const Placement& place : model->placements()) EXPECT_EQ(place.stride, 0u) << place.tensor;
}

// What is one piece in a result cannot be moved apart with it.
TEST(PlanMemory, PiecesOfAResultStayPieces) {
  Builder b;
  const Quantization q = PerTensor(1, 0);
  const Value x = b.Input("x", Type::kInt8, {1, 1, 4, 8}, q);
  const Value pieces[] = {Conv(b, x, 8, 8, q), Conv(b, x, 8, 8, q)};
  const Value twice[] = {x, x};
  const Value lines[] = {b.Concatenation(pieces, {2, Activation::kNone}, q),
                         Conv(b, b.Concatenation(twice, {2, Activation::kNone}, q), 8, 3, q)};
  b.Output(b.Concatenation(lines, {3, Activation::kNone}, q), "y");
  const Result<Model> model = Model::Prepare(*b.Finish());
  ASSERT_TRUE(model.ok());
  EXPECT_TRUE(model->layers()[2].in_place);
  EXPECT_EQ(PlacementOf(*model, 2).stride, 0u);
  EXPECT_EQ(PlacementOf(*model, 4).stride, 11u);
  EXPECT_FALSE(model->layers()[5].in_place);
}

// The other dimensions alone have more bytes than can be counted.
TEST(PlanMemory, JoinsNothingOfNothing) {
  Builder b;
  const Quantization q = PerTensor(1, 0);
  const Value x = b.Input("x", Type::kInt8, {0, 1 << 28, 1 << 28, 4}, q);
  const Value parts[] = {b.Relu(x, q), b.Relu6(x, q)};
  b.Output(b.Concatenation(parts, {1, Activation::kNone}, q), "y");
  const Result<Model> model = Model::Prepare(*b.Finish());
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->arena_bytes(), 0u);
}

TEST(PlanMemory, JoinsOnlyWhereThatCostsNoMemory) {
  Builder b;
  const Quantization q = PerTensor(1, 0);
  const Value x = b.Input("x", Type::kInt8, {1, 8, 8, 4}, q);
  const Value narrow = Conv(b, x, 4, 1, q);
  const Value wide = Conv(b, x, 4, 200, q);  // while the result would be there
  const Value first[] = {narrow, Conv(b, wide, 200, 100, q)};
  const Value y = b.Concatenation(first, {3, Activation::kNone}, q);
  const Value second[] = {Conv(b, y, 101, 8, q), Conv(b, y, 101, 8, q)};
  b.Output(b.Concatenation(second, {3, Activation::kNone}, q), "z");
  const Result<Model> model = Model::Prepare(*b.Finish());
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->arena_bytes(), 301u * 64);
  EXPECT_FALSE(model->layers()[3].in_place);
  EXPECT_TRUE(model->layers()[6].in_place);
}

TEST(PlanMemory, RefusesAnArenaOverTheLimit) {
  Builder b;
  const int rows = sizeof(size_t) > 4 ? 1 << 10 : 1;
  const Value x = b.Input("x", Type::kInt8, {rows, 1 << 10, 1 << 10, 1 << 10}, PerTensor(1, 0));
  b.Output(b.Relu(x, PerTensor(1, 0)), "y");
  Result<Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok());
  const Result<Model> model = Model::Prepare(*graph, {.limits = {.max_bytes = 2 << 20}});
  ASSERT_FALSE(model.ok());
  const std::string message = model.status().message();
  const std::string needed = std::to_string(int64_t{rows} << 30);
  EXPECT_EQ(message.find("the arena: " + needed + " bytes are needed beside "), 0u) << message;
  EXPECT_NE(message.find(" in use, but 2097152 are allowed (Limits::max_bytes)"), message.npos)
      << message;
}

// Each concatenation alone would cost memory: its first operand is old when it runs.
TEST(PlanMemory, TakesLittleTimeForManyConcatenations) {
  Graph graph;
  std::vector<PreparedLayer> layers;
  const auto add = [&](std::vector<TensorId> inputs, int extent) {
    const auto id = static_cast<TensorId>(graph.tensors.size());
    graph.tensors.emplace_back().shape = {extent};
    if (!inputs.empty()) {
      layers.emplace_back();
      if (inputs.size() > 1) layers.back().joined_axis = 0;
      graph.layers.emplace_back();
      graph.layers.back().inputs = std::move(inputs);
      graph.layers.back().outputs = {id};
    }
    return id;
  };
  constexpr int kCount = 2000;
  const TensorId x = add({}, 1);
  graph.inputs = {x};
  std::vector<TensorId> old;
  for (int i = 0; i < kCount; ++i) old.push_back(add({x}, 1));
  for (const TensorId id : old) graph.outputs = {add({add({id, add({x}, 999)}, 1000)}, 1)};
  const std::clock_t start = std::clock();
  const Result<MemoryPlan> plan = PlanMemory(graph, layers, false);
  ASSERT_TRUE(plan.ok());
  EXPECT_LT(std::clock() - start, 60 * CLOCKS_PER_SEC);  // a second; without a bound, five minutes
  EXPECT_LT(plan->arena_bytes, (kCount + 64) * kArenaAlignment);
}

// The scatter permutes its input: each element is an update of another one, so it must stay until
// it has been read.
TEST(PlanMemory, NoScatterTakesThePlaceOfItsUpdatesOrIndices) {
  const Q x{Type::kInt8, {4}, 1, 0, {1, 2, 3, 4}};
  const Q i{Type::kInt32, {4}, 1, 0, {1, 0, 3, 2}};
  for (const bool reshaped : {false, true}) {
    Builder b;
    const Value value = b.Relu(Input(b, x), PerTensor(1, 0));
    const Value updates = reshaped ? b.Reshape(b.Reshape(value, {2, 2}), {4}) : value;
    const Constant indices = b.Const<int32_t>("i", i.values, {4});
    b.Output(b.Layer(ScatterElements{}, {value.id, indices.id, updates.id}, Type::kInt8,
                     PerTensor(1, 0)),
             "y");
    const Result<Graph> graph = b.Finish();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    Result<Model> model = Model::Prepare(*graph);
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_FALSE(model->layers().back().in_place);
    EXPECT_EQ(Ints(Type::kInt8, Outputs(*model, {x})[0]), (std::vector<int>{2, 1, 4, 3}));
  }
  Builder b;
  const Value place = b.Input("i", Type::kInt32, {4});
  const Value ones = b.Layer(Abs{}, {place.id}, Type::kInt32, {});
  const Constant updates = b.Const<int32_t>("u", {3, 3, 3, 3}, {4});
  b.Output(b.Layer(ScatterElements{}, {ones.id, ones.id, updates.id}, Type::kInt32, {}), "y");
  const Result<Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  Result<Model> model = Model::Prepare(*graph);
  ASSERT_TRUE(model.ok()) << model.status().message();
  const std::vector<int32_t> in = {1, 2, 0, 0};
  std::vector<int32_t> out(4);
  const InputBuffer inputs[] = {MakeInput(in)};
  const OutputBuffer outputs[] = {MakeOutput(out)};
  ASSERT_TRUE(model->Run(inputs, outputs).ok());
  EXPECT_EQ(out, (std::vector<int32_t>{3, 3, 3, 0}));
}

// The sum of a concatenation and a part of it, row by row. If it were written over the whole, its
// first row would change the part that the other rows still need.
TEST(PlanMemory, NoSumTakesThePlaceOfAConcatenationThatItReadsAPartOf) {
  Builder b;
  const Quantization q = PerTensor(1, 0);
  const Q x{Type::kInt8, {1, 100}, 1, 0, std::vector<int>(100, 5)};
  const Value part = b.Relu(Input(b, x), q);
  const Value parts[] = {part, b.Add(part, part, {}, q), b.Relu6(part, q)};
  const Value whole = b.Concatenation(parts, {0, Activation::kNone}, q);
  b.Output(b.Add(whole, part, {}, q), "y");
  const Result<Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  Result<Model> planned = Model::Prepare(*graph);
  Result<Model> apart = Model::Prepare(*graph, {.keep_all_tensors = true});
  ASSERT_TRUE(planned.ok() && apart.ok());
  EXPECT_TRUE(planned->layers()[3].in_place) << "the concatenation is joined";
  EXPECT_FALSE(planned->layers()[4].in_place);
  EXPECT_EQ(Outputs(*planned, {x}), Outputs(*apart, {x}));
}

// Weights, biases and the layer with the largest tensors, 3000 bytes.
TEST(EstimateBytes, IsNearWhatAModelTakes) {
  Builder b;
  Value x = b.Input("x", Type::kInt8, {1, 1000}, PerTensor(1, 0));
  int depth = 1000;
  for (const int channels : {2000, 1000, 50}) {
    const std::vector<int8_t> weights(static_cast<size_t>(channels * depth), 1);
    const std::vector<int32_t> bias(static_cast<size_t>(channels), 1);
    x = b.FullyConnected(x, b.Const<int8_t>("w", weights, {channels, depth}, PerTensor(0.01f, 0)),
                         b.Const<int32_t>("b", bias, {channels}, PerTensor(0.01f, 0)), {},
                         PerTensor(1, 0));
    depth = channels;
  }
  b.Output(x, "y");
  Result<Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok());
  const size_t estimate = EstimateBytes(*graph);
  const Result<Model> model = Model::Prepare(std::move(*graph));
  ASSERT_TRUE(model.ok());
  const size_t takes = model->constant_bytes() + model->arena_bytes();
  EXPECT_GT(estimate, takes - takes / 20);
  EXPECT_LT(estimate, takes + takes / 20);
}

// Large arenas have pages of their own, and nothing is added up that could overflow.
TEST(EstimateBytes, LeavesOutLargeTensors) {
  Builder b;
  constexpr int kSide = sizeof(size_t) == 8 ? 1 << 15 : 1 << 10;
  const Value x = b.Input("x", Type::kInt8, {kSide, kSide, kSide}, PerTensor(1, 0));
  b.Output(b.Add(x, x, {}, PerTensor(1, 0)), "y");
  Result<Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ(EstimateBytes(*graph), 0u);
}

}  // namespace
}  // namespace intaglio::nn
