// Tiles of any scaling and output, and of as few rows as there may be: what tile.h leaves over, and
// single rows.
#ifndef INTAGLIO_KERNELS_TILE_ANY_TILE_H_
#define INTAGLIO_KERNELS_TILE_ANY_TILE_H_

#include <cstddef>

#include "intaglio/kernels/tile/accumulate.h"
#include "intaglio/kernels/tile/finish.h"
#include "intaglio/kernels/tile/finish_pairs.h"
#include "intaglio/kernels/tile/tile_args.h"

namespace intaglio {

// Whether a vocabulary stores single rows of bytes, of either sign, by one instance.
template <class V>
inline constexpr bool kStoresRows = requires {
  &V::template ByteStore<true>::template StoreRow<V::kMaxVectors>;
};

// A single row, as of GEMV, scaled in one way to bytes: the panels of the call from `first` on that
// are. Returns the first of the others. A function of its own, as ComputeTiles is: by way of memory
// the next panel's reads would wait, up to a seventh of the time.
template <class V, bool kFetchAhead, int kVectors, class Form>
__attribute__((noinline)) int ComputeRow(const TileArgs& args, int first) {
  constexpr ptrdiff_t kGroupBytes = kVectors * V::kLanes * V::kDepthStep;
  const ptrdiff_t panel_bytes = args.groups * kGroupBytes;
  const ParamsOf<V>* const all = ParamsIn<V>(args);
  const ScalingForm form = all[first].form;
  const ByteStoreOf<V, Form> store(args.epilogue);
  const TileRows<false> row(args, 0);
  do {
    const ParamsOf<V>& params = all[first];
    typename V::I32 acc[1][kVectors];
    Accumulate<V, kFetchAhead>(args, params,
                               AsPacked<V, kVectors>{args.panel + first * panel_bytes}, row, acc);
    ScaleRows<V>(Form(), params, acc, 0);
    store.template StoreRow<kVectors>(
        static_cast<char*>(args.dst) + ptrdiff_t{first} * kVectors * V::kLanes, acc[0]);
    ++first;
  } while (first < args.panel_count && all[first].form == form);
  return first;
}

template <class V, int kVectors, class Form>
int ComputeRow(const TileArgs& args, int first) {
  if (args.fetch_ahead) return ComputeRow<V, true, kVectors, Form>(args, first);
  return ComputeRow<V, false, kVectors, Form>(args, first);
}

// The same in the way of panel `first`, if it is one of those that FULLY_CONNECTED is met with;
// else that is the first of the others.
template <class V, int kVectors>
int ComputeRow(const TileArgs& args, int first) {
  if (SizeOf(args.epilogue.output) != 1) return first;
  switch (ParamsIn<V>(args)[first].form) {
    case ScalingForm::kSingleRoundingBounded:
      return ComputeRow<V, kVectors, SingleBounded<V>>(args, first);
    case ScalingForm::kFloatHalfEvenBounded:
      return ComputeRow<V, kVectors, HalfEvenBounded<V>>(args, first);
    default:
      return first;
  }
}

// A tile of at most kRows rows, any scaling and output.
template <class V, int kVectors, int kRows>
void ComputeTile(const TileArgs& args, int first, int count) {
  if constexpr (kRows > 1) {
    if (count < kRows) return ComputeTile<V, kVectors, kRows - 1>(args, first, count);
  }
  typename V::I32 acc[kRows][kVectors];
  const ParamsOf<V>& params = *ParamsIn<V>(args);
  const AsPacked<V, kVectors> panel{args.panel};
  const TileRows<false> rows(args, first);
  // Panels of fewer vectors are the edges of matrices, which count for single rows alone.
  constexpr bool kFetches = !kAddsDepth<V> && (kVectors == V::kMaxVectors || kRows == 1);
  if (kFetches && args.fetch_ahead && first == 0) {
    Accumulate<V, kFetches>(args, params, panel, rows, acc);
  } else {
    Accumulate<V, false>(args, params, panel, rows, acc);
  }
  if constexpr (kByMemory<V, kRows>) {
    if constexpr (kRows == 1 && kVectors == V::kMaxVectors && !kStoresRows<V>) {
      // FULLY_CONNECTED of one row, of which the way by memory would be a tenth.
      if (params.form == ScalingForm::kSingleRoundingBounded &&
          args.epilogue.output == Type::kInt8) {
        ScaleRows<V>(SingleBounded<V>(), params, acc, 0);
        V::template StoreBytes<kVectors, true>(
            static_cast<char*>(args.dst) + first * args.dst_stride, acc[0],
            args.epilogue.zero_point, args.epilogue.clamp_min, args.epilogue.clamp_max);
        return;
      }
    }
    FinishByMemory<V>(params, args.epilogue, acc,
                      static_cast<char*>(args.dst) + first * args.dst_stride, args.dst_stride);
  } else {
    char* dst = static_cast<char*>(args.dst) + first * args.dst_stride;
    if constexpr (kTakesMultiplyAdd<V>) {
      if (params.form == ScalingForm::kMultiplyAdd) {
        return StoreMultiplyAdd<V>(params, args.epilogue, acc, dst, args.dst_stride);
      }
    }
    ApplyScaling<V, kVectors, kRows>(params, acc);
    StoreRows<V, kVectors, kRows>(args.epilogue, acc, dst, args.dst_stride);
  }
}

// A single row by all panels of the call (Kernel::takes_panels_of_row).
template <class V, int kVectors>
void ComputePanels(const TileArgs& args) {
  int done = ComputeRow<V, kVectors>(args, 0);
  while (done < args.panel_count) {
    TileArgs panel = args;
    SkipPanels<ParamsOf<V>>(panel, done, V::kLanes, V::kDepthStep);
    ComputeTile<V, kVectors, 1>(panel, 0, 1);
    done = done + 1 < args.panel_count ? ComputeRow<V, kVectors>(args, done + 1) : done + 1;
  }
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_TILE_ANY_TILE_H_
