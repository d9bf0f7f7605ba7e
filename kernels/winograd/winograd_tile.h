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
#include "intaglio/kernels/winograd/transforms.h"
#include "intaglio/kernels/winograd/winograd_args.h"

namespace intaglio {

template <class T>
INTAGLIO_INLINE T* AddBytes(T* p, ptrdiff_t bytes) {
  using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
  return reinterpret_cast<T*>(reinterpret_cast<Byte*>(p) + bytes);
}

// V of k16Lanes channels of a tile.
template <class W>
INTAGLIO_INLINE void TransformChannels(const uint8_t* const* pixels, ptrdiff_t first, uint8_t flip,
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

template <class W>
void TransformInput(const WinogradInputArgs& args) {
  int c = 0;
  for (; c + W::k16Lanes <= args.channels; c += W::k16Lanes) {
    TransformChannels<W>(args.pixels, c, args.flip, args.to + c, args.step);
  }
  if (c == args.channels) return;
  uint8_t padded[kFrequencies][W::k16Lanes] = {};
  const uint8_t* pixels[kFrequencies];
  for (int i = 0; i < kFrequencies; ++i) {
    std::memcpy(padded[i], args.pixels[i] + c, static_cast<size_t>(args.channels - c));
    pixels[i] = padded[i];
  }
  TransformChannels<W>(pixels, 0, args.flip, args.to + c, args.step);
}

// U of one vector of pairs; `from` is its first tap, and `tap` bytes lie between taps.
template <class V, class W>
INTAGLIO_INLINE void TransformPairs(const int8_t* from, ptrdiff_t tap, typename W::I16 zero_point,
                                    int16_t* to, ptrdiff_t step) {
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

template <class V, class W>
void TransformWeights(const WinogradWeightsArgs& args) {
  static_assert(V::kDepthStep == 2 && W::k16Lanes == 2 * V::kLanes);
  const ptrdiff_t pair = ptrdiff_t{args.vectors} * V::kLanes * V::kDepthStep;
  const ptrdiff_t tap = pair * (args.channels / 2);
  for (int j = 0; j < args.vectors; ++j) {
    const auto zero_point = W::Load16(args.zero_points + j * W::k16Lanes);
    const int8_t* from = args.panel + args.first / 2 * pair + j * V::kLanes * V::kDepthStep;
    int16_t* to = args.to + j * W::k16Lanes;
    for (int p = 0; p < args.count / 2; ++p) {
      TransformPairs<V, W>(from, tap, zero_point, to, args.step);
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
  for (int f = 0; f < kFrequencies; ++f) {
    const auto* rows = reinterpret_cast<const char*>(args.rows) + f * args.rows_step;
    const int16_t* weights = AddBytes(args.weights, f * args.weights_step);
    int32_t* to = AddBytes(args.to, f * args.to_step);
    for (int t = 0; t < args.tiles; t += kWinogradTiles) {
      MultiplyTiles<V, W, kVectors>(rows + t * args.row_step, args.row_step, weights, args.count,
                                    to + t * kVectors * V::kLanes);
    }
  }
}

// The accumulators of one vector of channels of a tile: [16 pixels][kVectors] vectors, from `to`
// on.
template <class V, int kVectors>
INTAGLIO_INLINE void AccumulateVector(const WinogradFinishArgs& args, const int32_t* products,
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

// The same of all channels of a panel, offsets included.
template <class V, int kVectors>
__attribute__((noinline)) void AccumulateTile(const WinogradFinishArgs& args, int tile,
                                              int32_t* to) {
  const ParamsOf<V>& params = *ParamsIn<V>(args);
  const int32_t* products = args.products + tile * kVectors * V::kLanes;
  for (int j = 0; j < kVectors; ++j) {
    AccumulateVector<V, kVectors>(args, products + j * V::kLanes,
                                  V::Load(params.offset + j * V::kLanes), to + j * V::kLanes);
  }
}

// Tiles that are scaled by one of the bounded forms to bytes, in registers.
template <class V, int kVectors, class Form, size_t... kVector>
__attribute__((noinline)) void FinishToBytes(const WinogradFinishArgs& args, Form form,
                                             std::index_sequence<kVector...>) {
  const ParamsOf<V>& params = *ParamsIn<V>(args);
  using Scaled = decltype(form(params, 0));
  const Scaled scaled[] = {form(params, static_cast<int>(kVector) * V::kLanes)...};
  const ByteStoreOf<V, Form> store(args.epilogue);
  alignas(64) int32_t accumulators[kWinogradPixels * kVectors * V::kLanes];
  for (int t = 0; t < args.tiles; ++t) {
    AccumulateTile<V, kVectors>(args, t, accumulators);
    char* const* dst = args.dst + t * kWinogradPixels;
    const int32_t* from = accumulators;
    for (int i = 0; i < kWinogradPixels; i += 2, from += 2 * kVectors * V::kLanes) {
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

template <class V, int kVectors>
bool FinishInRegisters(const WinogradFinishArgs& args) {
  if constexpr (kStoresPairs<V> && kVectors == V::kMaxVectors) {
    return SizeOf(args.epilogue.output) == 1 &&
           WithBoundedScaling<V, kVectors>(*args.params, [&](auto form) {
             FinishToBytes<V, kVectors>(args, form, std::make_index_sequence<kVectors>());
             return true;
           });
  }
  return false;
}

template <class V, int kVectors = V::kMaxVectors>
void FinishTiles(const WinogradFinishArgs& args) {
  if constexpr (kVectors > 1) {
    if (args.vectors < kVectors) return FinishTiles<V, kVectors / 2>(args);
  }
  if (FinishInRegisters<V, kVectors>(args)) return;
  alignas(64) int32_t accumulators[kWinogradPixels * kVectors * V::kLanes];
  for (int t = 0; t < args.tiles; ++t) {
    AccumulateTile<V, kVectors>(args, t, accumulators);
    for (int i = 0; i < kWinogradPixels; ++i) {
      FinishRows<V, kVectors>(*ParamsIn<V>(args), args.epilogue,
                              accumulators + i * kVectors * V::kLanes, 1,
                              args.dst[t * kWinogradPixels + i] + args.dst_offset, 0);
    }
  }
}

template <class V, class W>
constexpr WinogradRoutines MakeWinograd(const PanelRoutines& pack, const WinogradRange& pays) {
  return {TransformInput<W>,
          TransformWeights<V, W>,
          MultiplyFrequencies<V, W>,
          FinishTiles<V>,
          {.lanes = V::kLanes, .vectors = V::kMaxVectors, .depth_step = V::kDepthStep},
          pack,
          pays};
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_WINOGRAD_WINOGRAD_TILE_H_
