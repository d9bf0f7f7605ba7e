// What a PackedOnce keeps: forms that were made, and nothing of those that could not be.
#include "intaglio/nn/routine/packed_once.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "intaglio/nn/ops/builder.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/runtime/model.h"

namespace intaglio::nn {
namespace {

using Made = Result<std::shared_ptr<const int>>;

Made Fail() { return InvalidArgument("no"); }
Made MakeSeven() { return std::make_shared<const int>(7); }

TEST(PackedOnce, KeepsWhatWasMade) {
  PackedOnce all;
  bool is_new = false;
  const Made first = all.Get<int>({1, 2}, MakeSeven, is_new);
  EXPECT_TRUE(is_new);
  is_new = false;
  const Made again = all.Get<int>({1, 2}, Fail, is_new);
  ASSERT_TRUE(first.ok() && again.ok());
  EXPECT_FALSE(is_new);
  EXPECT_EQ(*first, *again);
  EXPECT_EQ(all.count(), 1u);
}

TEST(PackedOnce, KeepsNothingOfWhatCouldNotBeMade) {
  PackedOnce all;
  bool is_new = false;
  EXPECT_FALSE(all.Get<int>({1}, Fail, is_new).ok());
  EXPECT_EQ(all.count(), 0u);
  const auto has_no_memory = []() -> Made { throw std::bad_alloc(); };
  EXPECT_THROW(static_cast<void>(all.Get<int>({2}, has_no_memory, is_new)), std::bad_alloc);
  EXPECT_EQ(all.count(), 0u);
  EXPECT_TRUE(all.Get<int>({1}, MakeSeven, is_new).ok());
  EXPECT_EQ(all.count(), 1u);
}

// As a resize does, whether it fails or not.
TEST(PackedOnce, AskingAnEarlierOneLeavesNothingThere) {
  const auto earlier = std::make_shared<PackedOnce>();
  bool is_new = false;
  const Made held = earlier->Get<int>({1}, MakeSeven, is_new);
  PackedOnce later({std::make_shared<PackedOnce>(), earlier});
  EXPECT_FALSE(later.Get<int>({2}, Fail, is_new).ok());
  EXPECT_TRUE(later.Get<int>({3}, MakeSeven, is_new).ok());
  EXPECT_EQ(earlier->count(), 1u);
  EXPECT_EQ(later.count(), 1u);
  const Made taken = later.Get<int>({1}, Fail, is_new);
  ASSERT_TRUE(held.ok() && taken.ok());
  EXPECT_EQ(*held, *taken);
}

// Several threads ask at once, and the first to make it fails.
TEST(PackedOnce, AFailureOfOneThreadIsNotAnothers) {
  for (int round = 0; round < 100; ++round) {
    PackedOnce all;
    std::atomic<int> calls = 0;
    std::atomic<int> made = 0;
    const auto make = [&]() -> Made {
      if (calls++ == 0) return Fail();
      ++made;
      return MakeSeven();
    };
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        bool is_new = false;
        static_cast<void>(all.Get<int>({1}, make, is_new));
      });
    }
    threads.clear();  // waits
    EXPECT_EQ(made, 1);
    EXPECT_EQ(all.count(), 1u);
  }
}

// Packed float32 knows the loops that read it, and so how sums are made.
TEST(PackedOnce, SumsOfFloatHaveFormsOfTheirOwn) {
  constexpr int kDepth = 500;
  std::mt19937 random(1);
  std::uniform_real_distribution<float> any(-1, 1);
  std::vector<float> x(kDepth);
  std::vector<float> weights(size_t{8} * kDepth);
  for (float& value : x) value = any(random);
  for (float& value : weights) value = any(random);
  Builder b("sums");
  const Value in = b.Input("x", Type::kFloat32, {1, kDepth}, {});
  b.Output(b.FullyConnected(in, b.Const<float>("w", weights, {8, kDepth}), kNoBias, {}, {}), "y");
  const Result<Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const auto run = [&](FloatSums sums, const Model* earlier) {
    std::vector<const Model*> all;
    if (earlier != nullptr) all.push_back(earlier);
    Result<Model> model = Model::Prepare(*graph, {.float_sums = sums}, all);
    EXPECT_TRUE(model.ok()) << model.status().message();
    std::vector<float> y(8);
    const std::array inputs = {MakeInput(x)};
    const std::array outputs = {MakeOutput(y)};
    EXPECT_TRUE(model->Run(inputs, outputs).ok());
    return std::pair(y, std::move(*model));
  };
  const auto [fused, model] = run(FloatSums::kFused, nullptr);
  const auto [unfused, other] = run(FloatSums::kUnfused, nullptr);
  EXPECT_EQ(run(FloatSums::kUnfused, &model).first, unfused);
  EXPECT_EQ(run(FloatSums::kFused, &other).first, fused);
  if (model.float_sums() == FloatSums::kFused) {
    EXPECT_NE(fused, unfused);
  }
}

}  // namespace
}  // namespace intaglio::nn
