// Weights of safe pairs have kernels of their own, which saturate for any others.
#include <gtest/gtest.h>

#include "intaglio/kernels/kernel_table.h"
#include "intaglio/test/gemm/problem.h"

namespace intaglio::test {
namespace {

// Channels x depth, row-major, of pairs as large as safe pairs can be; stored as `type`.
std::vector<uint8_t> LargestSafePairs(Random& random, Type type, int channels, int depth) {
  std::vector<uint8_t> bytes;
  int v = 0;
  for (int i = 0; i < channels * depth; ++i) {
    if (i % depth % 2 == 0) {
      v = Uniform(random, -128, 127);
    } else {
      const bool opposite = Uniform(random, 0, 3) == 0;
      const int same_sign = v > 0 ? 128 - v : -128 - v;
      v = opposite ? (v > 0 ? -128 : 127) : std::min(same_sign, 127);
    }
    bytes.push_back(static_cast<uint8_t>(type == Type::kUInt8 ? v + 128 : v));
  }
  return bytes;
}

// The product of rows of extreme bytes with `weights`, packed for `kernel`: the kernel that ran.
std::string RunWith(Random& random, const std::string& kernel, const std::vector<uint8_t>& weights,
                    Type weight_type, Type row_type, int rows, int channels, int depth) {
  Context context(1);
  const TestMatrix lhs(random, row_type, rows, depth, Order::kRowMajor, 0, 5,
                       OneOf<Values>(random, {Values::kExtremes, Values::kAllHighest}));
  const ConstMatrix rhs{weights.data(), weight_type, depth, channels, depth, Order::kColMajor, 7};
  Integers right = MakeIntegers(depth, channels);
  for (int k = 0; k < depth; ++k) {
    for (int c = 0; c < channels; ++c) {
      const uint8_t byte = weights[static_cast<size_t>(c * depth + k)];
      const int value = weight_type == Type::kInt8 ? static_cast<int8_t>(byte) : byte;
      right.At(k, c) = static_cast<int16_t>(value - 7);
    }
  }
  const auto packed = Prepack(Side::kRhs, rhs, {{}, kernel});
  EXPECT_TRUE(packed.ok());
  TestPipeline pipeline;
  pipeline.Randomize(random, Scaling::kFloatHalfEven, Type::kUInt8, channels, Axis::kCols, 1e-4);
  TestResult dst(Type::kUInt8, rows, channels, Order::kRowMajor, 0);
  const auto how = DescribeGemm(context, lhs.view(), *packed, dst.view(), pipeline.standard);
  EXPECT_TRUE(how.ok());
  EXPECT_TRUE(Gemm(context, lhs.view(), *packed, dst.view(), pipeline.standard).ok());
  dst.Want(pipeline.standard, Sums(lhs.ToIntegers(), right));
  EXPECT_TRUE(dst.Same()) << dst.Difference();
  return how->kernel;
}

TEST(SafePairs, RunOnTheirOwnKernel) {
  Random random(11);
  for (const std::string& name : KernelNames()) {
    const Kernel* safe = nullptr;
    for (const Kernel* row : CandidatesOf(**KernelNamed(name))) {
      if (row->panel.safe_pairs) safe = row;
    }
    for (const Type weights : {Type::kInt8, Type::kUInt8}) {
      for (const Type rows : {Type::kInt8, Type::kUInt8}) {
        for (const int depth : {1, 2, 7, 64, 203}) {
          const int channels = Uniform(random, 1, 40);
          const int count = Uniform(random, 1, 30);
          auto bytes = LargestSafePairs(random, weights, channels, depth);
          ASSERT_EQ(RunWith(random, name, bytes, weights, rows, count, channels, depth),
                    safe == nullptr ? name : safe->name);
          if (depth == 1) continue;
          // One pair that is not safe, by one.
          const auto at = static_cast<size_t>(Uniform(random, 0, channels - 1) * depth +
                                              Uniform(random, 0, depth / 2 - 1) * 2);
          const uint8_t zero = weights == Type::kUInt8 ? 128 : 0;
          bytes[at] = static_cast<uint8_t>(zero + 65);
          bytes[at + 1] = static_cast<uint8_t>(zero + 64);
          ASSERT_EQ(RunWith(random, name, bytes, weights, rows, count, channels, depth), name);
        }
      }
    }
  }
}

// CPUs that multiply once a cycle are left to fast products, where those are faster.
TEST(SafePairs, DoNotServeWhatOthersDoFaster) {
  for (const std::string& name : KernelNames()) {
    for (const Kernel* row : CandidatesOf(**KernelNamed(name))) {
      if (!row->panel.safe_pairs) continue;
      const std::vector<int8_t> weights(64 * 128, 1);
      const ConstMatrix large = MakeConstMatrix(weights.data(), 64, 128);
      EXPECT_TRUE(row->serves_constant(large, false));
      EXPECT_FALSE(row->serves_constant(large, true));
      EXPECT_TRUE(row->serves_constant(MakeConstMatrix(weights.data(), 63, 128), true));
      EXPECT_TRUE(row->serves_constant(MakeConstMatrix(weights.data(), 64, 124), true));
      EXPECT_TRUE(row->serves_constant(MakeConstMatrix(weights.data(), 64, 127), true));
    }
  }
}

}  // namespace
}  // namespace intaglio::test
