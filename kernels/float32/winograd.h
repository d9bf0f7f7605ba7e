// The transforms of F(4x4, 3x3) of float32, for vectors of channels. Every operation is rounded by
// itself and in one order, so that the bits do not depend on the width.
#ifndef INTAGLIO_KERNELS_FLOAT32_WINOGRAD_H_
#define INTAGLIO_KERNELS_FLOAT32_WINOGRAD_H_

#include <cstddef>

#include "intaglio/kernels/float32/float_loops.h"
#include "intaglio/kernels/float32/vectors.h"

namespace intaglio::float32 {

// B':   4  0 -5  0  1  0
//       0 -4 -4  1  1  0
//       0  4 -4 -1  1  0
//       0 -2 -1  2  1  0
//       0  2 -1 -2  1  0
//       0  4  0 -5  0  1
template <class Reals>
[[gnu::always_inline]] inline void TransformPixels(const Reals (&d)[6], Reals (&t)[6]) {
  const Reals outer = d[4] - d[2];
  const Reals inner = d[3] - d[1];
  const Reals even = d[4] - 4 * d[2];
  const Reals odd = d[3] - 4 * d[1];
  const Reals twice = 2 * inner;
  t[0] = 4 * (d[0] - d[2]) + outer;
  t[1] = even + odd;
  t[2] = even - odd;
  t[3] = outer + twice;
  t[4] = outer - twice;
  t[5] = (d[5] - d[3]) - 2 * twice;
}

// A':   1  1  1  1  1  0
//       0  1 -1  2 -2  0
//       0  1  1  4  4  0
//       0  1 -1  8 -8  1
template <class Reals>
[[gnu::always_inline]] inline void TransformProducts(const Reals (&m)[6], Reals (&y)[4]) {
  const Reals near = m[1] + m[2];
  const Reals near_difference = m[1] - m[2];
  const Reals far = m[3] + m[4];
  const Reals far_difference = m[3] - m[4];
  y[0] = m[0] + (near + far);
  y[1] = near_difference + 2 * far_difference;
  y[2] = near + 4 * far;
  y[3] = near_difference + (8 * far_difference + m[5]);
}

template <int kBytes>
[[gnu::always_inline]] inline void TransformTile(const float* const* pixels, ptrdiff_t channels,
                                                 float* to, ptrdiff_t step) {
  using Reals = typename Vectors<kBytes>::Reals;
  ForVectors<kBytes>(
      channels, [&](ptrdiff_t c, ptrdiff_t n) __attribute__((always_inline)) {
        Reals lines[6][6];  // [line of frequencies][column of pixels]
        INTAGLIO_UNROLL
        for (int x = 0; x < 6; ++x) {
          Reals d[6];
          INTAGLIO_UNROLL
          for (int y = 0; y < 6; ++y) Load(pixels[6 * y + x] + c, n, d[y]);
          Reals t[6];
          TransformPixels(d, t);
          INTAGLIO_UNROLL
          for (int y = 0; y < 6; ++y) lines[y][x] = t[y];
        }
        INTAGLIO_UNROLL
        for (int y = 0; y < 6; ++y) {
          Reals t[6];
          TransformPixels(lines[y], t);
          INTAGLIO_UNROLL
          for (int x = 0; x < 6; ++x) Store(t[x], to + (6 * y + x) * step + c, n);
        }
      });
}

template <int kBytes>
[[gnu::always_inline]] inline void FinishTile(const WinogradTile& tile, ptrdiff_t channels) {
  using Reals = typename Vectors<kBytes>::Reals;
  const Clamp<kBytes> clamp(tile.low, tile.high);
  ForVectors<kBytes>(
      channels, [&](ptrdiff_t c, ptrdiff_t n) __attribute__((always_inline)) {
        Reals columns[4][6];  // [line of pixels][column of frequencies]
        INTAGLIO_UNROLL
        for (int x = 0; x < 6; ++x) {
          Reals m[6];
          INTAGLIO_UNROLL
          for (int y = 0; y < 6; ++y) Load(tile.products + (6 * y + x) * tile.step + c, n, m[y]);
          Reals t[4];
          TransformProducts(m, t);
          INTAGLIO_UNROLL
          for (int y = 0; y < 4; ++y) columns[y][x] = t[y];
        }
        Reals bias;
        Load(tile.bias + c, n, bias);
        INTAGLIO_UNROLL
        for (int y = 0; y < 4; ++y) {
          Reals t[4];
          TransformProducts(columns[y], t);
          INTAGLIO_UNROLL
          for (int x = 0; x < 4; ++x) {
            float* const to = tile.to[4 * y + x];
            if (to == nullptr) continue;
            Reals result = t[x] + bias;
            clamp.Apply(result);
            Store(result, to + c, n);
          }
        }
      });
}

}  // namespace intaglio::float32

#endif  // INTAGLIO_KERNELS_FLOAT32_WINOGRAD_H_
