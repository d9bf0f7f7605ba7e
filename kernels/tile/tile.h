// The tiles of every micro-kernel, over a kernel vocabulary V that has, beside what finish.h names,
//   kMaxVectors, kMaxRows, kDepthStep, kRowBytes (of one depth group of a row)
//   LoadPanel(const int8_t*)      one vector of one depth group
//   LoadRow(const void*)          one depth group of a row, in every lane
//   Dot(acc, panel, row)          acc + the products of a group, summed; exact for all operands
//   Keep(acc)                     keeps g++ from spilling accumulators inside the loop
// or, in place of these, AddDepth(args, rows, acc), a loop of its own over the whole depth of the
// tile of these rows, whose accumulators hold the offsets of args.params; and, where they pay,
//   ByteStore                     of finish_pairs.h; kMaxRows is six
//   kTakesWindows                 rows may be given by TileArgs::windows
//   kWidens                       LoadPanel is more than a load: its results are kept for all rows
//   kSharesTails                  tiles of fewer rows are finished in code that they share
#ifndef INTAGLIO_KERNELS_TILE_TILE_H_
#define INTAGLIO_KERNELS_TILE_TILE_H_

#include <type_traits>
#include <utility>

#include "intaglio/kernels/tile/accumulate.h"
#include "intaglio/kernels/tile/any_tile.h"
#include "intaglio/kernels/tile/finish_pairs.h"
#include "intaglio/kernels/tile/tile_args.h"

namespace intaglio {

inline constexpr int kGroupsWorthRepeating = 64;  // a row

// How whole tiles share the rows of a call. The first `six` rows go by tiles of six, the next
// `four` by tiles of four; the last tile begins within the one before where it would be short.
// Others are left over, to be finished by way of memory.
struct RowCut {
  int six;
  int four;
};

// By tiles of six alone: the last one does rows again, unless that takes longer, by the depth, than
// what is left over.
constexpr RowCut CutBySixes(int count, int groups) {
  const int rest = count % 6;
  const bool repeats = count > rest && (6 - rest) * groups <= kGroupsWorthRepeating;
  return {repeats ? count : count - rest, 0};
}

// Sixes and fours make up every even number but two. An odd number has a row done
// again or left over, by what takes less.
constexpr RowCut CutRows(int count, int groups) {
  const int rest = count % 6;
  const bool repeats = count > rest && groups <= kGroupsWorthRepeating;
  switch (rest) {
    case 2:
      return count > rest ? RowCut{count - 8, 8} : RowCut{0, 0};
    case 3:
      return {count - 3, repeats ? 3 : 0};
    case 4:
      return {count - 4, 4};
    case 5:
      return repeats ? RowCut{count, 0} : RowCut{count - 5, 4};
    default:
      return {count - rest, 0};
  }
}

// At least six rows, of which none is left over; without tiles of four unless `fours`.
constexpr RowCut CutWindows(int count, bool fours) {
  if (!fours) return {count, 0};
  return count % 6 == 1 ? RowCut{count - 7, 7} : CutRows(count, 0);
}

// The rows from `first` up to `last` by tiles of kRows, scaled and stored in one way; the last tile
// begins within the one before where rows are left over. The choice of the way lies outside of all
// loops, and each is a function of its own: otherwise g++ 12 keeps accumulators in memory.
//
// A full scheduler admits the next tile's instructions late, and then its first products wait for
// their addresses: pointers take one addition from tile to tile.
template <class V, class Store, int kRows, class Panel, class Form, size_t... kVector>
__attribute__((noinline)) void ComputeTiles(const TileArgs& args, Panel panel, int first, int last,
                                            Form form, std::index_sequence<kVector...>) {
  constexpr int kVectors = sizeof...(kVector);
  const ParamsOf<V>& params = *ParamsIn<V>(args);
  using Scaled = decltype(form(params, 0));
  const Scaled scaled[] = {form(params, static_cast<int>(kVector) * V::kLanes)...};
  const Store store(args.epilogue);
  const ptrdiff_t dst_stride = args.dst_stride;
  const int start = first + kRows <= last ? first : last - kRows;
  auto* dst = static_cast<char*>(args.dst) + start * dst_stride;
  TileRows<kTakesWindows<V>> rows(args, start);
  for (int left = last - start;;) {
    typename V::I32 acc[kRows][kVectors];
    Accumulate<V, false>(args, params, panel, rows, acc);
    FinishPairs(store, acc, scaled, dst, dst_stride);
    left -= kRows;
    if (left <= 0) return;
    if (__builtin_expect(left >= kRows, 1)) {
      rows.Advance(kRows);
      dst += kRows * dst_stride;
    } else {
      rows.Advance(left);
      dst += left * dst_stride;
      left = kRows;
    }
  }
}

// run(panel, from, to) for all rows from `first` up to `last`, where the panel's operands are worth
// keeping; else false.
template <class V, int kVectors, class Packed, class Run>
INTAGLIO_INLINE bool RunWidened(const TileArgs& args, Packed packed, int first, int last,
                                const Run& run) {
  if constexpr (requires { requires V::kWidens && kVectors == V::kMaxVectors; }) {
    auto* operands = static_cast<typename V::Operand*>(args.operands);
    const int second = first + V::kMaxRows;
    if (operands == nullptr || last <= second) return false;
    run(MakingOperands<V, kVectors, Packed>{packed, operands}, first, second);
    run(AsOperands<V, kVectors>{operands}, second, last);
    return true;
  }
  return false;
}

// The same for both sizes of tiles, with the panel's operands kept where that pays.
template <class V, class Store, int kVectors, class Form>
INTAGLIO_INLINE bool RunTiles(const TileArgs& args, int first, RowCut cut, Form form) {
  static_assert(V::kMaxRows == 6);
  const auto run = [&](auto panel, int from, int to) {
    ComputeTiles<V, Store, 6>(args, panel, from, to, form, std::make_index_sequence<kVectors>());
  };
  const AsPacked<V, kVectors> packed{args.panel};
  const int fours = first + cut.six;
  if (cut.six > 0 && !RunWidened<V, kVectors>(args, packed, first, fours, run)) {
    run(packed, first, fours);
  }
  if constexpr (kVectors == V::kMaxVectors && !std::is_same_v<Store, WordStore<V>>) {
    if (cut.four > 0) {
      ComputeTiles<V, Store, 4>(args, packed, fours, fours + cut.four, form,
                                std::make_index_sequence<kVectors>());
    }
  }
  return true;
}

// Computes these tiles if they are finished in a way that is worth code of its own.
template <class V, int kVectors>
bool ComputeWholeTiles(const TileArgs& args, int first, RowCut cut) {
  if (SizeOf(args.epilogue.output) == 1) {
    return WithBoundedScaling<V, kVectors>(*args.params, [&](auto bounded) {
      return RunTiles<V, ByteStoreOf<V, decltype(bounded)>, kVectors>(args, first, cut, bounded);
    });
  }
  if constexpr (kVectors > 1) {
    if (!StoresPlainWords(args.epilogue)) return false;
    const ScalingForm form = args.params->form;
    if (form == ScalingForm::kNone) {
      return RunTiles<V, WordStore<V>, kVectors>(args, first, cut, Unscaled<V>());
    }
    if constexpr (kVectors == V::kMaxVectors) {
      if (form == ScalingForm::kToFloat) {
        return RunTiles<V, WordStore<V>, kVectors>(args, first, cut, ToReal<V>());
      }
    }
  }
  return false;
}

// The entry of a kernel: finds the instance for the panel's vectors and the number of rows.
template <class V, int kVectors = V::kMaxVectors>
void Tile(const TileArgs& args) {
  if constexpr (kVectors > 1) {
    if (args.vectors < kVectors) return Tile<V, kVectors / 2>(args);
  }
  constexpr int kRows = V::kMaxRows;
  if constexpr (kVectors == V::kMaxVectors && kStoresRows<V>) {
    if (args.row_count == 1) return ComputePanels<V, kVectors>(args);
  }
  int first = 0;
  if constexpr (kStoresPairs<V>) {
    const bool windows = kTakesWindows<V> && args.windows.begin != nullptr;
    if (args.fetch_ahead && !windows) {
      ComputeTile<V, kVectors, kRows>(args, 0, args.row_count);
      first = kRows;
    }
    const int count = args.row_count - first;
    const bool fours = kVectors == V::kMaxVectors && SizeOf(args.epilogue.output) == 1;
    const RowCut cut = windows ? CutWindows(count, fours)
                       : fours ? CutRows(count, args.groups)
                               : CutBySixes(count, args.groups);
    const int rows = cut.six + cut.four;
    if (rows > 0 && ComputeWholeTiles<V, kVectors>(args, first, cut)) first += rows;
  }
  for (; first < args.row_count; first += kRows) {
    ComputeTile<V, kVectors, kRows>(args, first, args.row_count - first);
  }
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_TILE_TILE_H_
