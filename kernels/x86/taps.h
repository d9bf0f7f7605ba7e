// The taps of depthwise convolutions in x86 vectors, over a kernel vocabulary V that has, beside
// what tile.h names,
//   LoadSpread<kVectors>(const uint8_t*)   the kVectors * kLanes bytes of a panel, 4 * kVectors of
//                                          them at the bottom of each 128 bits
//   Xor(a, b), Broadcast8(byte)
//   LoadQuads(const uint8_t* const (&rows)[4])   if one vector's bytes are faster interleaved so
//   JoinRows<kVectors>(const uint8_t*, const uint8_t*), PairsOf<kVectors>(joined, j)   if pairs are
//                                          faster interleaved so; joined: a panel's bytes of two
//                                          rows in any order
//   UnpackLow8(a, b), UnpackHigh8, UnpackLow16, UnpackHigh16   PUNPCKLBW and the others
// Unpacking within 128 bits gives just the order of a panel's lanes.
#ifndef INTAGLIO_KERNELS_X86_TAPS_H_
#define INTAGLIO_KERNELS_X86_TAPS_H_

#include <cstdint>

#include "intaglio/fixedpoint/registers.h"

namespace intaglio {

// Lanes of two int16 taps, for VPMADDWD.
template <class V>
struct TapPairs {
  static constexpr int kStep = 2;
  using Operand = typename V::Operand;

  template <int kVectors>
  static INTAGLIO_INLINE void Interleave(const uint8_t* const (&rows)[kStep], uint8_t flip,
                                         Operand* groups) {
    if constexpr (requires { V::template JoinRows<kVectors>(rows[0], rows[1]); }) {
      const Operand joined = Join<kVectors>(rows[0], rows[1], flip);
      INTAGLIO_UNROLL
      for (int j = 0; j < kVectors; ++j) groups[j] = Pairs<kVectors>(joined, j);
      return;
    }
    const Operand top = V::Broadcast8(flip);
    const Operand zero = V::Broadcast8(0);
    const Operand a = V::Xor(V::template LoadSpread<kVectors>(rows[0]), top);
    const Operand b = V::Xor(V::template LoadSpread<kVectors>(rows[1]), top);
    const Operand low = V::UnpackLow8(a, b);
    groups[0] = V::UnpackLow8(low, zero);
    if constexpr (kVectors > 1) groups[1] = V::UnpackHigh8(low, zero);
    if constexpr (kVectors > 2) {
      const Operand high = V::UnpackHigh8(a, b);
      groups[2] = V::UnpackLow8(high, zero);
      groups[3] = V::UnpackHigh8(high, zero);
    }
  }
  // The bytes of two rows, which Pairs brings to vector j of their group.
  template <int kVectors>
  requires requires { V::template JoinRows<kVectors>(nullptr, nullptr); }
  static INTAGLIO_INLINE Operand Join(const uint8_t* a, const uint8_t* b, uint8_t flip) {
    return V::Xor(V::template JoinRows<kVectors>(a, b), V::Broadcast8(flip));
  }
  template <int kVectors>
  static INTAGLIO_INLINE Operand Pairs(Operand joined, int j) {
    return V::template PairsOf<kVectors>(joined, j);
  }
  static INTAGLIO_INLINE Operand LoadWeights(const int8_t* p) { return V::LoadPanel(p); }
  static INTAGLIO_INLINE typename V::I32 Dot(typename V::I32 acc, Operand w, Operand x) {
    return V::Dot(acc, w, x);
  }
};

// Lanes of four uint8 taps, for VPDPBUSD.
template <class V>
struct TapQuads {
  static constexpr int kStep = 4;
  using Operand = typename V::Operand;

  template <int kVectors>
  static INTAGLIO_INLINE void Interleave(const uint8_t* const (&rows)[kStep], uint8_t flip,
                                         Operand* groups) {
    if constexpr (kVectors == 1 && requires { V::LoadQuads(rows); }) {
      groups[0] = V::Xor(V::LoadQuads(rows), V::Broadcast8(flip));
    } else if constexpr (kVectors < 4) {
      InterleaveTwo<kVectors>(rows, flip, 0, groups);
    } else {
      const Operand top = V::Broadcast8(flip);
      const auto load = [&](int i) { return V::Xor(V::template LoadSpread<4>(rows[i]), top); };
      const Operand a = load(0);
      const Operand b = load(1);
      const Operand c = load(2);
      const Operand d = load(3);
      const Operand low[] = {V::UnpackLow8(a, b), V::UnpackLow8(c, d)};
      const Operand high[] = {V::UnpackHigh8(a, b), V::UnpackHigh8(c, d)};
      groups[0] = V::UnpackLow16(low[0], low[1]);
      groups[1] = V::UnpackHigh16(low[0], low[1]);
      groups[2] = V::UnpackLow16(high[0], high[1]);
      groups[3] = V::UnpackHigh16(high[0], high[1]);
    }
  }
  // Vector `first`, which is even, and the next one.
  template <int kVectors>
  static INTAGLIO_INLINE void InterleaveTwo(const uint8_t* const (&rows)[kStep], uint8_t flip,
                                            int first, Operand* groups) {
    const Operand top = V::Broadcast8(flip);
    const auto load = [&](int i) { return V::template LoadSpread<kVectors>(rows[i]); };
    const auto unpack = [&](Operand a, Operand b) {
      return first == 0 ? V::UnpackLow8(a, b) : V::UnpackHigh8(a, b);
    };
    const Operand ab = unpack(load(0), load(1));
    const Operand cd = unpack(load(2), load(3));
    groups[first] = V::Xor(V::UnpackLow16(ab, cd), top);
    if constexpr (kVectors > 1) groups[first + 1] = V::Xor(V::UnpackHigh16(ab, cd), top);
  }
  static INTAGLIO_INLINE Operand LoadWeights(const int8_t* p) { return V::LoadPanel(p); }
  static INTAGLIO_INLINE typename V::I32 Dot(typename V::I32 acc, Operand w, Operand x) {
    return V::Dot(acc, w, x);
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_X86_TAPS_H_
