// What a model may take of memory and time: charged before it is allocated, and refused.
#include "intaglio/nn/limits.h"

#include <functional>

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

// The taps of a resize are sixteen times its output.
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
    EXPECT_EQ(z[i], y[i] + 1);  // of zero points 0 and 1
  }
}

// A layer of x [2, 4, 4, channels] and the constant w.
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

// The bytes of every output, of inputs that are alike for alike graphs.
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

// Cells of one constant, which multiplies x and the state.
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

TEST(Limits, TheArenaCounts) {
  const auto relu = [](Builder& b) {
    return b.Relu(b.Input("x", Type::kInt8, {1, 1 << 20}, PerTensor(1, 0)), PerTensor(1, 1));
  };
  const Result<Model> model = PrepareOne(relu, {});
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->taken_bytes(), model->constant_bytes() + model->arena_bytes());
}

}  // namespace
}  // namespace intaglio::nn
