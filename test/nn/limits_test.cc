// What a model may take of memory and time. It is charged before it is allocated, and refused above
// a limit.
#include "intaglio/nn/graph/limits.h"

#include <atomic>
#include <functional>

#include "intaglio/gemm/context.h"
#include "intaglio/nn/graph/align_constants.h"
#include "intaglio/nn/graph/cost.h"
#include "intaglio/nn/graph/ledger.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/routine/prepare.h"
#include "intaglio/nn/routine/program.h"
#include "intaglio/nn/runtime/backend.h"
#include "intaglio/test/nn/count_allocations.h"
#include "intaglio/test/nn/testing.h"

namespace intaglio::nn {
namespace {

TEST(Ledger, TakesWhatIsAllowed) {
  Ledger ledger({.max_bytes = 100}, 0);
  EXPECT_TRUE(ledger.Charge(60).ok());
  EXPECT_EQ(ledger.Charge(41).message(),
            "41 bytes are needed beside 60 in use, but 100 are allowed (Limits::max_bytes)");
  EXPECT_EQ(ledger.taken(), 60u);
  EXPECT_TRUE(ledger.Charge(40).ok());
  ledger.Return(50);
  EXPECT_TRUE(ledger.Charge(50).ok());
  EXPECT_FALSE(ledger.Charge(SIZE_MAX).ok());
}

TEST(Ledger, GrowsWithTheModelByDefault) {
  EXPECT_GE(Ledger({}, 0).most(), SIZE_MAX / 2 > (uint64_t{4} << 30) ? uint64_t{4} << 30 : 0);
  EXPECT_EQ(Ledger({}, 1000).most(), Ledger({}, 0).most() + 16'000);
  EXPECT_EQ(Ledger({}, SIZE_MAX).most(), SIZE_MAX);
}

Result<Model> PrepareOne(const std::function<Value(Builder&)>& make, const Limits& limits) {
  Builder b;
  b.Output(make(b), "y");
  Result<Graph> graph = b.Finish();
  if (!graph.ok()) return graph.status();
  return Model::Prepare(std::move(*graph), {.limits = limits});
}

// The taps of a resize take sixteen times the bytes of its output.
TEST(Limits, TablesOfAResize) {
  const auto resize = [](Builder& b) {
    const Value x = b.Input("x", Type::kInt8, {1, 2, 2, 1}, PerTensor(1, 0));
    return b.Layer(ResizeBilinear{.height = 1, .width = 20'000'000}, {x.id}, Type::kInt8,
                   PerTensor(1, 0));
  };
  const Result<Model> model = PrepareOne(resize, {.max_bytes = 100 << 20});
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.status().code(), StatusCode::kOutOfMemory);
  EXPECT_NE(model.status().message().find("RESIZE_BILINEAR #0"), std::string::npos)
      << model.status().message();
}

TEST(Limits, TheListsOfOtherMoves) {
  const auto mirror = [](Builder& b) {
    const Value x = b.Input("x", Type::kInt8, {10'000'000, 1}, PerTensor(1, 0));
    return b.Layer(MirrorPad{.paddings = {{1, 1}, {0, 0}}}, {x.id}, Type::kInt8, PerTensor(1, 0));
  };
  EXPECT_EQ(PrepareOne(mirror, {.max_bytes = 100 << 20}).status().code(), StatusCode::kOutOfMemory);
}

constexpr int kDepth = 128;

Graph LayersOfOneConstant(int layers) {
  Builder b;
  const Value x = b.Input("x", Type::kInt8, {1, kDepth}, PerTensor(0.5f, 0));
  std::vector<int8_t> numbers;
  for (int i = 0; i < kDepth * kDepth; ++i)
    numbers.push_back(static_cast<int8_t>(i * 37 % 255 - 127));
  const Constant w = b.Const<int8_t>("w", numbers, {kDepth, kDepth}, PerTensor(0.25f, 0));
  for (int i = 0; i < layers; ++i) {
    b.Output(b.FullyConnected(x, w, kNoBias, {}, PerTensor(32, i)), "y" + std::to_string(i));
  }
  return *b.Finish();
}

TEST(Limits, WeightsOfManyLayersArePackedOnce) {
  const size_t one = Model::Prepare(LayersOfOneConstant(1))->constant_bytes();
  const size_t ten = Model::Prepare(LayersOfOneConstant(10))->constant_bytes();
  EXPECT_GE(one, size_t{kDepth} * kDepth);
  EXPECT_LT(ten - one, 9 * one / 2);
  Result<Model> model = Model::Prepare(LayersOfOneConstant(2));
  std::vector<int8_t> x(kDepth, 3);
  std::vector<int8_t> y(kDepth);
  std::vector<int8_t> z(kDepth);
  const InputBuffer in[] = {MakeInput(x)};
  const OutputBuffer out[] = {MakeOutput(y), MakeOutput(z)};
  ASSERT_TRUE(model->Run(in, out).ok());
  for (size_t i = 0; i < z.size(); ++i) {
    if (y[i] == 127) continue;
    EXPECT_EQ(z[i], y[i] + 1);  // their zero points are 0 and 1
  }
}

// A layer with the inputs x [2, 4, 4, channels] and the constant w.
struct ConstantUser {
  const char* name;
  Operator op;
  Type type;
  int channels;
  Shape shape;    // of w
  int pipelines;  // channels whose parameters each layer keeps
};

std::vector<ConstantUser> ConstantUsers() {
  const TransposeConv transpose_conv{.shape = {2, 8, 8, 64}, .stride = {2, 2}};
  const DepthwiseConv2D depthwise{.padding = Padding::Same()};
  return {
      {"int8 TRANSPOSE_CONV", transpose_conv, Type::kInt8, 64, {64, 2, 2, 64}, 256},
      {"float TRANSPOSE_CONV", transpose_conv, Type::kFloat32, 64, {64, 2, 2, 64}, 0},
      {"int8 DEPTHWISE_CONV_2D", depthwise, Type::kInt8, 64, {1, 12, 12, 64}, 64},
      {"one channel", depthwise, Type::kInt8, 1, {1, 12, 12, 64}, 64},
      {"float DEPTHWISE_CONV_2D", depthwise, Type::kFloat32, 64, {1, 12, 12, 64}, 0},
      {"hybrid BATCH_MATMUL", BatchMatMul{}, Type::kFloat32, 64, {64, 256}, 0},
  };
}

Graph LayersOf(const ConstantUser& user, int layers) {
  Builder b;
  const bool real = user.type == Type::kFloat32;
  const Value x =
      b.Input("x", user.type, {2, 4, 4, user.channels}, real ? Quantization() : PerTensor(0.5f, 3));
  std::vector<int8_t> numbers;
  for (int64_t i = 0; i < *CountElements(user.shape); ++i) {
    numbers.push_back(static_cast<int8_t>(i * 37 % 255 - 127));
  }
  const bool hybrid = real && user.shape.size() == 2;
  const Constant w = real && !hybrid
                         ? b.Const<float>("w", {numbers.begin(), numbers.end()}, user.shape)
                         : b.Const<int8_t>("w", numbers, user.shape, PerTensor(0.25f, 0));
  for (int i = 0; i < layers; ++i) {
    const Quantization out = real ? Quantization() : PerTensor(64, 1);
    b.Output(b.Layer(user.op, {x.id, w.id}, user.type, out), "y" + std::to_string(i));
  }
  return *b.Finish();
}

// The bytes of every output. Equal graphs get equal inputs.
std::vector<std::vector<uint8_t>> Outputs(Model& model) {
  const Tensor& x = model.input(0);
  std::vector<float> real;
  std::vector<int8_t> bytes;
  for (int64_t i = 0; i < *CountElements(x.shape); ++i) {
    real.push_back(static_cast<float>(i % 17) - 8);
    bytes.push_back(static_cast<int8_t>(i % 17 - 8));
  }
  const InputBuffer in[] = {x.type == Type::kFloat32 ? MakeInput(real) : MakeInput(bytes)};
  std::vector<std::vector<uint8_t>> outputs;
  std::vector<OutputBuffer> out;
  for (size_t i = 0; i < model.output_count(); ++i) {
    outputs.emplace_back(*CountBytes(model.output(i).shape, model.output(i).type));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    out.push_back({outputs[i].data(), outputs[i].size(), model.output(i).type});
  }
  EXPECT_TRUE(model.Run(in, out).ok());
  return outputs;
}

TEST(Limits, ConstantsOfOtherLayersArePackedOnce) {
  for (const ConstantUser& user : ConstantUsers()) {
    SCOPED_TRACE(user.name);
    Result<Model> one = Model::Prepare(LayersOf(user, 1));
    Result<Model> ten = Model::Prepare(LayersOf(user, 10));
    ASSERT_TRUE(one.ok() && ten.ok()) << one.status().message() << ten.status().message();
    const auto pipelines = static_cast<size_t>(user.pipelines) * 44;
    EXPECT_LT(pipelines, static_cast<size_t>(*CountElements(user.shape)));
    EXPECT_LE(ten->constant_bytes() - one->constant_bytes(), 9 * pipelines);
    const std::vector<uint8_t> expected = Outputs(*one)[0];
    EXPECT_NE(expected, std::vector<uint8_t>(expected.size(), expected[0]));
    for (const std::vector<uint8_t>& output : Outputs(*ten)) EXPECT_EQ(output, expected);
  }
}

// Cells that share one constant, which multiplies x and the state.
Graph Cells(int cells) {
  Builder b;
  b.Input("x", Type::kFloat32, {1, kDepth});
  std::vector<int8_t> numbers;
  for (int i = 0; i < kDepth * kDepth; ++i) {
    numbers.push_back(static_cast<int8_t>(i * 37 % 255 - 127));
  }
  const Constant w = b.Const<int8_t>("w", numbers, {kDepth, kDepth}, PerTensor(0.001f, 0));
  const Constant bias = b.Const<float>("bias", std::vector<float>(kDepth, 0.25f), {kDepth});
  b.Output({0}, "x");
  Graph graph = *b.Finish();
  graph.outputs.clear();
  for (int i = 0; i < cells; ++i) {
    const auto state = static_cast<TensorId>(graph.tensors.size());
    for (const char* const name : {"h", "y"}) {
      Tensor& tensor = graph.tensors.emplace_back();
      tensor.name = name + std::to_string(i);
      tensor.type = Type::kFloat32;
      tensor.shape = {1, kDepth};
      tensor.variable = *name == 'h';
    }
    graph.layers.push_back({Rnn{}, {0, w.id, w.id, bias.id, state}, {state + 1}, {}});
    graph.outputs.push_back(state + 1);
  }
  return graph;
}

TEST(Limits, WeightsOfCellsArePackedOnce) {
  Result<Model> one = Model::Prepare(Cells(1));
  Result<Model> ten = Model::Prepare(Cells(10));
  ASSERT_TRUE(one.ok() && ten.ok()) << one.status().message() << ten.status().message();
  EXPECT_GE(one->constant_bytes(), size_t{kDepth} * kDepth);
  EXPECT_EQ(ten->constant_bytes(), one->constant_bytes());
  const std::vector<uint8_t> expected = Outputs(*one)[0];
  for (const std::vector<uint8_t>& output : Outputs(*ten)) EXPECT_EQ(output, expected);
}

TEST(Limits, WorkOfTheRunIsCounted) {
  const int channels = 80'000;
  const auto normalize = [&](Builder& b) {
    const Value x = b.Input("x", Type::kFloat32, {1, 1, 1, channels});
    return b.Layer(LocalResponseNormalization{.radius = channels}, {x.id}, Type::kFloat32, {});
  };
  const Result<Model> model = PrepareOne(normalize, {});
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_GE(model->work(), int64_t{channels} * channels);
  EXPECT_EQ(model->layers()[0].work, model->work());
  const Status refused = PrepareOne(normalize, {.max_work = 1'000'000'000}).status();
  EXPECT_EQ(refused.code(), StatusCode::kUnsupported);
  EXPECT_NE(refused.message().find("but 1000000000 are allowed (Limits::max_work)"),
            std::string::npos)
      << refused.message();
}

TEST(Limits, WorkOfPools) {
  const auto pool = [](Builder& b) {
    const Value x = b.Input("x", Type::kInt8, {1, 64, 64, 2}, PerTensor(1, 0));
    return b.MaxPool2D(x, {.filter = {50, 40}, .padding = Padding::Same()});
  };
  EXPECT_GE(PrepareOne(pool, {})->work(), int64_t{64} * 64 * 2 * 50 * 40);
}

// A layer whose routine and whose preparation take much memory besides packed constants.
struct Costly {
  const char* name;
  std::function<Value(Builder&)> make;
};

const Quantization kUnit = PerTensor(1, 0);

Value Bytes(Builder& b, Shape shape) { return b.Input("x", Type::kInt8, std::move(shape), kUnit); }
Value Reals(Builder& b, Shape shape) { return b.Input("x", Type::kFloat32, std::move(shape)); }

Constant Ones(Builder& b, Shape shape, Quantization quantization = kUnit) {
  const auto count = static_cast<size_t>(*CountElements(shape));
  return b.Const<int8_t>("w", std::vector<int8_t>(count, 1), std::move(shape),
                         std::move(quantization));
}

Quantization ScalesOf(int count, int axis) {
  return PerAxis(std::vector<float>(static_cast<size_t>(count), 0.5f), axis);
}

constexpr int kMany = 100'000;

const Costly kCostly[] = {
    {"blocks to the batch",
     [](Builder& b) {
       return b.Layer(SpaceToBatch{{256, 256}, {{0, 0}, {0, 0}}}, {Bytes(b, {1, 512, 512, 1}).id},
                      Type::kInt8, kUnit);
     }},
    {"blocks to space",
     [](Builder& b) {
       return b.Layer(BatchToSpace{{256, 256}, {{0, 0}, {0, 0}}}, {Bytes(b, {65'536, 2, 2, 3}).id},
                      Type::kInt8, kUnit);
     }},
    {"bilinear",
     [](Builder& b) {
       return b.Layer(ResizeBilinear{.height = 1, .width = 1'000'000}, {Bytes(b, {1, 2, 2, 1}).id},
                      Type::kInt8, kUnit);
     }},
    {"bilinear, int16",
     [](Builder& b) {
       const Value x = b.Input("x", Type::kInt16, {1, 2, 2, 1}, kUnit);
       return b.Layer(ResizeBilinear{.height = 1'000'000, .width = 1}, {x.id}, Type::kInt16, kUnit);
     }},
    {"bilinear, float32",
     [](Builder& b) {
       return b.Layer(ResizeBilinear{.height = 1, .width = 1'000'000}, {Reals(b, {1, 2, 2, 1}).id},
                      Type::kFloat32, {});
     }},
    {"nearest",
     [](Builder& b) {
       return b.Layer(ResizeNearestNeighbor{.height = 1, .width = 1'000'000},
                      {Bytes(b, {1, 2, 2, 1}).id}, Type::kInt8, kUnit);
     }},
    {"mirrored",
     [](Builder& b) {
       return b.Layer(MirrorPad{.paddings = {{1, 1}, {0, 0}}}, {Bytes(b, {1'000'000, 1}).id},
                      Type::kInt8, kUnit);
     }},
    {"sum",
     [](Builder& b) {
       const Value x = Bytes(b, {1'000'000});
       return b.Layer(Add{}, {x.id, x.id}, Type::kInt8, PerTensor(2, 0));
     }},
    {"reversed",
     [](Builder& b) {
       return b.Layer(Reverse{{0}}, {Bytes(b, {1'000'000}).id}, Type::kInt8, kUnit);
     }},
    {"sums of products",
     [](Builder& b) {
       return b.FullyConnected(Bytes(b, {1, 2}), Ones(b, {kMany, 2}, ScalesOf(kMany, 0)), kNoBias,
                               {}, kUnit);
     }},
    {"convolution",
     [](Builder& b) {
       return b.Conv2D(Bytes(b, {1, 2, 2, 1}), Ones(b, {kMany, 1, 1, 1}, ScalesOf(kMany, 0)),
                       kNoBias, {}, kUnit);
     }},
    {"groups",
     [](Builder& b) {
       return b.Conv2D(Bytes(b, {1, 2, 2, 1024}), Ones(b, {1024, 1, 1, 1}, ScalesOf(1024, 0)),
                       kNoBias, {}, kUnit);
     }},
    {"depthwise",
     [](Builder& b) {
       return b.DepthwiseConv2D(Bytes(b, {1, 3, 3, kMany}),
                                Ones(b, {1, 1, 1, kMany}, ScalesOf(kMany, 3)), kNoBias, {}, kUnit);
     }},
    {"hybrid sums of products",
     [](Builder& b) {
       const Value x = Reals(b, {1, 2});
       return b.Layer(FullyConnected{}, {x.id, Ones(b, {kMany, 2}).id}, Type::kFloat32, {});
     }},
    {"hybrid depthwise",
     [](Builder& b) {
       const Value x = Reals(b, {1, 3, 3, kMany});
       return b.Layer(DepthwiseConv2D{}, {x.id, Ones(b, {1, 1, 1, kMany}, ScalesOf(kMany, 3)).id},
                      Type::kFloat32, {});
     }},
    {"real numbers per channel",
     [](Builder& b) {
       const Constant w = Ones(b, {1, kMany}, ScalesOf(kMany, 1));
       return b.Layer(Dequantize{}, {w.id}, Type::kFloat32, {});
     }},
};

// Compares the bytes allocated for a layer with what was charged before, and with what is still
// charged after.
void ExpectCharged(Graph graph) {
  ASSERT_TRUE(AlignConstants(graph, nullptr).ok());
  LayerOptions options{.kernel = BestKernel()};
  options.ledger = std::make_shared<Ledger>(Limits(), 0);
  const auto bound = static_cast<int64_t>(BoundPreparation(LayerView(graph, 0)));
  const int64_t before = LiveBytes();
  ResetPeak();
  const Result<PreparedLayer> layer = Prepare(LayerView(graph, 0), options);
  ASSERT_TRUE(layer.ok()) << layer.status().message();
  EXPECT_LE(LiveBytes() - before, static_cast<int64_t>(options.ledger->taken()));
  EXPECT_LE(PeakBytes() - before, bound);
}

TEST(Limits, WhatLayersTakeIsCharged) {
  for (const Costly& costly : kCostly) {
    SCOPED_TRACE(costly.name);
    Builder b;
    b.Output(costly.make(b), "y");
    Result<Graph> graph = b.Finish();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    ExpectCharged(std::move(*graph));
  }
}

// Its filters in time become float32.
TEST(Limits, WhatAHybridSvdfTakesIsCharged) {
  constexpr int kFilters = 1000;
  constexpr int kMemory = 4000;
  Builder b;
  const Value x = Reals(b, {1, 2});
  const Constant feature = Ones(b, {kFilters, 2});
  const Constant time = Ones(b, {kFilters, kMemory});
  b.Output(b.Layer(Relu{}, {x.id}, Type::kFloat32, {}), "y");
  Graph graph = *b.Finish();
  Tensor state;
  state.type = Type::kFloat32;
  state.shape = {1, kFilters * kMemory};
  state.variable = true;
  graph.tensors.push_back(state);
  const auto variable = static_cast<TensorId>(graph.tensors.size()) - 1;
  const TensorId y = graph.outputs[0];
  graph.tensors[static_cast<size_t>(y)].shape = {1, kFilters};
  graph.layers[0] = {Svdf{}, {x.id, feature.id, time.id, kNoTensor, variable}, {y}, {}};
  ExpectCharged(std::move(graph));
}

Graph SumsOf(int count, int extent) {
  Builder b;
  const Value x = Bytes(b, {extent});
  Value y = x;
  for (int i = 0; i < count; ++i) {
    y = b.Layer(Add{}, {y.id, x.id}, Type::kInt8, PerTensor(1 + 0.01f * static_cast<float>(i), 0));
  }
  b.Output(y, "y");
  return *b.Finish();
}

TEST(Limits, LargeTensorsAreNoLargeLists) {
  const Result<Model> model =
      Model::Prepare(SumsOf(1, 1 << 24), {.limits = {.max_bytes = 80 << 20}});
  EXPECT_TRUE(model.ok()) << model.status().message();
}

TEST(Limits, TheArenaCounts) {
  const Status refused =
      Model::Prepare(SumsOf(1, 1 << 24), {.limits = {.max_bytes = 10 << 20}}).status();
  EXPECT_EQ(refused.code(), StatusCode::kOutOfMemory);
  EXPECT_EQ(refused.message().substr(0, 10), "the arena:");
}

// A layer that did not fit beside other layers is tried again alone.
TEST(Limits, DoNotDependOnThreads) {
  std::atomic<int> calls = 0;
  Context context(2);
  const auto prepare = [&](const Graph& graph, size_t layer) -> Result<PreparedLayer> {
    if (layer == 1 && calls++ == 0) return OutOfMemory("too much at once");
    return Prepare(LayerView(graph, layer), {.kernel = BestKernel()});
  };
  const Result<Program> program = Program::Make(SumsOf(4, 10), prepare, false, &context);
  ASSERT_TRUE(program.ok()) << program.status().message();
  for (const PreparedLayer& layer : program->layers()) EXPECT_NE(layer.routine, nullptr);
  const auto refuse = [&](const Graph&, size_t) -> Result<PreparedLayer> {
    return OutOfMemory("too much");
  };
  EXPECT_EQ(Program::Make(SumsOf(4, 10), refuse, false, &context).status().message(), "too much");
}

TEST(Limits, AreNotNegative) {
  EXPECT_TRUE(Model::Prepare(Graph(), {.limits = {.max_work = 0}}).ok());
  EXPECT_EQ(Model::Prepare(Graph(), {.limits = {.max_work = -1}}).status().message(),
            "Limits::max_work is -1 and Limits::max_rounds is 1000000; neither can be negative");
  EXPECT_FALSE(Model::Prepare(Graph(), {.limits = {.max_rounds = -1}}).ok());
}

}  // namespace
}  // namespace intaglio::nn
