// The taps of depthwise convolutions in x86 vectors, over a kernel vocabulary V that has, beside
// what tile.h names,
//   LoadSpread<kVectors>(const uint8_t*)   the kVectors * kLanes bytes of a panel, 4 * kVectors of
//                                          them at the bottom of each 128 bits
//   Xor(a, b), Broadcast8(byte)
//   LoadQuads(const uint8_t* const (&rows)[4])   if one vector's bytes are faster interleaved so
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
    const Operand top = V::Broadcast8(flip);
    if constexpr (kVectors == 1 && requires { V::LoadQuads(rows); }) {
      groups[0] = V::Xor(V::LoadQuads(rows), top);
      return;
    }
    const Operand a = V::Xor(V::template LoadSpread<kVectors>(rows[0]), top);
    const Operand b = V::Xor(V::template LoadSpread<kVectors>(rows[1]), top);
    const Operand c = V::Xor(V::template LoadSpread<kVectors>(rows[2]), top);
    const Operand d = V::Xor(V::template LoadSpread<kVectors>(rows[3]), top);
    const Operand ab = V::UnpackLow8(a, b);
    const Operand cd = V::UnpackLow8(c, d);
    groups[0] = V::UnpackLow16(ab, cd);
    if constexpr (kVectors > 1) groups[1] = V::UnpackHigh16(ab, cd);
    if constexpr (kVectors > 2) {
      const Operand ab_high = V::UnpackHigh8(a, b);
      const Operand cd_high = V::UnpackHigh8(c, d);
      groups[2] = V::UnpackLow16(ab_high, cd_high);
      groups[3] = V::UnpackHigh16(ab_high, cd_high);
    }
  }
  static INTAGLIO_INLINE Operand LoadWeights(const int8_t* p) { return V::LoadPanel(p); }
  static INTAGLIO_INLINE typename V::I32 Dot(typename V::I32 acc, Operand w, Operand x) {
    return V::Dot(acc, w, x);
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_X86_TAPS_H_
