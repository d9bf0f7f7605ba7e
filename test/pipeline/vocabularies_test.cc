// Every composition gives the same bits over every register vocabulary, and what its stages'
// formulas say.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/transcendental.h"
#include "intaglio/fixedpoint/unfused.h"
#include "intaglio/test/pipeline/composition_list.h"
#include "intaglio/test/pipeline/oracle.h"

namespace intaglio::test {

Type OutputOf(int composition) {
  Type type = Type::kBool;
  const StageParameters none{};
  VisitComposition(composition, none, [&](const auto& pipeline) {
    type = TypeOf<typename std::decay_t<decltype(pipeline)>::Output>;
  });
  return type;
}

void RunScalar(int composition, const StageParameters& p, const AccumulatorTile& tile) {
  RunComposition<Scalar>(composition, p, tile);
}

namespace {

using Random = std::mt19937;
int Uniform(Random& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

// Parameters for a result of kSide x kSide.
constexpr int kSide = 80;
struct Parameters {
  std::vector<int32_t> bias, mantissa, exponent;
  std::vector<float> scale;
  std::vector<int8_t> residual_int8;
  std::vector<int16_t> residual_int16;
  StageParameters stage{};

  explicit Parameters(Random& random) {
    for (int i = 0; i < kSide; ++i) {
      bias.push_back(static_cast<int32_t>(random()) >> Uniform(random, 0, 24));
      mantissa.push_back((1 << 30) + Uniform(random, 0, (1 << 30) - 1));
      exponent.push_back(Uniform(random, -31, 8));
      scale.push_back(
          std::ldexp(static_cast<float>(Uniform(random, 1, 1 << 20)), Uniform(random, -45, -10)));
    }
    for (int i = 0; i < kSide * kSide; ++i) {
      residual_int8.push_back(static_cast<int8_t>(random()));
      residual_int16.push_back(static_cast<int16_t>(random()));
    }
    const int32_t low = Uniform(random, -200, 100);
    stage = {random() % 2 == 0 ? Axis::kRows : Axis::kCols,
             bias.data(),
             mantissa.data(),
             exponent.data(),
             scale.data(),
             residual_int8.data(),
             residual_int16.data(),
             kSide,
             {mantissa[0], Uniform(random, -20, 3)},
             scale[1],
             Uniform(random, 0, 31),
             Uniform(random, -255, 255),
             low,
             low + Uniform(random, 0, 300)};
  }
};

int32_t RandomAccumulator(Random& random) {
  const int32_t ends[] = {INT32_MIN, INT32_MIN + 1, -1, 0, 1, INT32_MAX - 1, INT32_MAX};
  if (Uniform(random, 0, 9) == 0) return ends[Uniform(random, 0, 6)];
  return static_cast<int32_t>(random()) >> Uniform(random, 0, 30);
}

int64_t Away(int64_t x, int shift) { return static_cast<int64_t>(TiesAway(x, PowerOfTwo(shift))); }

// What a composition has to give at one place; the formulas of pipeline/stages.h.
void Expect(int composition, const StageParameters& p, int32_t acc, int row, int col, void* out,
            int64_t index) {
  const int channel = p.axis == Axis::kRows ? row : col;
  const int64_t bias = p.bias[channel];
  const auto twice = [&](int64_t x) {
    return DoublyRounded(Wrap(x), p.multiplier.mantissa, p.multiplier.exponent);
  };
  const auto once = [&](int64_t x) {
    return SinglyRounded(Wrap(x), p.multiplier.mantissa, p.multiplier.exponent);
  };
  const auto twice_each = [&](int64_t x) {
    return DoublyRounded(Wrap(x), p.mantissa[channel], p.exponent[channel]);
  };
  const auto once_each = [&](int64_t x) {
    return SinglyRounded(Wrap(x), p.mantissa[channel], p.exponent[channel]);
  };
  const auto zero = [&](int64_t x) {
    return std::clamp<int64_t>(x + p.zero_point, INT32_MIN, INT32_MAX);
  };
  const auto clamp = [&](int64_t x) { return std::clamp<int64_t>(x, p.low, p.high); };
  const auto flip = [](int64_t x) { return x % 2 == 0 ? x : -x - 1; };
  const ptrdiff_t here = row * p.residual_stride + col;
  const ptrdiff_t mirrored = col * p.residual_stride + row;
  int64_t x = acc;
  float f = 0;
  switch (composition) {
    case 0:
      break;
    case 1:
      x = Wrap(x + bias);
      break;
    case 2:
      x = twice(x);
      break;
    case 3:
      x = once(x);
      break;
    case 4:
      x = clamp(zero(twice_each(x + bias)));
      break;
    case 5:
      x = zero(once_each(x));
      break;
    case 6:
      x = FloatRounded(acc, p.one_scale);
      break;
    case 7:
      x = zero(FloatRounded(Wrap(x + bias), p.scale[channel]));
      break;
    case 8:
      f = static_cast<float>(acc) * p.one_scale;
      break;
    case 9:
      f = static_cast<float>(Wrap(x + bias)) * p.scale[channel];
      break;
    case 10:
      x = Away(x, p.shift);
      break;
    case 11:
      x = Wrap(clamp(x) + bias);
      break;
    case 12:
      x = Wrap(int64_t{twice(x)} + twice(p.residual_int8[here] - p.zero_point));
      break;
    case 13:
      x = clamp(Wrap(x + twice(p.residual_int16[mirrored] - p.zero_point)));
      break;
    case 14: {
      using F4 = FixedPoint<Scalar, 4>;
      x = Away(Logistic(F4::FromRaw(Wrap(x + bias))).raw(), 16);
      break;
    }
    case 15: {
      using F3 = FixedPoint<Scalar, 3>;
      x = Away(Tanh(F3::FromRaw(acc)).raw(), 24);
      break;
    }
    case 16:
      x = zero(flip(x));
      break;
    default:
      x = clamp(once_each(flip(twice(x + bias))));
      break;
  }
  if (OutputOf(composition) == Type::kFloat32) {
    std::memcpy(static_cast<char*>(out) + 4 * index, &f, 4);
  } else {
    PutElement(OutputOf(composition), out, index,
               std::clamp(x, Lowest(OutputOf(composition)), Highest(OutputOf(composition))));
  }
}

struct Vocabulary {
  const char* name;
  bool (*supported)();
  void (*run)(int, const StageParameters&, const AccumulatorTile&);
};
#if defined(__x86_64__)
bool HasSse41() { return __builtin_cpu_supports("sse4.1") != 0; }
bool HasAvx2() { return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0; }
bool HasAvx512() {
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
}
#endif
const Vocabulary kVocabularies[] = {
    {"Scalar", [] { return true; }, RunScalar},
    {"UnfusedScalar", [] { return true; }, RunComposition<Unfused<Scalar>>},
#if defined(__x86_64__)
    {"Sse41", HasSse41, RunSse41},
    {"Avx2", HasAvx2, RunAvx2},
    {"Avx512", HasAvx512, RunAvx512},
    {"PlainSse41", HasSse41, RunPlainSse41},
    {"PlainAvx2", HasAvx2, RunPlainAvx2},
    {"PlainAvx512", HasAvx512, RunPlainAvx512},
#elif defined(__aarch64__) || defined(__arm__)
    {"Neon", [] { return true; }, RunNeon},
#endif
};

class Vocabularies : public testing::TestWithParam<Vocabulary> {
 protected:
  void SetUp() override {
    if (!GetParam().supported())
      GTEST_SKIP() << "this CPU has not what " << GetParam().name << " needs";
  }
};

// One tile of random place, shape and strides, for one composition.
void RunTile(Random& random, int composition, const Vocabulary& vocabulary) {
  const Parameters parameters(random);
  const int lines = Uniform(random, 0, 4);
  const int length = Uniform(random, 0, 40);
  std::vector<int32_t> acc(static_cast<size_t>(4 * 45));
  for (int32_t& a : acc) a = RandomAccumulator(random);
  AccumulatorTile tile{};
  tile.acc = acc.data();
  tile.acc_stride = 45;
  tile.lines = lines;
  tile.length = length;
  tile.along = random() % 2 == 0 ? Axis::kCols : Axis::kRows;
  tile.first_line = Uniform(random, 0, kSide - 4);
  tile.first_element = Uniform(random, 0, kSide - 40);
  const bool transposed = random() % 2 == 0;  // in memory
  tile.line_stride = transposed ? 1 : 45;
  tile.element_stride = transposed ? 5 : 1;
  const Type type = OutputOf(composition);
  std::vector<uint8_t> got(250 * SizeOf(type), 0x5a);
  std::vector<uint8_t> want = got;
  tile.dst = got.data();
  vocabulary.run(composition, parameters.stage, tile);
  for (int l = 0; l < lines; ++l) {
    for (int i = 0; i < length; ++i) {
      const int line = tile.first_line + l;
      const int element = tile.first_element + i;
      Expect(composition, parameters.stage, acc[static_cast<size_t>(l * 45 + i)],
             tile.along == Axis::kCols ? line : element, tile.along == Axis::kCols ? element : line,
             want.data(), l * tile.line_stride + i * tile.element_stride);
    }
  }
  ASSERT_EQ(got, want) << "composition " << composition << ", " << lines << " x " << length;
}

TEST_P(Vocabularies, EveryCompositionFollowsItsFormula) {
  Random random(1);
  for (int composition = 0; composition < kCompositions; ++composition) {
    for (int round = 0; round < 60; ++round) {
      RunTile(random, composition, GetParam());
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Vocabularies, testing::ValuesIn(kVocabularies),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace intaglio::test
