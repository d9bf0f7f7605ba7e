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
