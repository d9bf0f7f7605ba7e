// The element-wise routines of every kernel, over its kernel vocabulary V and its bytes B:
//   Widen<kVectors>(const uint8_t* p, uint8_t flip, I32* a)
//        kVectors vectors of bytes, flipped and zero-extended, in the order that StoreBytes writes
//   LoadInOrder<kVectors>(const T* p, I32* a)
//        kVectors vectors of int8_t or uint8_t numbers, in the order of memory
//   WidenPairs<kVectors>(const uint8_t* a, const uint8_t* b, uint8_t flip, I32* pairs)
//        the same of two lines, b's bytes in the upper halves of the lanes
//   LeastWord(words)
//        the least of eight uint16, in a vector of the compiler's
#ifndef INTAGLIO_KERNELS_ELEMENTWISE_BYTE_ELEMENTWISE_H_
#define INTAGLIO_KERNELS_ELEMENTWISE_BYTE_ELEMENTWISE_H_

#include <algorithm>
#include <cstring>

#include "intaglio/fixedpoint/transcendental.h"
#include "intaglio/kernels/elementwise/blend_bytes.h"
#include "intaglio/kernels/elementwise/byte_argmax.h"
#include "intaglio/kernels/elementwise/byte_pooling.h"
#include "intaglio/kernels/elementwise/line_args.h"
#include "intaglio/kernels/tile/blend.h"
#include "intaglio/kernels/tile/column_sums.h"
#include "intaglio/kernels/tile/finish.h"

namespace intaglio {

template <class V, class B>
struct Lines {
  using I32 = typename V::I32;
  static constexpr int kVectors = V::kMaxVectors;
  static constexpr ptrdiff_t kBlock = kVectors * V::kLanes;  // bytes

  // block(a, b, out) for `count` bytes, a multiple of kBlock. A function of its own, as there is
  // much code to a block; its constants are copies, to which no result can write.
  template <class Block>
  static __attribute__((noinline)) void RunBlocks(const uint8_t* a, const uint8_t* b,
                                                  ptrdiff_t step_b, uint8_t* out, ptrdiff_t count,
                                                  const Block block) {
    for (; count > 0; count -= kBlock, a += kBlock, b += step_b, out += kBlock) block(a, b, out);
  }

  // The same of a line; the last bytes by way of memory.
  template <class Block>
  static INTAGLIO_INLINE void ForBlocks(const LinePair& line, const Block& block) {
    const auto* a = static_cast<const uint8_t*>(line.a);
    const auto* b = static_cast<const uint8_t*>(line.b);
    auto* out = static_cast<uint8_t*>(line.out);
    alignas(64) uint8_t repeated[kBlock];
    if (line.repeats_b) {
      std::memset(repeated, *b, kBlock);
      b = repeated;
    }
    const ptrdiff_t whole = line.count / kBlock * kBlock;
    RunBlocks(a, b, line.repeats_b ? 0 : kBlock, out, whole, block);
    const auto left = static_cast<size_t>(line.count - whole);
    if (left == 0) return;
    alignas(64) uint8_t last_a[kBlock] = {};
    alignas(64) uint8_t last_b[kBlock] = {};
    std::memcpy(last_a, a + whole, left);
    std::memcpy(last_b, line.repeats_b ? b : b + whole, left);
    RunBlocks(last_a, last_b, 0, last_a, kBlock, block);
    std::memcpy(out + whole, last_a, left);
  }

  template <bool kSigned>
  static INTAGLIO_INLINE void Store(const LineOutput& output, const I32 (&x)[kVectors],
                                    uint8_t* out) {
    V::template StoreBytes<kVectors, kSigned>(out, x, output.zero_point, output.clamp_min,
                                              output.clamp_max);
  }

  // out[i] = output(f(a[i], b[i])).
  template <bool kSigned, class Function>
  static INTAGLIO_INLINE void Combine(const Function& f, const LineOutput output,
                                      const LinePair& line) {
    constexpr uint8_t kFlip = kSigned ? 0x80 : 0;
    ForBlocks(line, [=](const uint8_t* a, const uint8_t* b, uint8_t* out) {
      I32 x[kVectors];
      I32 y[kVectors];
      B::template Widen<kVectors>(a, kFlip, x);
      B::template Widen<kVectors>(b, kFlip, y);
      INTAGLIO_UNROLL
      for (int j = 0; j < kVectors; ++j) x[j] = f(x[j], y[j]);
      Store<kSigned>(output, x, out);
    });
  }

  template <class Function>
  static INTAGLIO_INLINE void Run(const Function& f, const LineOutput& output,
                                  const LinePair& line) {
    if (output.is_signed) return Combine<true>(f, output, line);
    Combine<false>(f, output, line);
  }

  // The same with both numbers in one lane, b[i] in its upper half.
  template <bool kSigned, class Function>
  static INTAGLIO_INLINE void CombinePairs(const Function& f, const LineOutput output,
                                           const LinePair& line) {
    constexpr uint8_t kFlip = kSigned ? 0x80 : 0;
    ForBlocks(line, [=](const uint8_t* a, const uint8_t* b, uint8_t* out) {
      I32 x[kVectors];
      B::template WidenPairs<kVectors>(a, b, kFlip, x);
      INTAGLIO_UNROLL
      for (int j = 0; j < kVectors; ++j) x[j] = f(x[j]);
      Store<kSigned>(output, x, out);
    });
  }

  template <class Function>
  static INTAGLIO_INLINE void RunPairs(const Function& f, const LineOutput& output,
                                       const LinePair& line) {
    if (output.is_signed) return CombinePairs<true>(f, output, line);
    CombinePairs<false>(f, output, line);
  }

  static void Add(const SumOfBytes& sum, const LineOutput& output, const LinePair& line) {
    if (!sum.linear) return Run(DefinedSumOfBytes<V>(sum), output, line);
    AddLinear(sum, output, line);
  }

  static INTAGLIO_INLINE void AddLinear(const SumOfBytes& sum, const LineOutput& output,
                                        const LinePair& line) {
    LineOutput moved = output;
    moved.zero_point += sum.offset;
    const auto run = [&](const auto& linear) {
      RunPairs([=](I32 pairs) { return linear.OfPairs(pairs); }, moved, line);
    };
    if (sum.ties_away) return run(LinearSumOfBytes<V, true>(sum));
    run(LinearSumOfBytes<V, false>(sum));
  }

  static void AddWords(const SumOfBytes& sum, const LineOutput& output, const LinePair& line) {
    const DefinedSumOfBytes<V, SumOfBytes::kWordShift> defined(sum);
    const I32 low = V::Set(output.clamp_min);
    const I32 high = V::Set(output.clamp_max);
    const auto vector = [&](const int16_t* a, const int16_t* b, int16_t* out) {
      const I32 x[] = {V::Min(V::Max(defined(LoadWords(a), LoadWords(b)), low), high)};
      V::template StoreInt16<1>(out, x);
    };
    const auto* a = static_cast<const int16_t*>(line.a);
    const auto* b = static_cast<const int16_t*>(line.b);
    auto* out = static_cast<int16_t*>(line.out);
    int16_t repeated[V::kLanes];
    if (line.repeats_b) b = std::fill_n(repeated, V::kLanes, *b) - V::kLanes;
    const ptrdiff_t step_b = line.repeats_b ? 0 : V::kLanes;
    ptrdiff_t left = line.count;
    for (; left >= V::kLanes; left -= V::kLanes, a += V::kLanes, b += step_b, out += V::kLanes) {
      vector(a, b, out);
    }
    if (left == 0) return;
    int16_t last_a[V::kLanes] = {};
    int16_t last_b[V::kLanes] = {};
    std::copy_n(a, left, last_a);
    std::copy_n(b, left, last_b);
    vector(last_a, last_b, last_a);
    std::copy_n(last_a, left, out);
  }

  static INTAGLIO_INLINE I32 LoadWords(const int16_t* p) {
    int32_t words[V::kLanes];
    for (int i = 0; i < V::kLanes; ++i) words[i] = p[i];
    return V::Load(words);
  }

  static void Multiply(const ProductOfBytes& product, const LineOutput& output,
                       const LinePair& line) {
    if constexpr (kTakesFits<V>) {
      if (product.fitted && product.fit.stretch == 1) {
        return MultiplyFitted<false>(product, output, line);
      }
      if (product.fitted) return MultiplyFitted<true>(product, output, line);
    }
    MultiplyBy(product, 0, output, line,
               DoubleRoundingBounded<V>(V::Set(product.scale.mantissa),
                                        V::Set(product.scale.right_shift())));
  }

  template <bool kStretched>
  static INTAGLIO_INLINE void MultiplyFitted(const ProductOfBytes& product,
                                             const LineOutput& output, const LinePair& line) {
    const DoubleRoundingFit& fit = product.fit;
    const auto stretch = V::SetF(fit.stretch);
    const auto shift = V::SetF(fit.shift);
    const auto scale = V::SetF(fit.scale);
    const auto addend = V::SetF(fit.addend);
    const I32 origin = V::Set(fit.origin - output.zero_point);  // adds both at once
    LineOutput moved = output;
    moved.zero_point = 0;
    MultiplyBy(product, fit.base, moved, line, [=](I32 x) {
      auto f = V::FloatOfBits(x);
      if constexpr (kStretched) f = V::FusedMulAdd(f, stretch, shift);
      return DoubleRoundingFitted<V>(f, scale, addend, origin);
    });
  }

  // out[i] = output(scale(base + (a[i] - zero a) * (b[i] - zero b))), the product multiplied out:
  // with both bytes in one lane, which is less to widen, it is a * b by a shift, less the bytes
  // times the other's zero point.
  template <class Scale>
  static INTAGLIO_INLINE void MultiplyBy(const ProductOfBytes& product, int32_t base,
                                         const LineOutput& output, const LinePair& line,
                                         const Scale& scale) {
    const I32 start = V::Set(base + product.zero_a * product.zero_b);
    const I32 zeros = V::Set((-product.zero_b & 0xffff) | -product.zero_a * (1 << 16));
    RunPairs(
        [=](I32 pairs) {
          const I32 x = AddDotPairs<V>(start, pairs, zeros);
          return scale(AddDotPairs<V>(x, pairs, V::template ShiftRight<16>(pairs)));
        },
        output, line);
  }

  // The second rounding of a number that is not negative is an addition; the sum is below 2^32.
  static void Requantize(const int32_t* in, const QuantizedMultiplier& scale,
                         const LineOutput& output, void* out, ptrdiff_t count) {
    const I32 mantissa = V::Set(scale.mantissa);
    const I32 shift = V::Set(scale.right_shift());
    const I32 half = V::Set(static_cast<int32_t>((1u << scale.right_shift()) >> 1));
    ForVectors(in, static_cast<uint8_t*>(out), count, [&](const int32_t* from, uint8_t* stored) {
      const I32 product = RoundingDoublingHighMul<V>(V::Load(from), mantissa);
      const I32 x[] = {V::ShiftRightLogical(V::Add(product, half), shift)};
      if (output.is_signed) return StoreVector<true>(output, x, stored);
      StoreVector<false>(output, x, stored);
    });
  }

  static void Reciprocals(const int32_t* in, int32_t* out, ptrdiff_t count) {
    ForVectors(in, out, count, [](const int32_t* from, int32_t* stored) {
      V::Store(stored, OneOverOnePlusX(FixedPoint<V, 0>::FromRaw(V::Load(from))).raw());
    });
  }

  static void Dequantize(const void* in, const LineOutput& numbers, float scale, float* out,
                         ptrdiff_t count) {
    if (numbers.is_signed) {
      Dequantize(static_cast<const int8_t*>(in), numbers.zero_point, scale, out, count);
    } else {
      Dequantize(static_cast<const uint8_t*>(in), numbers.zero_point, scale, out, count);
    }
  }

  template <class T>
  static INTAGLIO_INLINE void Dequantize(const T* in, int32_t zero_point, float scale, float* out,
                                         ptrdiff_t count) {
    const I32 zero = V::Set(zero_point);
    const typename V::F32 by = V::SetF(scale);
    const auto block = [&](const T* from, float* to) {
      I32 x[kVectors];
      B::template LoadInOrder<kVectors>(from, x);
      INTAGLIO_UNROLL
      for (int j = 0; j < kVectors; ++j) {
        V::StoreF(to + j * V::kLanes, V::MulF(V::ToFloat(V::Sub(x[j], zero)), by));
      }
    };
    for (; count >= kBlock; count -= kBlock, in += kBlock, out += kBlock) block(in, out);
    if (count == 0) return;
    T last[kBlock] = {};
    float results[kBlock];
    std::memcpy(last, in, static_cast<size_t>(count));
    block(last, results);
    std::memcpy(out, results, static_cast<size_t>(count) * sizeof *out);
  }

  // vector(in, out) for every vector of a line; the last lanes by way of memory.
  template <class T, class Vector>
  static INTAGLIO_INLINE void ForVectors(const int32_t* in, T* out, ptrdiff_t count,
                                         const Vector& vector) {
    ptrdiff_t i = 0;
    for (; i + V::kLanes <= count; i += V::kLanes) vector(in + i, out + i);
    if (i >= count) return;
    const auto left = static_cast<size_t>(count - i);
    int32_t last[V::kLanes] = {};
    T results[V::kLanes];
    std::memcpy(last, in + i, left * sizeof *in);
    vector(last, results);
    std::memcpy(out + i, results, left * sizeof *out);
  }

  template <bool kSigned>
  static INTAGLIO_INLINE void StoreVector(const LineOutput& output, const I32 (&x)[1],
                                          uint8_t* out) {
    V::template StoreBytes<1, kSigned>(out, x, output.zero_point, output.clamp_min,
                                       output.clamp_max);
  }
};

template <class V, class B>
inline constexpr LineRoutines kLines = {
    Lines<V, B>::Add,        Lines<V, B>::AddWords,   Lines<V, B>::Multiply,
    Windows<V>::Largest,     Windows<V>::Mean,        ColumnSums<V>::Add,
    Places<V, B>::OfLargest, Blend<V>::Fixed,         Blend<V>::Real,
    BlendBytes<V>::Run,      Lines<V, B>::Requantize, Lines<V, B>::Reciprocals,
    Lines<V, B>::Dequantize};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_ELEMENTWISE_BYTE_ELEMENTWISE_H_
