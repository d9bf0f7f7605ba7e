// The element-wise routines of every kernel, over its kernel vocabulary V and its bytes B:
//   Widen<kVectors>(const uint8_t* p, uint8_t flip, I32* a)
//        kVectors vectors of bytes, flipped and zero-extended, in the order that StoreBytes writes
#ifndef INTAGLIO_KERNELS_LINES_H_
#define INTAGLIO_KERNELS_LINES_H_

#include <cstring>

#include "intaglio/kernels/line_args.h"

namespace intaglio {

template <class V, class B>
struct Lines {
  using I32 = typename V::I32;
  static constexpr int kVectors = V::kMaxVectors;
  static constexpr ptrdiff_t kBlock = kVectors * V::kLanes;  // bytes

  // out[i] = output(f(a[i], b[i])), block by block; the last bytes by way of memory.
  template <bool kSigned, class Function>
  static INTAGLIO_INLINE void Combine(const Function& f, const LineOutput& output,
                                      const LinePair& line) {
    const auto* a = static_cast<const uint8_t*>(line.a);
    const auto* b = static_cast<const uint8_t*>(line.b);
    auto* out = static_cast<uint8_t*>(line.out);
    alignas(64) uint8_t repeated[kBlock];
    if (line.repeats_b) {
      std::memset(repeated, *b, kBlock);
      b = repeated;
    }
    const ptrdiff_t step_b = line.repeats_b ? 0 : kBlock;
    ptrdiff_t left = line.count;
    for (; left >= kBlock; left -= kBlock, a += kBlock, b += step_b, out += kBlock) {
      CombineBlock<kSigned>(f, output, a, b, out);
    }
    if (left == 0) return;
    alignas(64) uint8_t last_a[kBlock] = {};
    alignas(64) uint8_t last_b[kBlock] = {};
    std::memcpy(last_a, a, static_cast<size_t>(left));
    std::memcpy(last_b, b, static_cast<size_t>(left));
    CombineBlock<kSigned>(f, output, last_a, last_b, last_a);
    std::memcpy(out, last_a, static_cast<size_t>(left));
  }

  template <bool kSigned, class Function>
  static INTAGLIO_INLINE void CombineBlock(const Function& f, const LineOutput& output,
                                           const uint8_t* a, const uint8_t* b, uint8_t* out) {
    constexpr uint8_t kFlip = kSigned ? 0x80 : 0;
    I32 x[kVectors];
    I32 y[kVectors];
    B::template Widen<kVectors>(a, kFlip, x);
    B::template Widen<kVectors>(b, kFlip, y);
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) x[j] = f(x[j], y[j]);
    V::template StoreBytes<kVectors, kSigned>(out, x, output.zero_point, output.clamp_min,
                                              output.clamp_max);
  }

  template <class Function>
  static INTAGLIO_INLINE void Run(const Function& f, const LineOutput& output,
                                  const LinePair& line) {
    if (output.is_signed) return Combine<true>(f, output, line);
    Combine<false>(f, output, line);
  }

  static void Add(const SumOfBytes& sum, const LineOutput& output, const LinePair& line) {
    if (sum.linear) return Run(LinearSumOfBytes<V>(sum), output, line);
    Run(DefinedSumOfBytes<V>(sum), output, line);
  }

  static void Multiply(const ProductOfBytes& product, const LineOutput& output,
                       const LinePair& line) {
    const I32 zero_a = V::Set(product.zero_a);
    const I32 zero_b = V::Set(product.zero_b);
    const DoubleRoundingBounded<V> scale(V::Set(product.scale.mantissa),
                                         V::Set(product.scale.right_shift()));
    // Differences of bytes are int16, the upper halves of whose lanes are signs: those of one
    // operand are cleared, so that the pairs' second products vanish.
    const I32 lower = V::Set(0xffff);
    Run(
        [=](I32 a, I32 b) {
          return scale(V::DotPairs(V::Sub(a, zero_a), V::And(V::Sub(b, zero_b), lower)));
        },
        output, line);
  }

  // Calls block(load, out) for every block of a line of windows: load(t) is where the bytes of tap
  // t can be read. The last bytes are computed again rather than in a narrower block; a line
  // narrower than a block goes by way of memory.
  template <class Block>
  static INTAGLIO_INLINE void ForBlocks(const void* const* in, void* out, ptrdiff_t count,
                                        const Block& block) {
    auto* to = static_cast<uint8_t*>(out);
    if (count == 0) return;
    if (count < kBlock) {
      alignas(64) uint8_t tap[kBlock] = {};
      alignas(64) uint8_t result[kBlock];
      block(
          [&](int t) {
            std::memcpy(tap, in[t], static_cast<size_t>(count));
            return static_cast<const uint8_t*>(tap);
          },
          result);
      std::memcpy(to, result, static_cast<size_t>(count));
      return;
    }
    for (ptrdiff_t at = 0; at < count; at += kBlock) {
      const ptrdiff_t from = at < count - kBlock ? at : count - kBlock;
      block([&](int t) { return static_cast<const uint8_t*>(in[t]) + from; }, to + from);
    }
  }

  // acc = combine(acc, tap) over all taps, of bytes that are moved where kSigned.
  template <bool kSigned, class Load, class Combine>
  static INTAGLIO_INLINE void Reduce(int taps, const Load& load, I32 (&acc)[kVectors],
                                     const Combine& combine) {
    for (int t = 0; t < taps; ++t) {
      I32 tap[kVectors];
      B::template Widen<kVectors>(load(t), kSigned ? 0x80 : 0, tap);
      INTAGLIO_UNROLL
      for (int j = 0; j < kVectors; ++j) acc[j] = combine(acc[j], tap[j]);
    }
  }

  template <bool kSigned>
  static INTAGLIO_INLINE void LargestOf(const void* const* in, int taps, const LineOutput& output,
                                        void* out, ptrdiff_t count) {
    ForBlocks(in, out, count, [&](const auto& load, uint8_t* to) {
      I32 best[kVectors];
      INTAGLIO_UNROLL
      for (int j = 0; j < kVectors; ++j) best[j] = V::Set(0);
      Reduce<kSigned>(taps, load, best, [](I32 a, I32 b) { return V::Max(a, b); });
      V::template StoreBytes<kVectors, kSigned>(to, best, kSigned ? -128 : 0, output.clamp_min,
                                                output.clamp_max);
    });
  }

  static void Largest(const void* const* in, int taps, const LineOutput& output, void* out,
                      ptrdiff_t count) {
    if (output.is_signed) return LargestOf<true>(in, taps, output, out, count);
    LargestOf<false>(in, taps, output, out, count);
  }

  // sum / taps. x = |sum| + floor(taps / 2) is below 2^20, and exact in float32; floor(x / taps) is
  // that of (x + 1/2) / taps, which is at least 2^-13 away from any integer and below 2^8: the
  // roundings to float32 do not reach so far.
  static INTAGLIO_INLINE I32 Mean(I32 sum, I32 half, typename V::F32 inverse) {
    const I32 sign = V::template ShiftRight<31>(sum);
    const I32 x = V::Add(V::Sub(V::Xor(sum, sign), sign), half);
    const I32 mean = V::TruncateToInt(V::MulF(V::AddF(V::ToFloat(x), V::SetF(0.5f)), inverse));
    return V::Sub(V::Xor(mean, sign), sign);
  }

  template <bool kSigned>
  static INTAGLIO_INLINE void AverageOf(const void* const* in, int taps, const LineOutput& output,
                                        void* out, ptrdiff_t count) {
    const I32 half = V::Set(taps / 2);
    const auto inverse = V::SetF(1.0f / static_cast<float>(taps));
    ForBlocks(in, out, count, [&](const auto& load, uint8_t* to) {
      I32 sum[kVectors];
      INTAGLIO_UNROLL
      for (int j = 0; j < kVectors; ++j) sum[j] = V::Set(kSigned ? -128 * taps : 0);
      Reduce<kSigned>(taps, load, sum, [](I32 a, I32 b) { return V::Add(a, b); });
      INTAGLIO_UNROLL
      for (int j = 0; j < kVectors; ++j) sum[j] = Mean(sum[j], half, inverse);
      V::template StoreBytes<kVectors, kSigned>(to, sum, 0, output.clamp_min, output.clamp_max);
    });
  }

  static void Average(const void* const* in, int taps, const LineOutput& output, void* out,
                      ptrdiff_t count) {
    if (output.is_signed) return AverageOf<true>(in, taps, output, out, count);
    AverageOf<false>(in, taps, output, out, count);
  }

  template <class T>
  static INTAGLIO_INLINE void AddUpAs(const void* const* in, int taps, int32_t* sums,
                                      ptrdiff_t count) {
    for (int t = 0; t < taps; ++t) {
      const T* tap = static_cast<const T*>(in[t]);
      for (ptrdiff_t i = 0; i < count; ++i) sums[i] += tap[i];
    }
  }

  static void AddUp(const void* const* in, int taps, bool is_signed, int32_t* sums,
                    ptrdiff_t count) {
    if (is_signed) return AddUpAs<int8_t>(in, taps, sums, count);
    AddUpAs<uint8_t>(in, taps, sums, count);
  }
};

template <class V, class B>
inline constexpr LineRoutines kLines = {Lines<V, B>::Add, Lines<V, B>::Multiply,
                                        Lines<V, B>::Largest, Lines<V, B>::Average,
                                        Lines<V, B>::AddUp};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_LINES_H_
