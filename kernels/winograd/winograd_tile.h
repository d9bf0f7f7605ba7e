// The Winograd routines of a kernel (winograd_args.h), over its vocabulary V (kernels/tile/tile.h),
// whose depth step is 2, and a vocabulary W of int16 that has, beside what transforms.h names,
//   I16                          the same type as V::Operand
//   Load16, Store16
//   LoadBytes(const uint8_t*, flip)   k16Lanes bytes, their top bits flipped, as int16
#ifndef INTAGLIO_KERNELS_WINOGRAD_WINOGRAD_TILE_H_
#define INTAGLIO_KERNELS_WINOGRAD_WINOGRAD_TILE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "intaglio/kernels/tile/finish.h"
#include "intaglio/kernels/tile/finish_pairs.h"
#include "intaglio/kernels/winograd/line_tile.h"
#include "intaglio/kernels/winograd/transforms.h"
#include "intaglio/kernels/winograd/winograd_args.h"

namespace intaglio {

// F(4x4, 3x3).
template <class W>
struct SquareInput {
  static constexpr int kUnder = 36;

  // V of k16Lanes channels of a tile.
  static INTAGLIO_INLINE void Transform(const uint8_t* const* pixels, ptrdiff_t first, uint8_t flip,
                                        int16_t* to, ptrdiff_t step) {
    using I16 = typename W::I16;
    I16 lines[6][6];  // [line of frequencies][column of pixels]
    for (int x = 0; x < 6; ++x) {
      I16 d[6];
      INTAGLIO_UNROLL
      for (int y = 0; y < 6; ++y) d[y] = W::LoadBytes(pixels[6 * y + x] + first, flip);
      I16 t[6];
      TransformPixels<W>(d, t);
      INTAGLIO_UNROLL
      for (int y = 0; y < 6; ++y) lines[y][x] = t[y];
    }
    for (int y = 0; y < 6; ++y) {
      I16 t[6];
      TransformPixels<W>(lines[y], t);
      INTAGLIO_UNROLL
      for (int x = 0; x < 6; ++x) {
        W::Store16(to, t[x]);
        to = AddBytes(to, step);
      }
    }
  }
};

template <class W, class Input>
void TransformInput(const WinogradInputArgs& args) {
  int c = 0;
  for (; c + W::k16Lanes <= args.channels; c += W::k16Lanes) {
    Input::Transform(args.pixels, c, args.flip, args.to + c, args.step);
  }
  if (c == args.channels) return;
  uint8_t padded[Input::kUnder][W::k16Lanes] = {};
  const uint8_t* pixels[Input::kUnder];
  for (int i = 0; i < Input::kUnder; ++i) {
    std::memcpy(padded[i], args.pixels[i] + c, static_cast<size_t>(args.channels - c));
    pixels[i] = padded[i];
  }
  Input::Transform(pixels, 0, args.flip, args.to + c, args.step);
}

template <class V, class W>
struct SquareWeights {
  // U of one vector of pairs; `from` is its first tap, and `tap` bytes lie between its nine taps.
  static INTAGLIO_INLINE void Transform(const int8_t* from, ptrdiff_t tap, int,
                                        typename W::I16 zero_point, int16_t* to, ptrdiff_t step) {
    using I16 = typename W::I16;
    I16 lines[6][3];
    for (int x = 0; x < 3; ++x) {
      I16 w[3];
      INTAGLIO_UNROLL
      for (int y = 0; y < 3; ++y) {
        w[y] = W::Sub16(V::LoadPanel(from + (3 * y + x) * tap), zero_point);
      }
      I16 t[6];
      TransformTaps<W>(w, t);
      INTAGLIO_UNROLL
      for (int y = 0; y < 6; ++y) lines[y][x] = t[y];
    }
    for (int y = 0; y < 6; ++y) {
      I16 t[6];
      TransformTaps<W>(lines[y], t);
      INTAGLIO_UNROLL
      for (int x = 0; x < 6; ++x) {
        W::Store16(to, t[x]);
        to = AddBytes(to, step);
      }
    }
  }
};

template <class V, class W, class Weights>
void TransformWeights(const WinogradWeightsArgs& args) {
  static_assert(V::kDepthStep == 2 && W::k16Lanes == 2 * V::kLanes);
  const ptrdiff_t pair = ptrdiff_t{args.vectors} * V::kLanes * V::kDepthStep;
  const ptrdiff_t tap = pair * (args.channels / 2);
  const int8_t* const block = args.panel + args.first_tap * tap;
  for (int j = 0; j < args.vectors; ++j) {
    const auto zero_point = W::Load16(args.zero_points + j * W::k16Lanes);
    const int8_t* from = block + args.first / 2 * pair + j * V::kLanes * V::kDepthStep;
    int16_t* to = args.to + j * W::k16Lanes;
    for (int p = 0; p < args.count / 2; ++p) {
      Weights::Transform(from, tap, args.taps, zero_point, to, args.step);
      from += pair;
      to += args.vectors * W::k16Lanes;
    }
  }
}

// M of one frequency for four tiles.
template <class V, class W, int kVectors>
INTAGLIO_INLINE void MultiplyTiles(const char* rows, ptrdiff_t row_step, const int16_t* weights,
                                   int count, int32_t* to) {
  typename V::I32 acc[kWinogradTiles][kVectors];
  INTAGLIO_UNROLL
  for (int r = 0; r < kWinogradTiles; ++r) {
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) acc[r][j] = V::Set(0);
  }
  const char* const end = rows + count * ptrdiff_t{sizeof(int16_t)};
  const char* const second = rows + 2 * row_step;
  const ptrdiff_t apart = second - rows;
  do {
    typename W::I16 u[kVectors];
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) u[j] = W::Load16(weights + j * W::k16Lanes);
    INTAGLIO_UNROLL
    for (int r = 0; r < kWinogradTiles; ++r) {
      const auto x = V::LoadRow(rows + (r / 2) * apart + (r % 2) * row_step);
      INTAGLIO_UNROLL
      for (int j = 0; j < kVectors; ++j) {
        acc[r][j] = V::Dot(acc[r][j], u[j], x);
        V::Keep(acc[r][j]);
      }
    }
    weights += kVectors * W::k16Lanes;
    rows += 2 * sizeof(int16_t);
  } while (rows != end);
  INTAGLIO_UNROLL
  for (int r = 0; r < kWinogradTiles; ++r) {
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) V::Store(to + (r * kVectors + j) * V::kLanes, acc[r][j]);
  }
}

template <class V, class W, int kVectors = V::kMaxVectors>
void MultiplyFrequencies(const WinogradProductArgs& args) {
  if constexpr (kVectors > 1) {
    if (args.vectors < kVectors) return MultiplyFrequencies<V, W, kVectors / 2>(args);
  }
  for (int f = 0; f < args.frequencies; ++f) {
    const auto* rows = reinterpret_cast<const char*>(args.rows) + f * args.rows_step;
    const int16_t* weights = AddBytes(args.weights, f * args.weights_step);
    int32_t* to = AddBytes(args.to, f * args.to_step);
    for (int t = 0; t < args.tiles; t += kWinogradTiles) {
      MultiplyTiles<V, W, kVectors>(rows + t * args.row_step, args.row_step, weights, args.count,
                                    to + t * kVectors * V::kLanes);
    }
  }
}

template <class V>
struct SquareOutput {
  static constexpr int kPixels = 16;

  // The accumulators of one vector of channels of a tile: [pixels][kVectors] vectors, from `to` on.
  template <int kVectors>
  static INTAGLIO_INLINE void Accumulate(const WinogradFinishArgs& args, const int32_t* products,
                                         typename V::I32 offset, int32_t* to) {
    using I32 = typename V::I32;
    for (int g = 0; g < args.groups; ++g) {
      I32 columns[4][6];  // [line of pixels][column of frequencies]
      for (int x = 0; x < 6; ++x) {
        I32 m[6];
        INTAGLIO_UNROLL
        for (int y = 0; y < 6; ++y) m[y] = V::Load(AddBytes(products, (6 * y + x) * args.step));
        I32 t[4];
        TransformProducts<V>(m, t);
        INTAGLIO_UNROLL
        for (int y = 0; y < 4; ++y) columns[y][x] = t[y];
      }
      int32_t* at = to;
      for (int y = 0; y < 4; ++y) {
        I32 t[4];
        TransformProducts<V>(columns[y], t);
        INTAGLIO_UNROLL
        for (int x = 0; x < 4; ++x, at += kVectors * V::kLanes) {
          V::Store(at, V::Add(ToAccumulator<V>(t[x]), g == 0 ? offset : V::Load(at)));
        }
      }
      products = AddBytes(products, args.group_step);
    }
  }
};

// The same of all channels of a panel, offsets included.
template <class V, class Output, int kVectors>
__attribute__((noinline)) void AccumulateTile(const WinogradFinishArgs& args, int tile,
                                              int32_t* to) {
  const ParamsOf<V>& params = *ParamsIn<V>(args);
  const int32_t* products = args.products + tile * kVectors * V::kLanes;
  for (int j = 0; j < kVectors; ++j) {
    Output::template Accumulate<kVectors>(
        args, products + j * V::kLanes, V::Load(params.offset + j * V::kLanes), to + j * V::kLanes);
  }
}

// Tiles that are scaled by one of the bounded forms to bytes, in registers.
template <class V, class Output, int kVectors, class Form, size_t... kVector>
__attribute__((noinline)) void FinishToBytes(const WinogradFinishArgs& args, Form form,
                                             std::index_sequence<kVector...>) {
  const ParamsOf<V>& params = *ParamsIn<V>(args);
  using Scaled = decltype(form(params, 0));
  const Scaled scaled[] = {form(params, static_cast<int>(kVector) * V::kLanes)...};
  const ByteStoreOf<V, Form> store(args.epilogue);
  alignas(64) int32_t accumulators[Output::kPixels * kVectors * V::kLanes];
  for (int t = 0; t < args.tiles; ++t) {
    AccumulateTile<V, Output, kVectors>(args, t, accumulators);
    char* const* dst = args.dst + t * Output::kPixels;
    const int32_t* from = accumulators;
    for (int i = 0; i < Output::kPixels; i += 2, from += 2 * kVectors * V::kLanes) {
      typename V::I32 acc[2][kVectors];
      INTAGLIO_UNROLL
      for (int j = 0; j < kVectors; ++j) {
        acc[0][j] = scaled[j](V::Load(from + j * V::kLanes));
        acc[1][j] = scaled[j](V::Load(from + (kVectors + j) * V::kLanes));
      }
      store.template Store<kVectors>(dst[i] + args.dst_offset, dst[i + 1] + args.dst_offset, acc[0],
                                     acc[1]);
    }
  }
}

template <class V, class Output, int kVectors>
bool FinishInRegisters(const WinogradFinishArgs& args) {
  if constexpr (kStoresPairs<V> && kVectors == V::kMaxVectors) {
    return SizeOf(args.epilogue.output) == 1 &&
           WithBoundedScaling<V, kVectors>(*args.params, [&](auto form) {
             FinishToBytes<V, Output, kVectors>(args, form, std::make_index_sequence<kVectors>());
             return true;
           });
  }
  return false;
}

template <class V, class Output, int kVectors = V::kMaxVectors>
void FinishTiles(const WinogradFinishArgs& args) {
  if constexpr (kVectors > 1) {
    if (args.vectors < kVectors) return FinishTiles<V, Output, kVectors / 2>(args);
  }
  if (FinishInRegisters<V, Output, kVectors>(args)) return;
  alignas(64) int32_t accumulators[Output::kPixels * kVectors * V::kLanes];
  for (int t = 0; t < args.tiles; ++t) {
    AccumulateTile<V, Output, kVectors>(args, t, accumulators);
    for (int i = 0; i < Output::kPixels; ++i) {
      FinishRows<V, kVectors>(*ParamsIn<V>(args), args.epilogue,
                              accumulators + i * kVectors * V::kLanes, 1,
                              args.dst[t * Output::kPixels + i] + args.dst_offset, 0);
    }
  }
}

template <class V, class W, class L>
constexpr WinogradTransforms MakeLine() {
  return {TransformInput<W, LineTileInput<W, L>>, TransformWeights<V, W, LineTileWeights<V, W, L>>,
          FinishTiles<V, LineTileOutput<V, L>>};
}

// kLines: with forms for lines, too.
template <class V, class W, bool kLines = false>
constexpr WinogradRoutines MakeWinograd(const PanelRoutines& pack, const WinogradRange& pays,
                                        const WinogradRange& lines_pay = {}) {
  WinogradRoutines routines{
      {{TransformInput<W, SquareInput<W>>, TransformWeights<V, W, SquareWeights<V, W>>,
        FinishTiles<V, SquareOutput<V>>}},
      MultiplyFrequencies<V, W>,
      {.lanes = V::kLanes, .vectors = V::kMaxVectors, .depth_step = V::kDepthStep},
      pack,
      pays,
      lines_pay};
  if constexpr (kLines) {
    routines.transforms[1] = MakeLine<V, W, Line6x4>();
    routines.transforms[2] = MakeLine<V, W, Line4x5>();
    routines.transforms[3] = MakeLine<V, W, Line4x3>();
  }
  return routines;
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_WINOGRAD_WINOGRAD_TILE_H_
