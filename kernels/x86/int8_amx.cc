// AMX-INT8: TDPBUSD adds the exact products of 16 uint8 rows and 16 int8 channels over 64 depths.
//
// The panels are those of AVX512-VNNI: 16 groups of one vector are what TDPBUSD multiplies by. Four
// of the eight tile registers accumulate, the others hold operands. Accumulators reach the epilogue
// through memory that stays in L1; it finishes them two rows at a time between the products of
// later blocks, so that neither waits for the other.
#include <algorithm>
#include <utility>

#include "intaglio/kernels/tile.h"
#include "intaglio/kernels/x86/panel_avx512.h"
#include "intaglio/kernels/x86/tiles_amx.h"

namespace intaglio {

extern const Kernel kKernelAvx512Vnni;
extern const LineRoutines kLinesAvx512Vnni;

namespace {

constexpr int kLanes = PanelAvx512::kLanes;
constexpr int kAccumulators = 4;
constexpr int kStepGroups = kTileLines;  // of depth, that TDPBUSD multiplies at once

// Panels from this size on stream past L1, which keeps the rows: they would push each other out.
constexpr ptrdiff_t kStreamBytes = 32 << 10;

// This many rows, or fewer, are multiplied faster by AVX512-VNNI.
constexpr int kFewRows = 2;

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
  store(acc);
}

// The epilogue for bytes by one of the bounded scalings, whose parameters stay at hand.
template <int kVectors, class Scaled>
struct FinishBytePairs {
  const TileArgs& args;
  PanelAvx512::ByteStore bytes;
  Scaled scaled[kVectors];

  INTAGLIO_INLINE void operator()(const int32_t* block, int row, char* dst) const {
    FinishPair<kVectors>(args, block, row,
                         [&](auto& acc) { FinishPairs(bytes, acc, scaled, dst, args.dst_stride); });
  }
};

template <int kVectors>
struct FinishAnyPairs {
  const TileArgs& args;

  INTAGLIO_INLINE void operator()(const int32_t* block, int row, char* dst) const {
    FinishPair<kVectors>(args, block, row, [&](auto& acc) {
      ApplyScaling<PanelAvx512, kVectors, 2>(*args.params, acc);
      StoreRows<PanelAvx512, kVectors, 2>(args.epilogue, acc, dst, args.dst_stride);
    });
  }
};

// Blocks of kRowTiles tiles of rows by all kVectors of a panel, in passes of kPassVectors, whose
// products are all that the registers accumulate.
template <int kRowTiles, int kPassVectors, int kVectors, class Finish>
class Blocks {
 public:
  // The tiles of rows [first, end), a multiple of kRowTiles.
  __attribute__((noinline)) static void Run(const TileArgs& args, RowTiles tiles, int first,
                                            int end, const Finish& finish_given) {
    const int steps = (args.groups + kStepGroups - 1) / kStepGroups;
    const int rest = steps == 1 ? 0 : args.groups % kStepGroups;  // groups of the last step, if few
    const int pairs = (kPassPairs + steps - 1) / steps;           // that each step finishes
    const bool streams = args.groups * kGroupBytes >= kStreamBytes;
    Configure(args.groups, tiles.lines());
    const Finish finish = finish_given;
    Memory memory;
    int done = first;
    int32_t* place = memory.Place(first, 0);  // at first for nothing: it is written over
    for (int tile = first; tile < end; tile += kRowTiles) {
      const Operands rows = RowsOf(args, tiles, tile);
      if (rest != 0) memory.CopyTails(rows, tiles.lines(), args.groups, rest);
      for (int pass = 0; pass < kPasses; ++pass) {
        const int vector = pass * kPassVectors;
        // The block before is in memory once the first pass of this one has begun: its rows are
        // finished from the next pass on.
        Pairs ready{};
        if (tile + pass * kPassTiles - done >= kLag) {
          ready = PairsOf(args, memory, done);
          done += kPassTiles;
        }
        const int8_t* panel = args.panel + vector * kTileLineBytes;
        BeginPass(rows, panel, args.params->offset + vector * kLanes, place);
        place = memory.Place(tile, vector);
        ready.Advance(finish, pairs);
        for (int step = 1; step < steps; ++step) {
          panel += kStepGroups * kGroupBytes;
          if (step == steps - 1 && rest != 0) {
            Multiply(memory.Tails(), panel - (kStepGroups - rest) * kGroupBytes);
          } else if (streams) {
            Multiply<true>(rows.At(step), panel);
          } else {
            Multiply(rows.At(step), panel);
          }
          ready.Advance(finish, pairs);
        }
      }
    }
    Store(place, kEach);
    for (; done < end; ++done) FinishTile(args, tiles, memory, done, finish);
  }

 private:
  static constexpr int kPasses = kVectors / kPassVectors;
  static constexpr int kPassTiles = kRowTiles / kPasses;  // that are finished in a pass
  static constexpr int kPassPairs = kPassTiles * kTileLines / 2;
  // How far they are behind those that are multiplied.
  static constexpr int kLag = 2 * kRowTiles - (kPasses == 1 ? 0 : kPassTiles);
  static constexpr int kWidth = kVectors * kLanes;
  static constexpr ptrdiff_t kGroupBytes = kVectors * kTileLineBytes;
  static constexpr auto kEach = std::make_index_sequence<kRowTiles * kPassVectors>();

  // Operands that several accumulators share keep their registers; the others take turns.
  static constexpr int RowRegister(int r) {
    return kPassVectors == 1 ? kAccumulators + 1 + r % 3 : kAccumulators + r;
  }
  static constexpr int PanelRegister(int v) {
    return kPassVectors == 1 ? kAccumulators : kAccumulators + kRowTiles + v % (4 - kRowTiles);
  }

  static INTAGLIO_INLINE void Configure(int groups, int lines) {
    groups = std::min(groups, kStepGroups);
    TileShapes shapes;
    for (int i = 0; i < kAccumulators; ++i) shapes.Set(i, lines, kTileLineBytes);
    for (int r = 0; r < kRowTiles; ++r) shapes.Set(RowRegister(r), lines, 4 * groups);
    for (int v = 0; v < kPassVectors; ++v) shapes.Set(PanelRegister(v), groups, kTileLineBytes);
    _tile_loadconfig(&shapes);
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
  static INTAGLIO_INLINE Operands RowsOf(const TileArgs& args, const RowTiles& tiles, int tile) {
    Operands rows;
    rows.stride = args.row_stride;
    for (int r = 0; r < kRowTiles; ++r) {
      rows.row[r] = static_cast<const char*>(args.rows) + tiles.First(tile + r) * rows.stride;
    }
    return rows;
  }

  struct Memory {
    // Of two blocks, one of which is finished while the other is multiplied.
    alignas(64) int32_t places[2][kRowTiles * kTileLines * kWidth];
    alignas(64) char tails[kRowTiles * kTileLines][kTileLineBytes];

    // Where the accumulators of a tile of rows are stored, from a vector on.
    INTAGLIO_INLINE int32_t* Place(int tile, int vector) {
      return places[tile / kRowTiles % 2] + tile % kRowTiles * kTileLines * kWidth +
             vector * kLanes;
    }

    // A depth that is no multiple of the step ends with a step of its last groups, in which those
    // that were multiplied before are zero: nothing beyond rows and panel is read.
    INTAGLIO_INLINE void CopyTails(const Operands& rows, int lines, int groups, int rest) {
      const __mmask64 kept = ~__mmask64{0} << (kStepGroups - rest) * 4;
      const ptrdiff_t at = ptrdiff_t{groups - kStepGroups} * 4;
      for (int r = 0; r < kRowTiles; ++r) {
        for (int line = 0; line < lines; ++line) {
          _mm512_store_si512(tails[r * kTileLines + line],
                             _mm512_maskz_loadu_epi8(kept, rows.row[r] + line * rows.stride + at));
        }
      }
    }
    INTAGLIO_INLINE Operands Tails() const {
      Operands rows;
      rows.stride = kTileLineBytes;
      for (int r = 0; r < kRowTiles; ++r) rows.row[r] = tails[r * kTileLines];
      return rows;
    }
  };

  // The first step of a pass stores what the pass before has left in an accumulator, and begins
  // again with the offsets, just before its product: the products of two passes overlap.
  static INTAGLIO_INLINE void BeginPass(const Operands& rows, const int8_t* panel,
                                        const int32_t* offset, int32_t* place) {
    AddProducts<true, false>(rows, panel, offset, place, kEach);
  }
  template <bool kStreams = false>
  static INTAGLIO_INLINE void Multiply(const Operands& rows, const int8_t* panel) {
    AddProducts<false, kStreams>(rows, panel, nullptr, nullptr, kEach);
  }

  template <bool kFirst, bool kStreams, size_t... kAt>
  static INTAGLIO_INLINE void AddProducts(const Operands& rows, const int8_t* panel,
                                          const int32_t* offset, int32_t* place,
                                          std::index_sequence<kAt...>) {
    (AddProduct<kFirst, kStreams, kAt / kPassVectors, kAt % kPassVectors>(rows, panel, offset,
                                                                          place),
     ...);
  }
  template <bool kFirst, bool kStreams, int kRow, int kVector>
  static INTAGLIO_INLINE void AddProduct(const Operands& rows, const int8_t* panel,
                                         const int32_t* offset, int32_t* place) {
    constexpr int kAcc = kRow * kPassVectors + kVector;
    if constexpr (kVector == 0) LoadTile<RowRegister(kRow)>(rows.row[kRow], rows.stride);
    if constexpr (kRow == 0) {
      LoadTile<PanelRegister(kVector), kStreams>(panel + kVector * kTileLineBytes, kGroupBytes);
    }
    if constexpr (kFirst) {
      StoreOne<kRow, kVector>(place);
      LoadTileOfOneLine<kAcc>(offset + kVector * kLanes);
    }
    DotTiles<kAcc, RowRegister(kRow), PanelRegister(kVector)>();
  }

  template <size_t... kAt>
  static INTAGLIO_INLINE void Store(int32_t* place, std::index_sequence<kAt...>) {
    (StoreOne<kAt / kPassVectors, kAt % kPassVectors>(place), ...);
  }
  template <int kRow, int kVector>
  static INTAGLIO_INLINE void StoreOne(int32_t* place) {
    StoreTile<kRow * kPassVectors + kVector>(place + kRow * kTileLines * kWidth + kVector * kLanes,
                                             kWidth * sizeof(int32_t));
  }

  // Pairs of rows, all of whole tiles, that are ready to be finished.
  struct Pairs {
    const int32_t* sums;
    char* dst;
    ptrdiff_t dst_step;
    int row;
    int left;

    INTAGLIO_INLINE void Advance(const Finish& finish, int pairs) {
      pairs = std::min(pairs, left);
      left -= pairs;
      for (; pairs > 0; --pairs, sums += 2 * kWidth, dst += dst_step, row += 2) {
        finish(sums, row, dst);
      }
    }
  };
  static INTAGLIO_INLINE Pairs PairsOf(const TileArgs& args, Memory& memory, int tile) {
    const int row = tile * kTileLines;
    return {memory.Place(tile, 0), static_cast<char*>(args.dst) + row * args.dst_stride,
            2 * args.dst_stride, row, kPassPairs};
  }

  static INTAGLIO_INLINE void FinishTile(const TileArgs& args, const RowTiles& tiles,
                                         Memory& memory, int tile, const Finish& finish) {
    const int lines = tiles.lines();
    for (int line = 0; line < lines; line += 2) {
      // Of few rows the last pair may begin in the one before.
      const int from = std::min(line, lines - 2);
      const int row = tiles.First(tile) + from;
      finish(memory.Place(tile, 0) + from * kWidth, row,
             static_cast<char*>(args.dst) + row * args.dst_stride);
    }
  }
};

// The rows [0, rows) of a call, at least three.
template <int kVectors, class Finish>
void RunBlocks(const TileArgs& args, int rows, const Finish& finish) {
  constexpr int kRowTiles = kVectors == 1 ? 4 : 2;
  const RowTiles tiles(rows);
  const int whole = tiles.count() / kRowTiles * kRowTiles;
  if (whole > 0) {
    Blocks<kRowTiles, kAccumulators / kRowTiles, kVectors, Finish>::Run(args, tiles, 0, whole,
                                                                        finish);
  }
  if (whole < tiles.count()) {
    Blocks<1, kVectors, kVectors, Finish>::Run(args, tiles, whole, tiles.count(), finish);
  }
  _tile_release();
}

template <int kVectors, class Form, size_t... kVector>
bool RunByteBlocks(const TileArgs& args, int rows, Form form, std::index_sequence<kVector...>) {
  using Scaled = decltype(form(*args.params, 0));
  RunBlocks<kVectors>(args, rows,
                      FinishBytePairs<kVectors, Scaled>{
                          args,
                          PanelAvx512::ByteStore(args.epilogue),
                          {form(*args.params, static_cast<int>(kVector) * kLanes)...}});
  return true;
}

// Whether the rows are finished as bytes by a bounded scaling: then it is done.
template <int kVectors>
bool MultiplyToBytes(const TileArgs& args, int rows) {
  if (SizeOf(args.epilogue.output) != 1) return false;
  return WithBoundedScaling<PanelAvx512, kVectors>(*args.params, [&](auto form) {
    return RunByteBlocks<kVectors>(args, rows, form, std::make_index_sequence<kVectors>());
  });
}

// Panels of one vector are the edges of matrices: not worth instances for each scaling.
template <int kVectors = PanelAvx512::kMaxVectors>
void MultiplyTiles(const TileArgs& args, int rows) {
  if constexpr (kVectors > 1) {
    if (args.vectors < kVectors) return MultiplyTiles<kVectors / 2>(args, rows);
    if (MultiplyToBytes<kVectors>(args, rows)) return;
  }
  RunBlocks<kVectors>(args, rows, FinishAnyPairs<kVectors>{args});
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
        },
    .lines = &kLinesAvx512Vnni};

}  // namespace intaglio
