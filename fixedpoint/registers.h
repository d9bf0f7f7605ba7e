// The register vocabulary: the small set of operations in which every fixed-point function, output
// stage and micro-kernel epilogue is written once and for all instruction sets.
//
// A vocabulary is a struct of static functions over the types I32 (kLanes int32), I64 (the kLanes
// 64-bit products of two I32, in whatever order the instruction set likes), and F32 (kLanes
// float32). This file holds the scalar one, which *defines* what each operation means; the
// vocabulary of an instruction set is one header beside its kernels. All int32 arithmetic wraps
// modulo 2^32.
//
// A mask is an I32 whose lanes are 0 or -1.
//
// The types of a vocabulary may be bare intrinsic types and may coincide with each other: name them
// through the vocabulary (typename R::I32), give every operation on int16 a name of its own, and
// keep them out of template argument lists (R::I32 v[4], not std::array<R::I32, 4>).
//
// MulF followed by AddF rounds twice. Every translation unit of the library is therefore compiled
// with -ffp-contract=off. A caller's translation unit may lack this flag: there, stages run in
// vocabularies that do not need it (unfused.h).
//
// The words of this room:
//   vocabulary   the operations of one instruction set: a struct of static inline functions
//   R            a vocabulary as a template parameter; kernels call theirs V
//   lane         one int32 or float32 of a register
//   mask         a register whose lanes select: 0 or -1
//   wide         of 64 bits a lane
//   accumulator  an int32 sum of products, modulo 2^32
//   multiplier   the positive real number that scales accumulators
//   mantissa     31 bits of a fixed-point multiplier, with its highest bit set; or 0
//   exponent     the multiplier is mantissa * 2^(exponent - 31)
//   shift        the same as a count: left_shift, right_shift, or total_shift = 31 - exponent
//   requantize   to multiply an accumulator by a multiplier, and round to an int32
//   mode         how that rounds (RequantMode)
//   bounded      of a form: right only for accumulators or multipliers within bounds
//   fit          float32 numbers with which a multiply-add gives a mode's bits, proven for one
//                multiplier, a range of accumulators, and 8-bit results
//   base, origin what a fit adds to an accumulator, and subtracts from its result
//   threshold    the least accumulator of which a result is reached
//   saturate     to take the nearest number that fits; wrap: to keep the low bits
//   raw          the integer that stands for a fixed-point number
//   status       an error with its message, or none; a Result is a value or a status
#ifndef INTAGLIO_FIXEDPOINT_REGISTERS_H_
#define INTAGLIO_FIXEDPOINT_REGISTERS_H_

#include <bit>
#include <cmath>
#include <cstdint>

#include "intaglio/fixedpoint/language.h"

// Kernels are compiled with flags of their own; what they inline must not leave a copy behind that
// the linker could give to code for older CPUs. For nvcc, all that is written over a vocabulary is
// code for the device as well.
#if defined(__CUDACC__)
#define INTAGLIO_INLINE __host__ __device__ inline __attribute__((always_inline))
#else
#define INTAGLIO_INLINE inline __attribute__((always_inline))
#endif

// Before a loop whose arrays are to live in registers.
#if defined(__CUDA_ARCH__)
#define INTAGLIO_UNROLL _Pragma("unroll")
#elif defined(__CUDACC__)
#define INTAGLIO_UNROLL
#elif defined(__clang__)
#define INTAGLIO_UNROLL _Pragma("clang loop unroll(full)")
#else
#define INTAGLIO_UNROLL _Pragma("GCC unroll 32")
#endif

namespace intaglio {

struct Scalar {
  static constexpr int kLanes = 1;
  using I32 = int32_t;
  using I64 = int64_t;
  using F32 = float;

  static INTAGLIO_INLINE I32 Load(const int32_t* p) { return *p; }  // any alignment
  static INTAGLIO_INLINE void Store(int32_t* p, I32 a) { *p = a; }
  static INTAGLIO_INLINE I32 Set(int32_t a) { return a; }  // every lane
  static INTAGLIO_INLINE F32 LoadF(const float* p) { return *p; }
  static INTAGLIO_INLINE void StoreF(float* p, F32 a) { *p = a; }
  static INTAGLIO_INLINE F32 SetF(float a) { return a; }

  static INTAGLIO_INLINE I32 Add(I32 a, I32 b) { return Wrap(Bits(a) + Bits(b)); }
  static INTAGLIO_INLINE I32 Sub(I32 a, I32 b) { return Wrap(Bits(a) - Bits(b)); }
  static INTAGLIO_INLINE I32 Mul(I32 a, I32 b) { return Wrap(Bits(a) * Bits(b)); }
  // Lanes taken as two int16 each: the sum of their two products.
  static INTAGLIO_INLINE I32 DotPairs(I32 a, I32 b) {
    return Add(static_cast<int16_t>(a) * static_cast<int16_t>(b), (a >> 16) * (b >> 16));
  }
  static INTAGLIO_INLINE I32 And(I32 a, I32 b) { return a & b; }
  static INTAGLIO_INLINE I32 Or(I32 a, I32 b) { return a | b; }
  static INTAGLIO_INLINE I32 Xor(I32 a, I32 b) { return a ^ b; }
  static INTAGLIO_INLINE I32 Min(I32 a, I32 b) { return a < b ? a : b; }
  static INTAGLIO_INLINE I32 Max(I32 a, I32 b) { return a > b ? a : b; }
  static INTAGLIO_INLINE I32 Greater(I32 a, I32 b) { return a > b ? -1 : 0; }  // mask
  static INTAGLIO_INLINE I32 Equal(I32 a, I32 b) { return a == b ? -1 : 0; }   // mask
  static INTAGLIO_INLINE I32 Select(I32 mask, I32 a, I32 b) { return mask != 0 ? a : b; }

  // Shifts by per-lane counts in [0, 31]; ShiftRight is arithmetic.
  static INTAGLIO_INLINE I32 ShiftLeft(I32 a, I32 count) { return Wrap(Bits(a) << count); }
  static INTAGLIO_INLINE I32 ShiftRight(I32 a, I32 count) { return a >> count; }
  // Zeros come in from the left; the count may be 32, which leaves 0.
  static INTAGLIO_INLINE I32 ShiftRightLogical(I32 a, I32 count) {
    return Wrap(static_cast<uint32_t>(uint64_t{Bits(a)} >> count));
  }
  // The same by one constant for all lanes.
  template <int kCount>
  static INTAGLIO_INLINE I32 ShiftLeft(I32 a) {
    return Wrap(Bits(a) << kCount);
  }
  template <int kCount>
  static INTAGLIO_INLINE I32 ShiftRight(I32 a) {
    return a >> kCount;
  }

  // 64-bit products and what is needed of them. No operation on I64 may overflow.
  static INTAGLIO_INLINE I64 MulWide(I32 a, I32 b) { return int64_t{a} * b; }
  static INTAGLIO_INLINE I64 AddWide(I64 a, I64 b) { return a + b; }
  static INTAGLIO_INLINE I64 SetWide(int64_t a) { return a; }
  // Per lane high * 2^32 + low, low taken as unsigned.
  static INTAGLIO_INLINE I64 JoinWide(I32 high, I32 low) {
    return static_cast<int64_t>(uint64_t{Bits(high)} << 32 | Bits(low));
  }
  // The low 32 bits of floor(a / 2^kCount), 1 <= kCount <= 32.
  template <int kCount>
  static INTAGLIO_INLINE I32 NarrowShift(I64 a) {
    return Wrap(static_cast<uint32_t>(a >> kCount));
  }
  // The same by per-lane counts in [1, 62].
  static INTAGLIO_INLINE I32 NarrowShift(I64 a, I32 count) {
    return Wrap(static_cast<uint32_t>(a >> count));
  }
  // 2^count per lane as a 64-bit number, count in [0, 62].
  static INTAGLIO_INLINE I64 PowerOfTwoWide(I32 count) { return int64_t{1} << count; }

  static INTAGLIO_INLINE F32 ToFloat(I32 a) { return static_cast<float>(a); }  // ties to even
  // Ties to even. The caller promises -2^31 <= a < 2^31, or that the lane is not used.
  static INTAGLIO_INLINE I32 RoundToInt(F32 a) { return static_cast<int32_t>(std::nearbyintf(a)); }
  // Towards zero. The caller promises -2^31 <= a < 2^31, or that the lane is not used.
  static INTAGLIO_INLINE I32 TruncateToInt(F32 a) { return static_cast<int32_t>(a); }
  static INTAGLIO_INLINE F32 FloatOfBits(I32 a) { return std::bit_cast<float>(a); }
  static INTAGLIO_INLINE F32 MulF(F32 a, F32 b) { return a * b; }
  static INTAGLIO_INLINE F32 AddF(F32 a, F32 b) { return a + b; }
  // a * b + c, rounded once.
  static INTAGLIO_INLINE F32 FusedMulAdd(F32 a, F32 b, F32 c) { return std::fmaf(a, b, c); }
  static INTAGLIO_INLINE F32 MinF(F32 a, F32 b) { return a < b ? a : b; }
  static INTAGLIO_INLINE F32 MaxF(F32 a, F32 b) { return a > b ? a : b; }

  // k16Lanes int16, for 16-bit fixed point.
  static constexpr int k16Lanes = 1;
  using I16 = int16_t;
  static INTAGLIO_INLINE I16 Load16(const int16_t* p) { return *p; }  // any alignment
  static INTAGLIO_INLINE void Store16(int16_t* p, I16 a) { *p = a; }
  static INTAGLIO_INLINE I16 Set16(int16_t a) { return a; }
  static INTAGLIO_INLINE I16 SaturatingAdd16(I16 a, I16 b) { return Saturate16(a + b); }
  static INTAGLIO_INLINE I16 SaturatingSub16(I16 a, I16 b) { return Saturate16(a - b); }
  // floor((a * b + 2^14) / 2^15), saturated: only -2^15 * -2^15 is. Arm's SQRDMULH.
  static INTAGLIO_INLINE I16 SaturatingRoundingDoublingHighMul16(I16 a, I16 b) {
    return Saturate16((a * b + (1 << 14)) >> 15);
  }

 private:
  static INTAGLIO_INLINE uint32_t Bits(int32_t a) { return static_cast<uint32_t>(a); }
  static INTAGLIO_INLINE int32_t Wrap(uint32_t a) { return static_cast<int32_t>(a); }
  static INTAGLIO_INLINE int16_t Saturate16(int32_t a) {
    return static_cast<int16_t>(Min(Max(a, -32768), 32767));
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_FIXEDPOINT_REGISTERS_H_
