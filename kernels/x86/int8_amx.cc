// AMX-INT8: TDPBUSD adds the exact products of 16 uint8 rows and 16 int8 channels over 64 depths.
//
// The panels are those of AVX512-VNNI: 16 groups of one vector are what TDPBUSD multiplies by. Four
// tiles of accumulators, a *block*, leave registers for their operands. Accumulators reach the
// epilogue through memory that stays in L1; it finishes them two rows at a time between the
// products of later blocks, so that neither waits for the other.
#include <algorithm>
#include <utility>

#include "intaglio/kernels/tile.h"
#include "intaglio/kernels/x86/panel_avx512.h"
#include "intaglio/kernels/x86/tiles_amx.h"

namespace intaglio {

extern const Kernel kKernelAvx512Vnni;

namespace {

constexpr int kLanes = PanelAvx512::kLanes;
constexpr int kAccumulators = 4;
constexpr int kStepGroups = kTileLines;  // of depth, that TDPBUSD multiplies at once

// This many rows, or fewer, are multiplied faster by AVX512-VNNI.
constexpr int kFewRows = 2;

// The bytes of a panel that L1 keeps beside its rows.
constexpr ptrdiff_t kSmallPanel = 40 << 10;

// The tiles of rows of a call. The last one, if it would be short, begins earlier and computes some
// rows once more.
class RowTiles {
 public:
  explicit RowTiles(int rows) : rows_(rows) {}

  int lines() const { return std::min(rows_, kTileLines); }
  int count() const { return (rows_ + kTileLines - 1) / kTileLines; }
  int First(int tile) const { return std::min(tile * kTileLines, rows_ - lines()); }

 private:
  int rows_;
};

// Loads, scales and stores two rows of accumulators, which hold offsets and products.
template <int kVectors, class Store>
INTAGLIO_INLINE void FinishPair(const TileArgs& args, const int32_t* block, int row,
                                const Store& store) {
  __m512i acc[2][kVectors];
  INTAGLIO_UNROLL
  for (int r = 0; r < 2; ++r) {
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) {
      acc[r][j] = PanelAvx512::Load(block + (r * kVectors + j) * kLanes);
    }
  }
  AddZeroPointTerms<PanelAvx512>(args, row, acc);
  store(acc, static_cast<char*>(args.dst) + row * args.dst_stride);
}

// The epilogue for bytes by one of the bounded scalings, whose parameters stay in registers.
template <int kVectors, class Scaled>
struct FinishBytePairs {
  const TileArgs& args;
  EpilogueParams epilogue;
  Scaled scaled[kVectors];

  INTAGLIO_INLINE void operator()(const int32_t* block, int row) const {
    FinishPair<kVectors>(args, block, row, [&](auto& acc, char* dst) {
      INTAGLIO_UNROLL
      for (int r = 0; r < 2; ++r) {
        INTAGLIO_UNROLL
        for (int j = 0; j < kVectors; ++j) acc[r][j] = scaled[j](acc[r][j]);
        const EpilogueParams& e = epilogue;
        void* to = dst + r * args.dst_stride;
        if (e.output == Type::kInt8) {
          PanelAvx512::StoreBytes<kVectors, true>(to, acc[r], e.zero_point, e.clamp_min,
                                                  e.clamp_max);
        } else {
          PanelAvx512::StoreBytes<kVectors, false>(to, acc[r], e.zero_point, e.clamp_min,
                                                   e.clamp_max);
        }
      }
    });
  }
};

template <int kVectors>
struct FinishAnyPairs {
  const TileArgs& args;

  INTAGLIO_INLINE void operator()(const int32_t* block, int row) const {
    FinishPair<kVectors>(args, block, row, [&](auto& acc, char* dst) {
      ApplyScaling<PanelAvx512, kVectors, 2>(*args.params, acc);
      StoreRows<PanelAvx512, kVectors, 2>(args.epilogue, acc, dst, args.dst_stride);
    });
  }
};

// Blocks of kRowTiles tiles of rows by all kVectors of a panel, kPassVectors of them at a time.
template <int kRowTiles, int kPassVectors, int kVectors, class Finish>
class Blocks {
 public:
  Blocks(const TileArgs& args, const RowTiles& tiles, const Finish& finish)
      : args_(args),
        finish_(finish),
        tiles_(tiles),
        steps_((args.groups + kStepGroups - 1) / kStepGroups),
        rest_(steps_ == 1 ? 0 : args.groups % kStepGroups) {
    const int groups = std::min(args.groups, kStepGroups);
    TileShapes shapes;
    for (int i = 0; i < kAccumulators; ++i) shapes.Set(i, tiles.lines(), kTileLineBytes);
    for (int r = 0; r < kRowTiles; ++r) shapes.Set(RowRegister(r), tiles.lines(), 4 * groups);
    for (int v = 0; v < kPassVectors; ++v) shapes.Set(PanelRegister(v), groups, kTileLineBytes);
    _tile_loadconfig(&shapes);
  }

  // The tiles of rows [first, end), a multiple of kRowTiles.
  __attribute__((noinline)) void Run(int first, int end) {
    const int pairs_each = (kPairs + steps_ * kPasses - 1) / (steps_ * kPasses);
    int32_t* place = Block(first + kRowTiles);  // of what is in the accumulators: nothing yet
    for (int tile = first; tile < end; tile += kRowTiles) {
      if (tile >= first + kDelay) BeginToFinish(tile - kDelay);
      Operands rows = RowsOf(tile);
      if (rest_ != 0) CopyTails(rows);
      for (int pass = 0; pass < kPasses; ++pass) {
        const int vector = pass * kPassVectors;
        const int8_t* panel = args_.panel + vector * kTileLineBytes;
        for (int step = 0; step < steps_; ++step, panel += kStepGroups * kGroupBytes) {
          if (step > 0 && step == steps_ - 1 && rest_ != 0) {
            Step<false>(Tails(), panel - (kStepGroups - rest_) * kGroupBytes);
          } else if (step > 0) {
            Step<false>(rows.At(step), panel);
          } else {
            Step<true>(rows, panel, place, args_.params->offset + vector * kLanes);
            place = Block(tile) + vector * kLanes;
          }
          FinishSome(pairs_each);
        }
      }
    }
    Store(place);
    for (int tile = std::max(first, end - kDelay); tile < end; tile += kRowTiles) {
      BeginToFinish(tile);
      FinishSome(kPairs);
    }
  }

 private:
  static constexpr int kPasses = kVectors / kPassVectors;
  static constexpr int kPairs = kRowTiles * kTileLines / 2;
  static constexpr int kWidth = kVectors * kLanes;
  static constexpr ptrdiff_t kGroupBytes = kVectors * kTileLineBytes;
  static constexpr auto kEach = std::make_index_sequence<kRowTiles * kPassVectors>();

  // The tiles between a block's products and its epilogue. A block of one pass is finished late
  // enough for its stores to have reached L1.
  static constexpr int kDelay = kPasses == 1 ? 2 * kRowTiles : kRowTiles;

  // Operands that several accumulators share keep their registers; the others take turns.
  static constexpr int RowRegister(int r) {
    return kPassVectors == 1 ? kAccumulators + 1 + r % 3 : kAccumulators + r;
  }
  static constexpr int PanelRegister(int v) {
    return kPassVectors == 1 ? kAccumulators : kAccumulators + kRowTiles + v % (4 - kRowTiles);
  }

  // One depth step of the rows of each tile.
  struct Operands {
    const char* row[kRowTiles];
    ptrdiff_t stride;

    INTAGLIO_INLINE Operands At(int step) const {
      Operands at = *this;
      for (int r = 0; r < kRowTiles; ++r) at.row[r] += step * kTileLineBytes;
      return at;
    }
  };
  Operands RowsOf(int tile) const {
    Operands rows;
    rows.stride = args_.row_stride;
    for (int r = 0; r < kRowTiles; ++r) {
      rows.row[r] = static_cast<const char*>(args_.rows) + tiles_.First(tile + r) * rows.stride;
    }
    return rows;
  }

  // A depth that is no multiple of the step ends with a step of its last groups, in which those
  // that were multiplied before are zero: nothing beyond rows and panel is read.
  void CopyTails(const Operands& rows) {
    const int zeros = (kStepGroups - rest_) * 4;
    const ptrdiff_t at = ptrdiff_t{args_.groups - kStepGroups} * 4;
    for (int r = 0; r < kRowTiles; ++r) {
      for (int line = 0; line < tiles_.lines(); ++line) {
        const __m512i bytes =
            _mm512_maskz_loadu_epi8(~__mmask64{0} << zeros, rows.row[r] + line * rows.stride + at);
        _mm512_store_si512(tails_[r * kTileLines + line], bytes);
      }
    }
  }
  Operands Tails() const {
    Operands tails;
    tails.stride = kTileLineBytes;
    for (int r = 0; r < kRowTiles; ++r) tails.row[r] = tails_[r * kTileLines];
    return tails;
  }

  int32_t* Block(int tile) { return blocks_[tile / kRowTiles % 2]; }

  // The products of one step. The first step of a block stores what the accumulators hold of the
  // block before, and begins again with the offsets, each just before its product: the products of
  // two blocks overlap.
  template <bool kFirst>
  INTAGLIO_INLINE void Step(const Operands& rows, const int8_t* panel, int32_t* place = nullptr,
                            const int32_t* offset = nullptr) {
    AddProducts<kFirst>(rows, panel, place, offset, kEach);
  }
  template <bool kFirst, size_t... kAt>
  static INTAGLIO_INLINE void AddProducts(const Operands& rows, const int8_t* panel, int32_t* place,
                                          const int32_t* offset, std::index_sequence<kAt...>) {
    (AddProduct<kFirst, kAt / kPassVectors, kAt % kPassVectors>(rows, panel, place, offset), ...);
  }
  template <bool kFirst, int kRow, int kVector>
  static INTAGLIO_INLINE void AddProduct(const Operands& rows, const int8_t* panel, int32_t* place,
                                         const int32_t* offset) {
    constexpr int kAcc = kRow * kPassVectors + kVector;
    if constexpr (kVector == 0) LoadTile<RowRegister(kRow)>(rows.row[kRow], rows.stride);
    if constexpr (kRow == 0) {
      LoadTile<PanelRegister(kVector)>(panel + kVector * kTileLineBytes, kGroupBytes);
    }
    if constexpr (kFirst) {
      StoreAccumulator<kRow, kVector>(place);
      LoadTile<kAcc>(offset + kVector * kLanes, 0);
    }
    DotTiles<kAcc, RowRegister(kRow), PanelRegister(kVector)>();
  }

  void Store(int32_t* place) { StoreAccumulators(place, kEach); }
  template <size_t... kAt>
  static void StoreAccumulators(int32_t* place, std::index_sequence<kAt...>) {
    (StoreAccumulator<kAt / kPassVectors, kAt % kPassVectors>(place), ...);
  }
  template <int kRow, int kVector>
  static INTAGLIO_INLINE void StoreAccumulator(int32_t* place) {
    StoreTile<kRow * kPassVectors + kVector>(place + kRow * kTileLines * kWidth + kVector * kLanes,
                                             kWidth * sizeof(int32_t));
  }

  void BeginToFinish(int tile) {
    finish_block_ = Block(tile);
    finish_tile_ = tile;
    finish_end_ = tile + kRowTiles;
    finish_line_ = 0;
  }
  INTAGLIO_INLINE void FinishSome(int pairs) {
    for (; pairs > 0 && finish_tile_ < finish_end_; --pairs) {
      const int line = std::min(finish_line_, tiles_.lines() - 2);
      finish_(finish_block_ + line * kWidth, tiles_.First(finish_tile_) + line);
      finish_line_ += 2;
      if (finish_line_ < tiles_.lines()) continue;
      finish_line_ = 0;
      finish_block_ += kTileLines * kWidth;
      ++finish_tile_;
    }
  }

  const TileArgs& args_;
  const Finish& finish_;
  const RowTiles tiles_;
  const int steps_;
  const int rest_;  // groups of the last step, where they are few
  const int32_t* finish_block_ = nullptr;
  int finish_tile_ = 0;
  int finish_end_ = 0;
  int finish_line_ = 0;
  alignas(64) int32_t blocks_[2][kRowTiles * kTileLines * kWidth];
  alignas(64) char tails_[kRowTiles * kTileLines][kTileLineBytes];
};

// The rows [0, rows) of a call, at least three. With a small panel L1 serves one tile of rows;
// otherwise two share what L2 has to deliver, at the cost of a second pass over them.
template <int kVectors, class Finish>
void RunBlocks(const TileArgs& args, int rows, const Finish& finish) {
  constexpr int kRowTiles = kVectors == 1 ? 4 : 2;
  const RowTiles tiles(rows);
  const bool wide =
      kVectors < 4 || ptrdiff_t{args.groups} * kVectors * kTileLineBytes > kSmallPanel;
  const int first = wide ? tiles.count() / kRowTiles * kRowTiles : 0;
  if (first > 0) {
    Blocks<kRowTiles, kAccumulators / kRowTiles, kVectors, Finish>(args, tiles, finish)
        .Run(0, first);
  }
  if (first < tiles.count()) {
    Blocks<1, kVectors, kVectors, Finish>(args, tiles, finish).Run(first, tiles.count());
  }
  _tile_release();
}

template <int kVectors, class Form, size_t... kVector>
bool RunByteBlocks(const TileArgs& args, int rows, Form form, std::index_sequence<kVector...>) {
  using Scaled = decltype(form(*args.params, 0));
  RunBlocks<kVectors>(
      args, rows,
      FinishBytePairs<kVectors, Scaled>{
          args, args.epilogue, {form(*args.params, static_cast<int>(kVector) * kLanes)...}});
  return true;
}

template <int kVectors = PanelAvx512::kMaxVectors>
void MultiplyTiles(const TileArgs& args, int rows) {
  if constexpr (kVectors > 1) {
    if (args.vectors < kVectors) return MultiplyTiles<kVectors / 2>(args, rows);
  }
  const bool bytes = SizeOf(args.epilogue.output) == 1;
  const bool done =
      bytes && WithBoundedScaling<PanelAvx512, kVectors>(*args.params, [&](auto form) {
        return RunByteBlocks<kVectors>(args, rows, form, std::make_index_sequence<kVectors>());
      });
  if (!done) RunBlocks<kVectors>(args, rows, FinishAnyPairs<kVectors>{args});
}

void TileAmx(const TileArgs& args) {
  const int few = args.row_count % kTileLines <= kFewRows ? args.row_count % kTileLines : 0;
  const int rows = args.groups == 0 ? 0 : args.row_count - few;
  if (rows > 0) MultiplyTiles(args, rows);
  if (rows == args.row_count) return;
  TileArgs rest = args;
  rest.rows = static_cast<const char*>(args.rows) + rows * args.row_stride;
  rest.row_count -= rows;
  rest.fetch_ahead = args.fetch_ahead && rows == 0;
  if (args.row_sums != nullptr) rest.row_sums += rows;
  if (args.row_terms != nullptr) rest.row_terms += rows;
  rest.dst = static_cast<char*>(args.dst) + rows * args.dst_stride;
  kKernelAvx512Vnni.tile(rest);
}

}  // namespace

// What is no product of tiles is done as by AVX512-VNNI.
extern const Kernel kKernelAmx = {
    .name = "amx-int8",
    .needs = kAvx512Bw | kAvx512Vnni | kAmxInt8,
    .panel = {.lanes = kLanes, .vectors = 4, .depth_step = 4, .tiles = true},
    .row_format = RowFormat::kUnsigned8,
    .max_rows = 2 * kTileLines,
    .tile = TileAmx,
    .tap_step = 4,
    .depthwise = [](const DepthwiseArgs& args) { kKernelAvx512Vnni.depthwise(args); },
    .has_fma = true,
    .pack = {.fill = [](const PanelSource& s,
                        int8_t* panel) { kKernelAvx512Vnni.pack.fill(s, panel); },
             .sum = [](const PanelSource& s, const int8_t* panel,
                       int32_t* sums) { kKernelAvx512Vnni.pack.sum(s, panel, sums); },
             .measure =
                 [](const PanelSource& s, const int8_t* panel, const int32_t* zero_points) {
                   return kKernelAvx512Vnni.pack.measure(s, panel, zero_points);
                 }},
    .pack_rows =
        [](const RowSource& source, RowFormat format, int first, int count, int padded_depth,
           void* packed) {
          kKernelAvx512Vnni.pack_rows(source, format, first, count, padded_depth, packed);
        },
    .sum_rows =
        [](RowFormat format, const void* rows, ptrdiff_t stride_bytes, int count, int depth,
           int32_t* sums) {
          kKernelAvx512Vnni.sum_rows(format, rows, stride_bytes, count, depth, sums);
        }};

}  // namespace intaglio
