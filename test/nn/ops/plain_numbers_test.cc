// Arithmetic on numbers without quantizations against wide integers and long double: every type,
// extremes, broadcasting, errors of a run.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "intaglio/nn/ops/operators.h"
#include "intaglio/test/nn/ops/one_layer.h"

namespace intaglio::nn::test {
namespace {

using Wide = __int128;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

template <class T>
T Wrap(Wide x) {
  return static_cast<T>(static_cast<std::make_unsigned_t<T>>(x));
}

template <class T>
class PlainIntegers : public testing::Test {
 protected:
  using Limits = std::numeric_limits<T>;

  static std::vector<T> Extremes() {
    return {Limits::lowest(), T(Limits::lowest() + 1), T(-3), T(-1), T(0), T(1), T(2), T(7), T(8),
            Limits::max()};
  }

  // Each of the extremes with each divisor or other number.
  static std::vector<T> Run(const Operator& op, std::vector<T> second, Type out = TypeOf<T>) {
    const std::vector<T> first = Extremes();
    const auto rows = static_cast<int>(first.size());
    const auto columns = static_cast<int>(second.size());
    const Got got =
        RunLayer(op, {MakeGiven<T>({rows, 1}, first), MakeGiven<T>({columns}, second)}, {out});
    EXPECT_EQ(got.error, "");
    return out == Type::kBool ? Widen(got.As<uint8_t>()) : got.As<T>();
  }

  static void Check(const Operator& op, const std::vector<T>& second,
                    const std::function<Wide(Wide, Wide)>& f, Type out = TypeOf<T>) {
    std::vector<T> expected;
    for (const T x : Extremes()) {
      for (const T y : second) expected.push_back(Wrap<T>(f(x, y)));
    }
    EXPECT_EQ(Run(op, second, out), expected) << NameOf(op);
  }

  static std::vector<T> WithoutZero() {
    std::vector<T> numbers = Extremes();
    std::erase(numbers, T(0));
    return numbers;
  }

 private:
  static std::vector<T> Widen(const std::vector<uint8_t>& bools) {
    return {bools.begin(), bools.end()};
  }
};

using Types = testing::Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, int64_t>;
TYPED_TEST_SUITE(PlainIntegers, Types);

TYPED_TEST(PlainIntegers, Wrap) {
  const auto all = this->Extremes();
  this->Check(Add{}, all, [](Wide x, Wide y) { return x + y; });
  this->Check(Sub{}, all, [](Wide x, Wide y) { return x - y; });
  this->Check(Mul{}, all, [](Wide x, Wide y) { return x * y; });
  this->Check(Add{Activation::kReluN1To1}, all, [](Wide x, Wide y) {
    const Wide sum = Wrap<TypeParam>(x + y);
    const Wide low = std::is_signed_v<TypeParam> ? -1 : 0;
    return sum < low ? low : sum > 1 ? 1 : sum;
  });
}

TYPED_TEST(PlainIntegers, Divide) {
  const auto divisors = this->WithoutZero();
  this->Check(Div{}, divisors, [](Wide x, Wide y) { return x / y; });
  this->Check(Fmod{}, divisors, [](Wide x, Wide y) { return x % y; });
  this->Check(FloorMod{}, divisors, [](Wide x, Wide y) { return (x % y + y) % y; });
  const Given x = MakeGiven<TypeParam>({2}, {1, 2});
  const Given zero = MakeGiven<TypeParam>({2}, {1, 0});
  for (const Operator& op : {Operator(Div{}), Operator(Fmod{}), Operator(FloorMod{})}) {
    EXPECT_NE(RunLayer(op, {x, zero}, {x.type}).error.find("zero"), std::string::npos);
    const Given none = MakeGiven<TypeParam>({0, 2}, {});
    EXPECT_EQ(RunLayer(op, {none, x}, {x.type}).error, "");
  }
}

// TFLite's FLOOR_MOD looks at no scale. It has no unsigned types.
TYPED_TEST(PlainIntegers, FloorModuloOfQuantizedNumbers) {
  if (sizeof(TypeParam) > 2) return;
  const bool is_signed = std::is_signed_v<TypeParam>;
  const Quantization quantization{.scales = {0.5f},
                                  .zero_points = {sizeof(TypeParam) == 1 ? 3 : 0}};
  Given x = MakeGiven<TypeParam>({3}, {TypeParam(20), TypeParam(7), TypeParam(-7)});
  Given y = MakeGiven<TypeParam>({3}, {6, 4, 4});
  x.quantization = y.quantization = quantization;
  const Got got = RunLayer(FloorMod{}, {x, y}, {x.type});
  EXPECT_EQ(got.error.empty(), is_signed) << got.error;
  if (!is_signed) return;
  EXPECT_EQ(got.template As<TypeParam>(), (std::vector<TypeParam>{2, 3, 1}));
}

TYPED_TEST(PlainIntegers, Compare) {
  const auto all = this->Extremes();
  const Type out = Type::kBool;
  this->Check(
      Equal{}, all, [](Wide x, Wide y) { return Wide{x == y}; }, out);
  this->Check(
      NotEqual{}, all, [](Wide x, Wide y) { return Wide{x != y}; }, out);
  this->Check(
      Less{}, all, [](Wide x, Wide y) { return Wide{x < y}; }, out);
  this->Check(
      LessEqual{}, all, [](Wide x, Wide y) { return Wide{x <= y}; }, out);
  this->Check(
      Greater{}, all, [](Wide x, Wide y) { return Wide{x > y}; }, out);
  this->Check(
      GreaterEqual{}, all, [](Wide x, Wide y) { return Wide{x >= y}; }, out);
  this->Check(Maximum{}, all, [](Wide x, Wide y) { return x > y ? x : y; });
  this->Check(Minimum{true}, all, [](Wide x, Wide y) { return x < y ? x : y; });
}

TYPED_TEST(PlainIntegers, Bits) {
  const auto all = this->Extremes();
  this->Check(BitwiseAnd{}, all, [](Wide x, Wide y) { return x & y; });
  this->Check(BitwiseOr{}, all, [](Wide x, Wide y) { return x | y; });
  this->Check(BitwiseXor{}, all, [](Wide x, Wide y) { return x ^ y; });
  constexpr Wide kBits = 8 * sizeof(TypeParam);
  const auto bits_of = [](Wide x) { return x & ((Wide{1} << kBits) - 1); };
  const auto too_far = [](Wide y) { return y < 0 || y >= kBits; };
  this->Check(BitShift{false}, all,
              [&](Wide x, Wide y) { return too_far(y) ? 0 : bits_of(x) << y; });
  this->Check(BitShift{true}, all,
              [&](Wide x, Wide y) { return too_far(y) ? 0 : bits_of(x) >> y; });
}

TYPED_TEST(PlainIntegers, OfOneNumber) {
  using T = TypeParam;
  const std::vector<T> x = this->Extremes();
  const Given in = MakeGiven<T>({static_cast<int>(x.size())}, x);
  const auto check = [&](const Operator& op, const auto& f) {
    std::vector<T> expected;
    for (const T v : x) expected.push_back(Wrap<T>(f(Wide{v})));
    EXPECT_EQ(RunLayer(op, {in}, {TypeOf<T>}).template As<T>(), expected) << NameOf(op);
  };
  check(Neg{}, [](Wide v) { return -v; });
  check(Abs{}, [](Wide v) { return v < 0 ? -v : v; });
  check(BitwiseNot{}, [](Wide v) { return ~v; });
}

TYPED_TEST(PlainIntegers, AreChosenWithBroadcasting) {
  using T = TypeParam;
  const Got got = RunLayer(
      SelectV2{},
      {MakeBools({2, 1}, {1, 0}), MakeGiven<T>({3}, {1, 2, 3}), MakeGiven<T>({2, 1, 1}, {4, 5})},
      {TypeOf<T>});
  EXPECT_EQ(got.shapes, std::vector<Shape>({{2, 2, 3}}));
  EXPECT_EQ(got.template As<T>(), std::vector<T>({1, 2, 3, 4, 4, 4, 1, 2, 3, 5, 5, 5}));
}

TEST(PlainNumbers, ThatAreQuantizedAreRefused) {
  Result<Graph> graph = GraphOf(Neg{}, {MakeGiven<int8_t>({1}, {1})}, {Type::kInt8});
  ASSERT_TRUE(graph.ok());
  graph->tensors[0].quantization = PerTensor(0.5f, 3);
  EXPECT_FALSE(Model::Prepare(*graph).ok());
}

// uint16 is a type of quantized numbers that are moved, made and dequantized.
TEST(PlainNumbers, QuantizedUInt16IsMovedAlone) {
  const std::vector<uint16_t> numbers = {1, 40000, 65535};
  Given x = MakeGiven<uint16_t>({3}, numbers);
  const Given shift = MakeGiven<uint16_t>({1}, {1});
  x.quantization = PerTensor(0.5f, 40000);
  for (const Operator& op : {Operator(Add{}), Operator(Sub{}), Operator(Mul{}), Operator(Div{}),
                             Operator(BitwiseAnd{})}) {
    EXPECT_NE(RunLayer(op, {x, shift}, {Type::kUInt16}).error, "") << NameOf(op);
  }
  for (const Operator& op : {Operator(Less{}), Operator(Equal{})}) {
    EXPECT_NE(RunLayer(op, {x, shift}, {Type::kBool}).error, "") << NameOf(op);
  }
  for (const Operator& op : {Operator(Neg{}), Operator(Abs{}), Operator(Sign{}), Operator(Relu{}),
                             Operator(Logistic{}), Operator(ReduceMax{{0}}), Operator(Softmax{})}) {
    EXPECT_NE(RunLayer(op, {x}, {Type::kUInt16}).error, "") << NameOf(op);
  }
  EXPECT_EQ(RunLayer(Reverse{{0}}, {x}, {Type::kUInt16}).As<uint16_t>(),
            std::vector<uint16_t>({65535, 40000, 1}));
  EXPECT_EQ(RunLayer(Dequantize{}, {x}, {Type::kFloat32}).As<float>(),
            std::vector<float>({-19999.5f, 0, 12767.5f}));
}

template <class To, class From>
std::vector<To> CastTo(const std::vector<From>& x) {
  const Got got =
      RunLayer(Cast{}, {MakeGiven<From>({static_cast<int>(x.size())}, x)}, {TypeOf<To>});
  EXPECT_EQ(got.error, "");
  return got.template As<To>();
}

TEST(PlainNumbers, CastsOfUInt16) {
  using U16 = std::vector<uint16_t>;
  EXPECT_EQ((CastTo<uint16_t, int32_t>({-1, 65536 + 7, 40000})), U16({65535, 7, 40000}));
  EXPECT_EQ((CastTo<uint16_t, int8_t>({-1, 100})), U16({65535, 100}));
  EXPECT_EQ((CastTo<uint16_t, float>({-1, 65535.5f, 1e9f, 40000.75f, kNan, -kInfinity})),
            U16({0, 65535, 65535, 40000, 65535, 0}));
  const U16 x = {0, 1, 32768, 65535};
  EXPECT_EQ((CastTo<int16_t>(x)), std::vector<int16_t>({0, 1, -32768, -1}));
  EXPECT_EQ((CastTo<int64_t>(x)), std::vector<int64_t>({0, 1, 32768, 65535}));
  EXPECT_EQ((CastTo<float>(x)), std::vector<float>({0, 1, 32768, 65535}));
  EXPECT_EQ((CastTo<uint8_t>(x)), std::vector<uint8_t>({0, 1, 0, 255}));
}

TEST(PlainNumbers, LogicalXor) {
  const Got got = RunLayer(
      LogicalXor{}, {MakeBools({2, 2}, {0, 2, 0, 1}), MakeBools({2, 1}, {0, 3})}, {Type::kBool});
  EXPECT_EQ(got.As<uint8_t>(), std::vector<uint8_t>({0, 1, 1, 0}));
}

std::vector<std::string> Texts(const std::vector<float>& x) {
  std::vector<std::string> texts;
  for (const float v : x) texts.push_back(std::isnan(v) ? "nan" : std::to_string(v));
  return texts;
}

// Of floats, as text, which shows NaN and the signs of zeros.
std::vector<std::string> RunFloats(const Operator& op, const std::vector<float>& x,
                                   const std::vector<float>& y) {
  const int count = static_cast<int>(x.size());
  const Got got =
      RunLayer(op, {MakeGiven<float>({count}, x), MakeGiven<float>({count}, y)}, {Type::kFloat32});
  EXPECT_EQ(got.error, "");
  return Texts(got.As<float>());
}

TEST(PlainNumbers, NanInChoices) {
  const std::vector<float> x = {kNan, 1, kNan, 1, kInfinity, -kInfinity};
  const std::vector<float> y = {1, kNan, kNan, 2, kNan, 3};
  EXPECT_EQ(RunFloats(Maximum{true}, x, y), Texts({kNan, kNan, kNan, 2, kNan, 3}));
  EXPECT_EQ(RunFloats(Minimum{true}, x, y), Texts({kNan, kNan, kNan, 1, kNan, -kInfinity}));
  EXPECT_EQ(RunFloats(Maximum{}, x, y), Texts({1, kNan, kNan, 2, kNan, 3}));
}

TEST(PlainNumbers, Infinities) {
  const float most = std::numeric_limits<float>::max();
  const std::vector<float> x = {kInfinity, -kInfinity, most, 1, kNan};
  const std::vector<float> y = {2, 2, most, -0.0f, 1};
  EXPECT_EQ(RunFloats(Add{.keeps_infinities = true}, x, y),
            Texts({kInfinity, -kInfinity, kInfinity, 1, kNan}));
  EXPECT_EQ(RunFloats(Sub{.keeps_infinities = true}, x, y),
            Texts({kInfinity, -kInfinity, 0, 1, kNan}));
  EXPECT_EQ(RunFloats(Mul{.keeps_infinities = true}, x, y),
            Texts({kInfinity, -kInfinity, kInfinity, -0.0f, kNan}));
  EXPECT_EQ(RunFloats(Div{.keeps_infinities = true}, x, y),
            Texts({kInfinity, -kInfinity, 1, -kInfinity, kNan}));
  EXPECT_EQ(RunFloats(Add{}, x, y), Texts({most, -most, most, 1, kNan}));
}

TEST(PlainNumbers, RemaindersOfFloats) {
  const std::vector<float> x = {5.5f, -5.5f, 5.5f, -5.5f, 1, kInfinity, 0, -1};
  const std::vector<float> y = {2, 2, -2, -2, 0, 1, 3, kInfinity};
  EXPECT_EQ(RunFloats(Fmod{}, x, y), Texts({1.5f, -1.5f, 1.5f, -1.5f, kNan, kNan, 0, -1}));
  EXPECT_EQ(RunFloats(FloorMod{}, x, y),
            Texts({1.5f, 0.5f, -0.5f, -1.5f, kNan, kNan, 0, kInfinity}));
}

template <class X, class Y>
std::vector<X> Powers(const std::vector<X>& x, const std::vector<Y>& y) {
  const int count = static_cast<int>(x.size());
  const Got got =
      RunLayer(Pow{}, {MakeGiven<X>({count}, x), MakeGiven<Y>({count}, y)}, {TypeOf<X>});
  EXPECT_EQ(got.error, "");
  return got.template As<X>();
}

TEST(PlainNumbers, PowersOfAllTypes) {
  constexpr int64_t kMost64 = std::numeric_limits<int64_t>::max();
  constexpr int32_t kMost32 = std::numeric_limits<int32_t>::max();
  constexpr int32_t kLeast32 = std::numeric_limits<int32_t>::min();
  EXPECT_EQ((Powers<int32_t, int64_t>({3, -3, 2, 0, 2}, {4, 3, 31, 0, int64_t{1} << 40})),
            std::vector<int32_t>({81, -27, kLeast32, 1, 0}));
  EXPECT_EQ((Powers<int32_t, int32_t>({7, -1}, {0, kMost32})), std::vector<int32_t>({1, -1}));
  EXPECT_EQ((Powers<int64_t, int32_t>({3, 2, 10}, {39, 64, 18})),
            std::vector<int64_t>({4052555153018976267, 0, 1000000000000000000}));
  EXPECT_EQ((Powers<int64_t, int64_t>({-2, kMost64}, {63, 2})),
            std::vector<int64_t>({std::numeric_limits<int64_t>::min(), 1}));
  EXPECT_EQ((Powers<int32_t, float>({9, 2, -8, 10, -10, 2}, {0.5f, -1, 0.5f, 30, 31, kNan})),
            std::vector<int32_t>({3, 0, kMost32, kMost32, kLeast32, kMost32}));
  EXPECT_EQ((Powers<int64_t, float>({9, 10, 10}, {1.5f, 15, kInfinity})),
            std::vector<int64_t>({27, 1000000000000000, kMost64}));
  EXPECT_EQ((Powers<float, int32_t>({2, -2, 0, 1.5f}, {-1, 3, -1, 2})),
            std::vector<float>({0.5f, -8, kInfinity, 2.25f}));
  EXPECT_EQ((Powers<float, int64_t>({-1, 2}, {5, -149})), std::vector<float>({-1, 0x1p-149f}));
  EXPECT_EQ((Powers<float, float>({4}, {0.5f})), std::vector<float>({2}));
}

TEST(PlainNumbers, PowersThatAreErrors) {
  const Given x = MakeGiven<int64_t>({1}, {2});
  const Given minus = MakeGiven<int32_t>({1}, {-1});
  EXPECT_NE(RunLayer(Pow{}, {x, minus}, {Type::kInt64}).error.find("negative"), std::string::npos);
  EXPECT_NE(RunLayer(Pow{}, {x, MakeGiven<int8_t>({1}, {1})}, {Type::kInt64}).error, "");
  EXPECT_NE(RunLayer(Pow{}, {x, x}, {Type::kInt32}).error, "");
}

}  // namespace
}  // namespace intaglio::nn::test
