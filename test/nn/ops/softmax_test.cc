#include "intaglio/nn/ops/reduce/softmax.h"

#include "intaglio/nn/ops/operators.h"
#include "intaglio/test/kernels/cuda_softmax.h"
#include "intaglio/test/nn/testing.h"

namespace intaglio::nn {
namespace {

// gemmlowp's functions in 64-bit integers: a number is a multiple of 2^-31 unless said otherwise.

int64_t SaturatingShift(int64_t x, int bits) {
  return std::clamp<int64_t>(x * (int64_t{1} << bits), INT32_MIN, INT32_MAX);
}

// exp(a / 2^26) for a <= 0.
int64_t Exp(int64_t a) {
  if (a == 0) return INT32_MAX;
  const int64_t quarter = int64_t{1} << 24;
  int64_t rest = ((a % quarter) + quarter) % quarter - quarter;  // in [-quarter, 0)
  const int64_t negated = rest - a;
  const int64_t x = rest * 32 + (int64_t{1} << 28);
  const int64_t x2 = HighMul(x, x);
  const int64_t x3 = HighMul(x2, x);
  const int64_t x4 = HighMul(x2, x2);
  const int64_t cubic = HighMul(RoundDivide(x4, 4) + x3, 715827883);
  int64_t result = 1895147668 + HighMul(1895147668, x + RoundDivide(cubic + x2, 2));
  const int64_t factors[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
  for (int i = 0; i < 7; ++i) {
    if ((negated / quarter) >> i & 1) result = HighMul(result, factors[i]);
  }
  return result;
}

// 1 / (1 + a).
int64_t OneOverOnePlus(int64_t a) {
  const int64_t half = (a + INT32_MAX + 1) / 2;
  int64_t x = 1515870810 + HighMul(half, -1010580540);
  for (int i = 0; i < 3; ++i) {
    const int64_t error = (int64_t{1} << 29) - HighMul(half, x);
    x += SaturatingShift(HighMul(x, error), 2);
  }
  return SaturatingShift(x, 1);
}

std::vector<int> SoftmaxOf(const Q& x, float beta) {
  const double real =
      std::min(static_cast<double>(beta) * static_cast<double>(x.scale) * 67108864.0, 2147483647.0);
  const Multiplier multiplier(real);
  const auto limit =
      static_cast<int64_t>(-std::floor(31.0 * 67108864.0 / std::ldexp(1.0, multiplier.exponent)));
  const size_t depth = static_cast<size_t>(x.shape.back());
  std::vector<int> out;
  for (size_t row = 0; row < x.values.size(); row += depth) {
    const auto begin = x.values.begin() + static_cast<ptrdiff_t>(row);
    const int max = *std::max_element(begin, begin + static_cast<ptrdiff_t>(depth));
    std::vector<int64_t> exps;
    int64_t sum = 0;
    for (size_t i = 0; i < depth; ++i) {
      const int64_t difference = x.values[row + i] - max;
      const int64_t scaled =
          difference < limit
              ? 0
              : HighMul(difference * (int64_t{1} << multiplier.exponent), multiplier.mantissa);
      exps.push_back(difference < limit ? 0 : Exp(scaled));
      sum += RoundDivide(exps.back(), 4096);
    }
    int bits = 0;  // of the sum above 1, which is 2^19
    while (sum >> (20 + bits) != 0) ++bits;
    const int64_t fraction = sum * (int64_t{1} << (12 - bits)) - (int64_t{1} << 31);
    const int64_t reciprocal = OneOverOnePlus(fraction);
    for (const int64_t e : exps) {
      const int64_t value = RoundDivide(HighMul(reciprocal, e), int64_t{1} << (bits + 23));
      out.push_back(Clamp(value + LowestOf(x.type), LowestOf(x.type), HighestOf(x.type)));
    }
  }
  return out;
}

TEST(Softmax, MatchesDefinition) {
  Random random(11);
  for (int round = 0; round < 1000; ++round) {
    const Type type = kEightBit[static_cast<size_t>(round % 2)];
    const float beta = random.Of<float>({1, 1, 0.5f, 2});
    const Q x = random.Tensor(type, {random.Int(1, 3), random.Of<int>({1, 2, 10, 100, 300})},
                              random.Scale(0.0005, 1), random.Int(0, 100));
    Builder b;
    ASSERT_EQ(RunGraph(b, b.Softmax(Input(b, x), beta), {x}), SoftmaxOf(x, beta)) << round;
  }
}

// With its steps on the host.
TEST(Softmax, MatchesDefinitionOnDevices) {
  Random random(13);
  for (int round = 0; round < 200; ++round) {
    const Type type = kEightBit[static_cast<size_t>(round % 2)];
    const int depth = random.Of<int>({1, 2, 31, 32, 33, 100, 300, 5000});
    const float beta = random.Of<float>({1, 0.5f, 2});
    const Q x = random.Tensor(type, {random.Int(1, 3), depth}, random.Scale(0.0005, 1), 0);
    Builder b;
    b.Output(b.Softmax(Input(b, x), beta), "y");
    const Result<Graph> graph = b.Finish();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    const auto exps = SoftmaxExpsOf(LayerView(*graph, 0));
    ASSERT_TRUE(exps.ok()) << exps.status().message();
    const std::vector<std::byte> in = Bytes(type, x.values);
    std::vector<std::byte> out(in.size());
    test::RunOnHost(cuda::SoftmaxJob{exps->data(), reinterpret_cast<const uint8_t*>(in.data()),
                                     reinterpret_cast<uint8_t*>(out.data()), x.shape[0], depth,
                                     type == Type::kInt8});
    ASSERT_EQ(Ints(type, out), SoftmaxOf(x, beta)) << round;
  }
}

TEST(Softmax, IsNearTheRealFunction) {
  Random random(12);
  for (int round = 0; round < 50; ++round) {
    const Q x = random.Tensor(Type::kUInt8, {20}, random.Scale(0.01, 0.3), 0);
    Builder b;
    const std::vector<int> actual = RunGraph(b, b.Softmax(Input(b, x)), {x});
    double sum = 0;
    for (const int v : x.values) sum += std::exp(static_cast<double>(x.scale) * (v - 255));
    for (size_t i = 0; i < actual.size(); ++i) {
      const double exact = std::exp(static_cast<double>(x.scale) * (x.values[i] - 255)) / sum;
      EXPECT_NEAR(actual[i], std::min(255.0, exact * 256), 0.51);
    }
  }
}

TEST(Softmax, FlatRowsOfAnyLength) {
  for (const int depth : {256, 511, 512, 1001, 4095, 4096, 100000}) {
    const Q x{Type::kUInt8, {depth}, 0.1f, 0, std::vector<int>(static_cast<size_t>(depth), 9)};
    Builder b;
    const int expected = depth <= 512 ? static_cast<int>(std::lround(256.0 / depth)) : 0;
    const std::vector<int> actual = RunGraph(b, b.Softmax(Input(b, x)), {x});
    EXPECT_EQ(std::count(actual.begin(), actual.end(), expected), depth == 512 ? 0 : depth)
        << depth;
  }
}

TEST(Softmax, RefusesWithAReason) {
  const auto message = [](Shape shape, float scale, Quantization out) {
    Builder b;
    const Value x = b.Input("x", Type::kInt8, std::move(shape), PerTensor(scale, 0));
    return ErrorOf(b, b.Layer(nn::Softmax{}, {x.id}, Type::kInt8, std::move(out)));
  };
  const Quantization right = PerTensor(1.0f / 256, -128);
  EXPECT_EQ(message({3}, 0.1f, right), "ok");
  EXPECT_EQ(message({0, 3}, 0.1f, right), "ok");
  EXPECT_EQ(message({3, 0}, 0.1f, right), "ok");
  EXPECT_NE(message({}, 0.1f, right).find("no dimension"), std::string::npos);
  EXPECT_NE(message({3}, 1e-9f, right).find("too small"), std::string::npos);
  EXPECT_NE(message({3}, 0.1f, PerTensor(1.0f / 256, 0)).find("1/256 and -128"), std::string::npos);
  EXPECT_NE(message({3}, 0.1f, PerTensor(1.0f / 128, -128)).find("1/256"), std::string::npos);
}

}  // namespace
}  // namespace intaglio::nn
