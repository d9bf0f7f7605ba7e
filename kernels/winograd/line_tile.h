// The transforms of a kernel's Winograd routines along a line L (lines.h), over the vocabularies of
// winograd_tile.h, of which W has also
//   Set16, MulLow16(I16, I16)   the low half of the products
#ifndef INTAGLIO_KERNELS_WINOGRAD_LINE_TILE_H_
#define INTAGLIO_KERNELS_WINOGRAD_LINE_TILE_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/kernels/winograd/lines.h"
#include "intaglio/kernels/winograd/winograd_args.h"

namespace intaglio {

template <class T>
INTAGLIO_INLINE T* AddBytes(T* p, ptrdiff_t bytes) {
  using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
  return reinterpret_cast<T*>(reinterpret_cast<Byte*>(p) + bytes);
}

// Sums of int16 with constant factors, modulo 2^16.
template <class W>
struct Sums16 {
  using Number = typename W::I16;
  static INTAGLIO_INLINE Number Add(Number a, Number b) { return W::Add16(a, b); }
  static INTAGLIO_INLINE Number Sub(Number a, Number b) { return W::Sub16(a, b); }
  static INTAGLIO_INLINE Number Zero() { return W::Set16(0); }
  template <int kFactor>
  static INTAGLIO_INLINE Number Times(Number a) {
    return W::MulLow16(a, W::Set16(kFactor));
  }
};

// The same of int32.
template <class V>
struct Sums32 {
  using Number = typename V::I32;
  static INTAGLIO_INLINE Number Add(Number a, Number b) { return V::Add(a, b); }
  static INTAGLIO_INLINE Number Sub(Number a, Number b) { return V::Sub(a, b); }
  static INTAGLIO_INLINE Number Zero() { return V::Set(0); }
  template <int kFactor>
  static INTAGLIO_INLINE Number Times(Number a) {
    return V::Mul(a, V::Set(kFactor));
  }
};

// sum + factor * x.
template <class S, int kFactor>
INTAGLIO_INLINE typename S::Number AddTimes(typename S::Number sum, typename S::Number x) {
  if constexpr (kFactor == 0) return sum;
  if constexpr (kFactor == 1) return S::Add(sum, x);
  if constexpr (kFactor == -1) return S::Sub(sum, x);
  return S::Add(sum, S::template Times<kFactor>(x));
}

// Row kRow of the matrix M::kMatrix by x.
template <class S, class M, int kRow, size_t... kColumn>
INTAGLIO_INLINE typename S::Number MultiplyRow(const typename S::Number* x,
                                               std::index_sequence<kColumn...>) {
  typename S::Number sum = S::Zero();
  ((sum = AddTimes<S, M::kMatrix[kRow][kColumn]>(sum, x[kColumn])), ...);
  return sum;
}

// use(i, row i of the matrix by x) for all rows.
template <class S, class M, class Use, size_t... kRow>
INTAGLIO_INLINE void MultiplyMatrix(const typename S::Number* x, const Use& use,
                                    std::index_sequence<kRow...>) {
  using Columns = std::make_index_sequence<std::size(M::kMatrix[0])>;
  (use(static_cast<int>(kRow), MultiplyRow<S, M, static_cast<int>(kRow)>(x, Columns())), ...);
}
template <class S, class M, class Use>
INTAGLIO_INLINE void MultiplyMatrix(const typename S::Number* x, const Use& use) {
  MultiplyMatrix<S, M>(x, use, std::make_index_sequence<std::size(M::kMatrix)>());
}

template <class L>
struct MatrixB {
  static constexpr const auto& kMatrix = L::kB;
};
template <class L>
struct MatrixG {
  static constexpr const auto& kMatrix = L::kG;
};
template <class L>
struct MatrixA {
  static constexpr const auto& kMatrix = L::kA;
};

template <class W, class L>
struct LineTileInput {
  static constexpr int kUnder = L::kPoints;

  // V of k16Lanes channels of a tile.
  static INTAGLIO_INLINE void Transform(const uint8_t* const* pixels, ptrdiff_t first, uint8_t flip,
                                        int16_t* to, ptrdiff_t step) {
    typename W::I16 d[L::kPoints];
    INTAGLIO_UNROLL
    for (int i = 0; i < L::kPoints; ++i) d[i] = W::LoadBytes(pixels[i] + first, flip);
    MultiplyMatrix<Sums16<W>, MatrixB<L>>(
        d, [&](int i, typename W::I16 v) { W::Store16(AddBytes(to, i * step), v); });
  }
};

template <class V, class W, class L>
struct LineTileWeights {
  // U of one vector of pairs; `from` is the block's first tap, and `tap` bytes lie between taps.
  static INTAGLIO_INLINE void Transform(const int8_t* from, ptrdiff_t tap, int taps,
                                        typename W::I16 zero_point, int16_t* to, ptrdiff_t step) {
    typename W::I16 w[L::kTaps];
    INTAGLIO_UNROLL
    for (int i = 0; i < L::kTaps; ++i) {
      w[i] = i < taps ? W::Sub16(V::LoadPanel(from + i * tap), zero_point) : W::Set16(0);
    }
    MultiplyMatrix<Sums16<W>, MatrixG<L>>(
        w, [&](int i, typename W::I16 u) { W::Store16(AddBytes(to, i * step), u); });
  }
};

template <class V, class L>
struct LineTileOutput {
  static constexpr int kPixels = L::kOutputs;

  // As SquareOutput's.
  template <int kVectors>
  static INTAGLIO_INLINE void Accumulate(const WinogradFinishArgs& args, const int32_t* products,
                                         typename V::I32 offset, int32_t* to) {
    constexpr uint32_t kInverse = InverseOf(L::kScale >> kLineShift);
    for (int g = 0; g < args.groups; ++g) {
      typename V::I32 m[L::kPoints];
      INTAGLIO_UNROLL
      for (int f = 0; f < L::kPoints; ++f) m[f] = V::Load(AddBytes(products, f * args.step));
      MultiplyMatrix<Sums32<V>, MatrixA<L>>(m, [&](int i, typename V::I32 y) {
        int32_t* const at = to + i * kVectors * V::kLanes;
        const auto sum = V::Mul(y, V::Set(static_cast<int32_t>(kInverse)));
        V::Store(at,
                 V::Add(V::template ShiftRight<kLineShift>(sum), g == 0 ? offset : V::Load(at)));
      });
      products = AddBytes(products, args.group_step);
    }
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_WINOGRAD_LINE_TILE_H_
