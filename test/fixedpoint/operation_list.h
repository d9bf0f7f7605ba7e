// The list of operations.h, over any register vocabulary R.
#ifndef INTAGLIO_TEST_FIXEDPOINT_OPERATION_LIST_H_
#define INTAGLIO_TEST_FIXEDPOINT_OPERATION_LIST_H_

#include <cstdint>

#include "intaglio/fixedpoint/fit_double_rounding.h"
#include "intaglio/fixedpoint/fixed_point.h"
#include "intaglio/fixedpoint/inverse_sqrt.h"
#include "intaglio/fixedpoint/multiply.h"
#include "intaglio/fixedpoint/requantize.h"
#include "intaglio/fixedpoint/requantize_bounded.h"
#include "intaglio/fixedpoint/transcendental.h"
#include "intaglio/test/fixedpoint/operations.h"

namespace intaglio::test {

template <class R, auto kFunction>
void Run(const int32_t* const in[4], int32_t* out, int64_t size) {
  for (int64_t i = 0; i < size; i += R::kLanes) {
    R::Store(out + i, kFunction(R::Load(in[0] + i), R::Load(in[1] + i), R::Load(in[2] + i),
                                R::Load(in[3] + i)));
  }
}

template <class R, auto kFunction>
void Run16(const int16_t* a, const int16_t* b, int16_t* out, int64_t size) {
  for (int64_t i = 0; i < size; i += R::k16Lanes) {
    R::Store16(out + i, kFunction(R::Load16(a + i), R::Load16(b + i)));
  }
}

template <class R>
typename R::F32 FloatOfBits(typename R::I32 bits) {
  alignas(64) int32_t memory[R::kLanes];
  alignas(64) float number[R::kLanes];
  R::Store(memory, bits);
  __builtin_memcpy(number, memory, sizeof memory);
  return R::LoadF(number);
}

template <class R>
typename R::I32 BitsOfFloat(typename R::F32 x) {
  alignas(64) int32_t memory[R::kLanes];
  alignas(64) float number[R::kLanes];
  R::StoreF(number, x);
  __builtin_memcpy(memory, number, sizeof memory);
  return R::Load(memory);
}

inline constexpr Domain kAny = {INT32_MIN, INT32_MAX};
inline constexpr Domain kMask = {-1, 0};
inline constexpr Domain kCount = {0, 31};
inline constexpr Domain kWideCount = {1, 62};
inline constexpr Domain kMantissa = {0, INT32_MAX};
inline constexpr Domain kAnyFloat = {INT32_MIN, INT32_MAX, Domain::kFloat};

template <class R, int kIntegers>
FixedPoint<R, kIntegers> Fixed(typename R::I32 raw) {
  return FixedPoint<R, kIntegers>::FromRaw(raw);
}

template <class T, int kCountOfT>
constexpr int CountOf(const T (&)[kCountOfT]) {
  return kCountOfT;
}

template <class R>
OperationTable MakeOperationTable() {
  static constexpr Operation kOperations[] = {
      // The vocabulary.
      {"Set", {kAny}, Run<R, [](auto a, auto...) { return R::Add(a, R::Set(123456789)); }>},
      {"Add", {kAny, kAny}, Run<R, [](auto a, auto b, auto...) { return R::Add(a, b); }>},
      {"Sub", {kAny, kAny}, Run<R, [](auto a, auto b, auto...) { return R::Sub(a, b); }>},
      {"Mul", {kAny, kAny}, Run<R, [](auto a, auto b, auto...) { return R::Mul(a, b); }>},
      {"DotPairs", {kAny, kAny}, Run<R, [](auto a, auto b, auto...) { return R::DotPairs(a, b); }>},
      {"And", {kAny, kAny}, Run<R, [](auto a, auto b, auto...) { return R::And(a, b); }>},
      {"Or", {kAny, kAny}, Run<R, [](auto a, auto b, auto...) { return R::Or(a, b); }>},
      {"Xor", {kAny, kAny}, Run<R, [](auto a, auto b, auto...) { return R::Xor(a, b); }>},
      {"Min", {kAny, kAny}, Run<R, [](auto a, auto b, auto...) { return R::Min(a, b); }>},
      {"Max", {kAny, kAny}, Run<R, [](auto a, auto b, auto...) { return R::Max(a, b); }>},
      {"Greater", {kAny, kAny}, Run<R, [](auto a, auto b, auto...) { return R::Greater(a, b); }>},
      {"Equal", {kAny, kAny}, Run<R, [](auto a, auto b, auto...) { return R::Equal(a, b); }>},
      {"Equal of near",
       {Domain{-3, 3}, Domain{-3, 3}},
       Run<R, [](auto a, auto b, auto...) { return R::Equal(a, b); }>},
      {"Select",
       {kMask, kAny, kAny},
       Run<R, [](auto a, auto b, auto c, auto...) { return R::Select(a, b, c); }>},
      {"ShiftLeft",
       {kAny, kCount},
       Run<R, [](auto a, auto b, auto...) { return R::ShiftLeft(a, b); }>},
      {"ShiftRight",
       {kAny, kCount},
       Run<R, [](auto a, auto b, auto...) { return R::ShiftRight(a, b); }>},
      {"ShiftRightLogical",
       {kAny, Domain{0, 32}},
       Run<R, [](auto a, auto b, auto...) { return R::ShiftRightLogical(a, b); }>},
      {"ShiftLeft<1>", {kAny}, Run<R, [](auto a, auto...) { return R::template ShiftLeft<1>(a); }>},
      {"ShiftRight<1>",
       {kAny},
       Run<R, [](auto a, auto...) { return R::template ShiftRight<1>(a); }>},
      {"ShiftLeft<31>",
       {kAny},
       Run<R, [](auto a, auto...) { return R::template ShiftLeft<31>(a); }>},
      {"ShiftRight<31>",
       {kAny},
       Run<R, [](auto a, auto...) { return R::template ShiftRight<31>(a); }>},
      {"MulWide",
       {kAny, kAny},
       Run<R,
           [](auto a, auto b, auto...) { return R::template NarrowShift<32>(R::MulWide(a, b)); }>},
      {"MulWide, low",
       {kAny, kAny},
       Run<R,
           [](auto a, auto b, auto...) { return R::template NarrowShift<1>(R::MulWide(a, b)); }>},
      {"AddWide",
       {Domain{-(1 << 30), 1 << 30}, Domain{-(1 << 30), 1 << 30}, Domain{-(1 << 30), 1 << 30}},
       Run<R,
           [](auto a, auto b, auto c, auto...) {
             return R::template NarrowShift<32>(R::AddWide(R::MulWide(a, b), R::MulWide(b, c)));
           }>},
      {"SetWide",
       {Domain{-(1 << 30), 1 << 30}, Domain{-(1 << 30), 1 << 30}},
       Run<R,
           [](auto a, auto b, auto...) {
             return R::template NarrowShift<32>(
                 R::AddWide(R::MulWide(a, b), R::SetWide(0x123456789abcdef)));
           }>},
      {"NarrowShift<1>",
       {kAny, kAny},
       Run<R,
           [](auto a, auto b, auto...) { return R::template NarrowShift<1>(R::JoinWide(a, b)); }>},
      {"NarrowShift<16>",
       {kAny, kAny},
       Run<R,
           [](auto a, auto b, auto...) { return R::template NarrowShift<16>(R::JoinWide(a, b)); }>},
      {"NarrowShift<31>",
       {kAny, kAny},
       Run<R,
           [](auto a, auto b, auto...) { return R::template NarrowShift<31>(R::JoinWide(a, b)); }>},
      {"NarrowShift<32>",
       {kAny, kAny},
       Run<R,
           [](auto a, auto b, auto...) { return R::template NarrowShift<32>(R::JoinWide(a, b)); }>},
      {"NarrowShift",
       {kAny, kAny, kWideCount},
       Run<R,
           [](auto a, auto b, auto c, auto...) { return R::NarrowShift(R::JoinWide(a, b), c); }>},
      {"PowerOfTwoWide, low",
       {Domain{0, 62}},
       Run<R, [](auto a, auto...) { return R::template NarrowShift<1>(R::PowerOfTwoWide(a)); }>},
      {"PowerOfTwoWide, high",
       {Domain{0, 62}},
       Run<R, [](auto a, auto...) { return R::template NarrowShift<32>(R::PowerOfTwoWide(a)); }>},
      {"ToFloat", {kAny}, Run<R, [](auto a, auto...) { return BitsOfFloat<R>(R::ToFloat(a)); }>},
      {"RoundToInt",
       {Domain{INT32_MIN, 2147483520, Domain::kFloat}},
       Run<R, [](auto a, auto...) { return R::RoundToInt(FloatOfBits<R>(a)); }>},
      {"TruncateToInt",
       {Domain{INT32_MIN, 2147483520, Domain::kFloat}},
       Run<R, [](auto a, auto...) { return R::TruncateToInt(FloatOfBits<R>(a)); }>},
      {"FloatOfBits",
       {kAny},
       Run<R, [](auto a, auto...) { return BitsOfFloat<R>(R::FloatOfBits(a)); }>},
      {"FusedMulAdd",
       {kAnyFloat, kAnyFloat, kAnyFloat},
       Run<R,
           [](auto a, auto b, auto c, auto...) {
             return BitsOfFloat<R>(
                 R::FusedMulAdd(FloatOfBits<R>(a), FloatOfBits<R>(b), FloatOfBits<R>(c)));
           }>},
      {"SetF",
       {kAnyFloat},
       Run<R, [](auto a,
                 auto...) { return BitsOfFloat<R>(R::AddF(FloatOfBits<R>(a), R::SetF(0.1f))); }>},
      {"MulF",
       {kAnyFloat, kAnyFloat},
       Run<R,
           [](auto a, auto b, auto...) {
             return BitsOfFloat<R>(R::MulF(FloatOfBits<R>(a), FloatOfBits<R>(b)));
           }>},
      {"AddF",
       {kAnyFloat, kAnyFloat},
       Run<R,
           [](auto a, auto b, auto...) {
             return BitsOfFloat<R>(R::AddF(FloatOfBits<R>(a), FloatOfBits<R>(b)));
           }>},
      {"MinF",
       {kAnyFloat, kAnyFloat},
       Run<R,
           [](auto a, auto b, auto...) {
             return BitsOfFloat<R>(R::MinF(FloatOfBits<R>(a), FloatOfBits<R>(b)));
           }>},
      {"MaxF",
       {kAnyFloat, kAnyFloat},
       Run<R,
           [](auto a, auto b, auto...) {
             return BitsOfFloat<R>(R::MaxF(FloatOfBits<R>(a), FloatOfBits<R>(b)));
           }>},
      {"AddF of MulF",
       {kAnyFloat, kAnyFloat, kAnyFloat},
       Run<R,
           [](auto a, auto b, auto c, auto...) {
             return BitsOfFloat<R>(
                 R::AddF(R::MulF(FloatOfBits<R>(a), FloatOfBits<R>(b)), FloatOfBits<R>(c)));
           }>},

      // multiply.h
      {"RoundingDoublingHighMul",
       {kAny, Domain{-INT32_MAX, INT32_MAX}},
       Run<R, [](auto a, auto b, auto...) { return RoundingDoublingHighMul<R>(a, b); }>},
      {"SaturatingRoundingDoublingHighMul",
       {kAny, kAny},
       Run<R, [](auto a, auto b, auto...) { return SaturatingRoundingDoublingHighMul<R>(a, b); }>},
      {"RoundingDivideByPowerOfTwo",
       {kAny, kCount},
       Run<R, [](auto a, auto b, auto...) { return RoundingDivideByPowerOfTwo<R>(a, b); }>},
      {"RoundingDivideByPowerOfTwo<0>",
       {kAny},
       Run<R, [](auto a, auto...) { return RoundingDivideByPowerOfTwo<R, 0>(a); }>},
      {"RoundingDivideByPowerOfTwo<1>",
       {kAny},
       Run<R, [](auto a, auto...) { return RoundingDivideByPowerOfTwo<R, 1>(a); }>},
      {"RoundingDivideByPowerOfTwo<2>",
       {kAny},
       Run<R, [](auto a, auto...) { return RoundingDivideByPowerOfTwo<R, 2>(a); }>},
      {"RoundingDivideByPowerOfTwo<15>",
       {kAny},
       Run<R, [](auto a, auto...) { return RoundingDivideByPowerOfTwo<R, 15>(a); }>},
      {"RoundingDivideByPowerOfTwo<31>",
       {kAny},
       Run<R, [](auto a, auto...) { return RoundingDivideByPowerOfTwo<R, 31>(a); }>},
      {"SaturatingShiftLeft",
       {kAny, kCount},
       Run<R, [](auto a, auto b, auto...) { return SaturatingShiftLeft<R>(a, b); }>},
      {"SaturatingShiftLeft<0>",
       {kAny},
       Run<R, [](auto a, auto...) { return SaturatingShiftLeft<R, 0>(a); }>},
      {"SaturatingShiftLeft<1>",
       {kAny},
       Run<R, [](auto a, auto...) { return SaturatingShiftLeft<R, 1>(a); }>},
      {"SaturatingShiftLeft<5>",
       {kAny},
       Run<R, [](auto a, auto...) { return SaturatingShiftLeft<R, 5>(a); }>},
      {"SaturatingShiftLeft<31>",
       {kAny},
       Run<R, [](auto a, auto...) { return SaturatingShiftLeft<R, 31>(a); }>},

      // fit_double_rounding.h, of values that stay within int32
      {"DoubleRoundingFitted",
       {Domain{-(1 << 24), 1 << 24, Domain::kFloat}, Domain{-1, 1, Domain::kFloat},
        Domain{0, 1 << 24, Domain::kFloat}, Domain{0, 1 << 24}},
       Run<R,
           [](auto a, auto b, auto c, auto d) {
             return DoubleRoundingFitted<R>(FloatOfBits<R>(a), FloatOfBits<R>(b), FloatOfBits<R>(c),
                                            d);
           }>},

      // requantize.h
      {"RequantizeDoubleRounding",
       {kAny, kMantissa, Domain{0, 30}, kCount},
       Run<R,
           [](auto a, auto b, auto c, auto d) { return RequantizeDoubleRounding<R>(a, b, c, d); }>},
      {"DoubleRoundingBounded",
       {Domain{-(1 << 30), (1 << 30) - 1}, kMantissa, kCount},
       Run<R, [](auto a, auto b, auto c, auto...) { return DoubleRoundingBounded<R>(b, c)(a); }>},
      {"RequantizeSingleRounding",
       {kAny, kMantissa, kWideCount},
       Run<R,
           [](auto a, auto b, auto c, auto...) { return RequantizeSingleRounding<R>(a, b, c); }>},
      {"SingleRoundingBounded",
       {kAny, kMantissa, Domain{32, 62}},
       Run<R, [](auto a, auto b, auto c, auto...) { return SingleRoundingBounded<R>(b, c)(a); }>},
      {"RequantizeFloatHalfEven",
       {kAny, kAnyFloat},
       Run<R, [](auto a, auto b,
                 auto...) { return RequantizeFloatHalfEven<R>(a, FloatOfBits<R>(b)); }>},
      {"RequantizeFloatHalfEvenBounded",
       {Domain{-46340, 46340}, Domain{0, 46340, Domain::kFloat}},
       Run<R, [](auto a, auto b,
                 auto...) { return RequantizeFloatHalfEvenBounded<R>(a, FloatOfBits<R>(b)); }>},

      // fixed_point.h, transcendental.h, inverse_sqrt.h
      {"FixedPoint product",
       {kAny, kAny},
       Run<R, [](auto a, auto b, auto...) { return (Fixed<R, 3>(a) * Fixed<R, 2>(b)).raw(); }>},
      {"FixedPoint -a + b - 1",
       {kAny, kAny},
       Run<R,
           [](auto a, auto b, auto...) {
             return (-Fixed<R, 3>(a) + Fixed<R, 3>(b) - FixedPoint<R, 3>::One()).raw();
           }>},
      {"Rescale<2> from 5",
       {kAny},
       Run<R, [](auto a, auto...) { return Rescale<2>(Fixed<R, 5>(a)).raw(); }>},
      {"Rescale<5> from 2",
       {kAny},
       Run<R, [](auto a, auto...) { return Rescale<5>(Fixed<R, 2>(a)).raw(); }>},
      {"ExpOnNegativeValues<0>",
       {Domain{INT32_MIN, 0}},
       Run<R, [](auto a, auto...) { return ExpOnNegativeValues(Fixed<R, 0>(a)).raw(); }>},
      {"ExpOnNegativeValues<2>",
       {Domain{INT32_MIN, 0}},
       Run<R, [](auto a, auto...) { return ExpOnNegativeValues(Fixed<R, 2>(a)).raw(); }>},
      {"ExpOnNegativeValues<5>",
       {Domain{INT32_MIN, 0}},
       Run<R, [](auto a, auto...) { return ExpOnNegativeValues(Fixed<R, 5>(a)).raw(); }>},
      {"ExpOnNegativeValues<12>",
       {Domain{INT32_MIN, 0}},
       Run<R, [](auto a, auto...) { return ExpOnNegativeValues(Fixed<R, 12>(a)).raw(); }>},
      {"Logistic<0>",
       {kAny},
       Run<R, [](auto a, auto...) { return Logistic(Fixed<R, 0>(a)).raw(); }>},
      {"Logistic<2>",
       {kAny},
       Run<R, [](auto a, auto...) { return Logistic(Fixed<R, 2>(a)).raw(); }>},
      {"Logistic<4>",
       {kAny},
       Run<R, [](auto a, auto...) { return Logistic(Fixed<R, 4>(a)).raw(); }>},
      {"Logistic<8>",
       {kAny},
       Run<R, [](auto a, auto...) { return Logistic(Fixed<R, 8>(a)).raw(); }>},
      {"Tanh<0>", {kAny}, Run<R, [](auto a, auto...) { return Tanh(Fixed<R, 0>(a)).raw(); }>},
      {"Tanh<2>", {kAny}, Run<R, [](auto a, auto...) { return Tanh(Fixed<R, 2>(a)).raw(); }>},
      {"Tanh<4>", {kAny}, Run<R, [](auto a, auto...) { return Tanh(Fixed<R, 4>(a)).raw(); }>},
      {"Tanh<8>", {kAny}, Run<R, [](auto a, auto...) { return Tanh(Fixed<R, 8>(a)).raw(); }>},
      {"OneOverOnePlusX",
       {Domain{0, INT32_MAX}},
       Run<R, [](auto a, auto...) { return OneOverOnePlusX(Fixed<R, 0>(a)).raw(); }>},
      {"OneMinusXOverOnePlusX",
       {Domain{0, INT32_MAX}},
       Run<R, [](auto a, auto...) { return OneMinusXOverOnePlusX(Fixed<R, 0>(a)).raw(); }>},
      {"OneOverSqrt",
       {Domain{1 << 29, INT32_MAX}},
       Run<R, [](auto a, auto...) { return OneOverSqrt(Fixed<R, 1>(a)).raw(); }>},
      {"InverseSqrt, mantissa",
       {kAny},
       Run<R, [](auto a, auto...) { return InverseSqrt<R>(a).mantissa.raw(); }>},
      {"InverseSqrt, exponent",
       {kAny},
       Run<R, [](auto a, auto...) { return InverseSqrt<R>(a).exponent; }>},
  };
  static constexpr Operation16 kOperations16[] = {
      {"SaturatingAdd16", Run16<R, [](auto a, auto b) { return R::SaturatingAdd16(a, b); }>},
      {"SaturatingSub16", Run16<R, [](auto a, auto b) { return R::SaturatingSub16(a, b); }>},
      {"Set16", Run16<R, [](auto a, auto) { return R::SaturatingAdd16(a, R::Set16(-12345)); }>},
      {"SaturatingRoundingDoublingHighMul16",
       Run16<R, [](auto a, auto b) { return SaturatingRoundingDoublingHighMul16<R>(a, b); }>},
  };
  return {kOperations, CountOf(kOperations), kOperations16, CountOf(kOperations16)};
}

}  // namespace intaglio::test

#endif  // INTAGLIO_TEST_FIXEDPOINT_OPERATION_LIST_H_
