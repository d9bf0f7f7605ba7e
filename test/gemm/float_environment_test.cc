// Products do not depend on the floating-point environment of the caller, nor on that of the
// caller's threads.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "intaglio/gemm/depthwise.h"
#include "intaglio/gemm/describe.h"
#include "intaglio/gemm/gemm.h"
#include "intaglio/test/fixedpoint/foreign_float_environment.h"

namespace intaglio::test {
namespace {

constexpr int kRows = 61;
constexpr int kDepth = 70;
constexpr int kCols = 83;

std::vector<int8_t> RandomBytes(int count, int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::uniform_int_distribution<int> byte(-128, 127);
  std::vector<int8_t> bytes(static_cast<size_t>(count));
  for (int8_t& b : bytes) b = static_cast<int8_t>(byte(random));
  return bytes;
}

// Threads of the caller, each of which computes in the mode.
ParallelFor HostThreads(const FloatMode& mode) {
  return [mode](int count, const std::function<void(int)>& task) {
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([&, i] {
        const ForeignFloatEnvironment foreign(mode);
        task(i);
      });
    }
    for (std::thread& thread : threads) thread.join();
  };
}

// Scales whose products often need rounding. The last one is denormal.
std::vector<float> Scales() {
  std::vector<float> scales;
  for (int c = 0; c < kCols; ++c) scales.push_back(0.00173f + 0.00001f * static_cast<float>(c));
  scales[0] = 0.0078125f;  // ties
  scales[kCols - 1] = 1e-41f;
  return scales;
}

template <class T>
StandardPipeline PipelineTo(Scaling scaling, const std::vector<float>& scales) {
  StandardPipeline pipeline;
  pipeline.scaling = scaling;
  pipeline.per_channel = true;
  pipeline.scale = scales.data();
  pipeline.output = TypeOf<T>;
  return pipeline;
}

template <class T>
std::vector<T> Product(Context& context, const StandardPipeline& pipeline,
                       const std::string& kernel, bool bind) {
  const std::vector<int8_t> a = RandomBytes(kRows * kDepth, 1);
  const std::vector<int8_t> b = RandomBytes(kDepth * kCols, 2);
  PackOptions options;
  options.kernel = kernel;
  const auto packed = Prepack(Side::kRhs, MakeConstMatrix(b.data(), kDepth, kCols), options);
  EXPECT_TRUE(packed.ok());
  std::vector<T> out(static_cast<size_t>(kRows) * kCols);
  const auto lhs = MakeConstMatrix(a.data(), kRows, kDepth);
  const auto dst = MakeMatrix(out.data(), kRows, kCols);
  if (!bind) {
    EXPECT_TRUE(Gemm(context, lhs, *packed, dst, pipeline).ok());
    return out;
  }
  const auto before = FloatControl();
  BindOptions fit;
  fit.rows = 100000;
  fit.fit = true;
  const auto bound = BoundPipeline::Bind(*packed, pipeline, Type::kInt8, 0, fit);
  EXPECT_TRUE(bound.ok());
  EXPECT_EQ(FloatControl(), before);
  EXPECT_TRUE(Gemm(context, lhs, *packed, dst, *bound).ok());
  return out;
}

template <class T>
void ExpectOneResult(Scaling scaling) {
  const std::vector<float> scales = Scales();
  const StandardPipeline pipeline = PipelineTo<T>(scaling, scales);
  for (const KernelInfo& kernel : ListKernels()) {
    if (!kernel.usable) continue;
    SCOPED_TRACE(kernel.name);
    for (const bool bind : {false, true}) {
      Context usual;
      const std::vector<T> expected = Product<T>(usual, pipeline, kernel.name, bind);
      for (const FloatMode& mode : kForeignFloatModes) {
        SCOPED_TRACE(mode.name);
        const ForeignFloatEnvironment foreign(mode);
        const auto before = FloatControl();
        Context alone;
        Context pool(3);
        Context host(3, HostThreads(mode));
        for (Context* const context : {&alone, &pool, &host}) {
          const std::vector<T> out = Product<T>(*context, pipeline, kernel.name, bind);
          EXPECT_EQ(std::memcmp(out.data(), expected.data(), out.size() * sizeof(T)), 0);
        }
        EXPECT_EQ(FloatControl(), before);
      }
    }
  }
}

TEST(FloatEnvironment, HalfEvenProductsAreTheSame) {
  ExpectOneResult<int8_t>(Scaling::kFloatHalfEven);
}

TEST(FloatEnvironment, RealProductsAreTheSame) { ExpectOneResult<float>(Scaling::kToFloat); }

TEST(FloatEnvironment, DescriptionsAreTheSame) {
  const std::vector<int8_t> a = RandomBytes(kRows * kDepth, 1);
  const std::vector<int8_t> b = RandomBytes(kDepth * kCols, 2);
  std::vector<int8_t> out(static_cast<size_t>(kRows) * kCols);
  const std::vector<float> scales = Scales();
  const StandardPipeline pipeline = PipelineTo<int8_t>(Scaling::kFloatHalfEven, scales);
  Context context;
  const auto text = [&] {
    const auto how = DescribeGemm(context, MakeConstMatrix(a.data(), kRows, kDepth),
                                  MakeConstMatrix(b.data(), kDepth, kCols),
                                  MakeMatrix(out.data(), kRows, kCols), pipeline);
    EXPECT_TRUE(how.ok());
    return how->text;
  };
  const std::string expected = text();
  for (const FloatMode& mode : kForeignFloatModes) {
    SCOPED_TRACE(mode.name);
    const ForeignFloatEnvironment foreign(mode);
    const auto before = FloatControl();
    EXPECT_EQ(text(), expected);
    EXPECT_EQ(FloatControl(), before);
  }
}

TEST(FloatEnvironment, DepthwiseProductsAreTheSame) {
  constexpr int kSize = 12;
  const std::vector<int8_t> image = RandomBytes(kSize * kSize * kCols, 3);
  const std::vector<int8_t> filters = RandomBytes(9 * kCols, 4);
  const std::vector<float> scales = Scales();
  const StandardPipeline pipeline = PipelineTo<int8_t>(Scaling::kFloatHalfEven, scales);
  const auto packed = PackedDepthwise::Pack(MakeConstMatrix(filters.data(), 9, kCols), 3, 1);
  ASSERT_TRUE(packed.ok());
  Im2col input;
  input.data = image.data();
  input.type = Type::kInt8;
  input.batch = 1;
  input.height = input.width = kSize;
  input.channels = input.group_channels = kCols;
  input.kernel_height = input.kernel_width = 3;
  input.out_height = input.out_width = kSize - 2;
  const auto run = [&](Context& context) {
    std::vector<int8_t> out(static_cast<size_t>(kSize - 2) * (kSize - 2) * kCols);
    const Status status = Depthwise(context, input, *packed, out.data(), pipeline);
    EXPECT_TRUE(status.ok()) << status.message();
    return out;
  };
  Context usual;
  const std::vector<int8_t> expected = run(usual);
  for (const FloatMode& mode : kForeignFloatModes) {
    SCOPED_TRACE(mode.name);
    const ForeignFloatEnvironment foreign(mode);
    const auto before = FloatControl();
    Context context(2);
    EXPECT_EQ(run(context), expected);
    EXPECT_EQ(FloatControl(), before);
  }
}

}  // namespace
}  // namespace intaglio::test
