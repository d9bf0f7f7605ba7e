// What fixedpoint/ has to give, from the definitions: rational arithmetic on 128 bits, written
// without a look at the implementation. docs/numerics.md is the same in words.
#ifndef INTAGLIO_TEST_FIXEDPOINT_ORACLE_H_
#define INTAGLIO_TEST_FIXEDPOINT_ORACLE_H_

#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

#include "intaglio/test/fixedpoint/wide.h"

namespace intaglio::test {

inline Wide PowerOfTwo(int exponent) { return Wide{1} << exponent; }

inline Wide FloorDivide(Wide a, Wide b) {  // b > 0
  const Wide q = a / b;
  return a % b < 0 ? q - 1 : q;
}

inline int32_t Saturate(Wide a) {
  return static_cast<int32_t>(a > INT32_MAX ? INT32_MAX : a < INT32_MIN ? INT32_MIN : a);
}

// The rounding rules, of a / b to an integer, b > 0.
inline Wide TiesUp(Wide a, Wide b) { return FloorDivide(2 * a + b, 2 * b); }
inline Wide TiesAway(Wide a, Wide b) { return a < 0 ? -TiesUp(-a, b) : TiesUp(a, b); }
inline Wide TiesEven(Wide a, Wide b) {
  const Wide up = TiesUp(a, b);
  const bool tie = 2 * a + b == 2 * b * up;
  return tie && up % 2 != 0 ? up - 1 : up;
}

inline int32_t HighMulOracle(int32_t a, int32_t b) {
  return Saturate(TiesUp(Wide{a} * b, PowerOfTwo(31)));
}

inline int32_t DoubleRoundingOracle(int32_t acc, int32_t mantissa, int left, int right) {
  const int32_t shifted = Saturate(acc * PowerOfTwo(left));
  return Saturate(TiesAway(HighMulOracle(shifted, mantissa), PowerOfTwo(right)));
}

inline int32_t SingleRoundingOracle(int32_t acc, int32_t mantissa, int total_shift) {
  return Saturate(TiesUp(Wide{acc} * mantissa, PowerOfTwo(total_shift)));
}

// number * 2^exponent.
struct Scaled {
  Wide number;
  int exponent;
};

// To 24 significant bits, ties to even. The exponent range is not bounded.
inline Scaled RoundToFloat(Scaled x) {
  for (int drop = 0;; ++drop) {
    const Wide rounded = TiesEven(x.number, PowerOfTwo(drop));
    if (rounded < PowerOfTwo(24) && rounded > -PowerOfTwo(24)) return {rounded, x.exponent + drop};
  }
}

// The scale is mantissa * 2^exponent with a mantissa of 24 bits.
inline int32_t FloatHalfEvenOracle(int32_t acc, Scaled scale) {
  const Scaled acc_float = RoundToFloat({acc, 0});
  const Scaled product =
      RoundToFloat({acc_float.number * scale.number, acc_float.exponent + scale.exponent});
  if (product.number == 0) return 0;
  const int32_t limit = product.number < 0 ? INT32_MIN : INT32_MAX - 127;
  if (product.exponent > 31) return limit;
  if (product.exponent < -60) return 0;
  if (product.exponent < 0) {
    const Wide y = TiesEven(product.number, PowerOfTwo(-product.exponent));
    return static_cast<int32_t>(y);
  }
  const Wide y = product.number * PowerOfTwo(product.exponent);
  return y < INT32_MIN || y > INT32_MAX - 127 ? limit : static_cast<int32_t>(y);
}

// Powers of two and their neighbours of either sign within [lowest, highest], the bounds, and some
// more, without repetition where the range is short.
inline std::vector<int32_t> Boundaries(int64_t lowest, int64_t highest, int random, unsigned seed) {
  std::vector<int32_t> values;
  const auto add = [&](int64_t x) {
    if (x >= lowest && x <= highest) values.push_back(static_cast<int32_t>(x));
  };
  if (highest - lowest < 100) {
    for (int64_t x = lowest; x <= highest; ++x) add(x);
    return values;
  }
  for (const int64_t x : {lowest, lowest + 1, highest - 1, highest, int64_t{0}}) add(x);
  for (int bit = 0; bit < 32; ++bit) {
    for (const int64_t offset : {-1, 0, 1}) {
      add((int64_t{1} << bit) + offset);
      add(-(int64_t{1} << bit) + offset);
      add((int64_t{3} << bit >> 1) + offset);
      add(-(int64_t{3} << bit >> 1) + offset);
    }
  }
  std::mt19937 random_bits(seed);
  std::uniform_int_distribution<int64_t> uniform(lowest, highest);
  for (int i = 0; i < random; ++i) {
    add(uniform(random_bits));
    add(uniform(random_bits) >> (random_bits() % 31));
  }
  return values;
}

// Whether the environment asks for tests of minutes.
inline bool Exhaustive() {
  const char* value = std::getenv("INTAGLIO_EXHAUSTIVE");
  return value != nullptr && value[0] == '1';
}

}  // namespace intaglio::test

#endif  // INTAGLIO_TEST_FIXEDPOINT_ORACLE_H_
