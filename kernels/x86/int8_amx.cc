// AMX-INT8: TDPBUSD adds the exact products of 16 uint8 rows and 16 int8 channels over 64 depths,
// TDPBSSD those of int8 rows.
//
// The panels are those of AVX512-VNNI: 16 groups of one vector are what TDPBUSD multiplies by.
// Those of one vector hold channels in their own order, so that tiles of int32 results can be
// stored where they belong: a row of its own (kKernelAmxWords) makes no others.
#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "intaglio/kernels/make_kernel.h"
#include "intaglio/kernels/x86/blocks_amx.h"
#include "intaglio/kernels/x86/im2col_amx.h"
#include "intaglio/kernels/x86/panel_avx512.h"
#include "intaglio/kernels/x86/word_blocks_amx.h"

namespace intaglio {

extern const Kernel kKernelAvx512Vnni;
extern const LineRoutines kLinesAvx512Vnni;
extern const LookupRoutines kLookupsAvx512Vbmi;

namespace {

static_assert(kWholePanel == PanelAvx512::kMaxVectors);
static_assert(std::is_same_v<ParamsOf<PanelAvx512>, PanelParams>);
constexpr int kLanes = PanelAvx512::kLanes;
constexpr int kDepthStep = BytesAvx512::kDepthStep;

// What multiplies by tiles, and what does by lanes, panels of the same format.
struct TilesAmx {
  static constexpr bool kTiles = true;
  static constexpr bool kHasFma = true;
  static constexpr int kLanes = BytesAvx512::kLanes;
  static constexpr int kMaxVectors = BytesAvx512::kMaxVectors;
  static constexpr int kDepthStep = BytesAvx512::kDepthStep;
  static constexpr int kMaxRows = 2 * kTileLines;
};
struct LanesAmx : BytesAvx512 {
  static constexpr bool kTiles = true;
};
struct WordsAmx : TilesAmx {
  static constexpr int kMaxVectors = 1;
};

// This many rows, or fewer, are multiplied faster by AVX512-VNNI.
constexpr int kFewRows = 2;

// Loads, scales and stores two rows of accumulators, which hold offsets and products.
template <int kVectors, class Store>
INTAGLIO_INLINE void FinishPair(const TileArgs& args, const auto& params, const int32_t* block,
                                int row, const Store& store) {
  __m512i acc[2][kVectors];
  INTAGLIO_UNROLL
  for (int r = 0; r < 2; ++r) {
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) {
      acc[r][j] = PanelAvx512::Load(block + (r * kVectors + j) * kLanes);
    }
  }
  AddZeroPointTerms<PanelAvx512>(args, params, row, acc);
  store(acc);
}

// The epilogue for bytes by one of the bounded scalings, whose parameters stay at hand.
template <int kVectors, class Form>
struct ByteEpilogue {
  using Params = PanelParams;
  using Scaled = decltype(Form()(PanelParams(), 0));
  struct Finish {
    const TileArgs& args;
    const PanelParams& params;
    ByteStoreOf<PanelAvx512, Form> bytes;
    Scaled scaled[kVectors];

    INTAGLIO_INLINE void operator()(const int32_t* block, int row, char* dst) const {
      FinishPair<kVectors>(args, params, block, row, [&](auto& acc) {
        FinishPairs(bytes, acc, scaled, dst, args.dst_stride);
      });
    }
  };

  const TileArgs& args;
  ByteStoreOf<PanelAvx512, Form> bytes;

  INTAGLIO_INLINE Finish operator()(int panel) const {
    return Of(ParamsIn<PanelAvx512>(args)[panel], std::make_index_sequence<kVectors>());
  }
  template <size_t... kVector>
  INTAGLIO_INLINE Finish Of(const PanelParams& params, std::index_sequence<kVector...>) const {
    return {args, params, bytes, {Form()(params, static_cast<int>(kVector) * kLanes)...}};
  }
};

// Brings two rows of words that are written soon into L1. Stores that wait for L2 hold up loads
// whose addresses agree with theirs in the low 12 bits.
template <int kVectors>
INTAGLIO_INLINE void FetchBeforeWriting(const char* row, ptrdiff_t stride) {
  INTAGLIO_UNROLL
  for (int j = 0; j < kVectors; ++j) {
    _mm_prefetch(row + j * kTileLineBytes, _MM_HINT_T0);
    _mm_prefetch(row + stride + j * kTileLineBytes, _MM_HINT_T0);
  }
}

// The epilogue for anything else. Words of four bytes that are stored as they are, or as float32,
// have code of their own. V is what the panels are of.
template <int kVectors, bool kPlainWords = false, class V = PanelAvx512>
struct AnyEpilogue {
  using Params = ParamsOf<V>;
  static constexpr int kRowsAhead = 4;

  const TileArgs& args;

  INTAGLIO_INLINE auto operator()(int panel) const {
    return [ this, &params = ParamsIn<V>(args)[panel] ](const int32_t* block, int row, char* dst)
        __attribute__((always_inline)) {
      FinishPair<kVectors>(args, params, block, row, [&](auto& acc) {
        if constexpr (kPlainWords) {
          if (params.form == ScalingForm::kToFloat) {
            ScaleRows<PanelAvx512>(ToReal<PanelAvx512>(), params, acc, 0);
          }
          FetchBeforeWriting<kVectors>(dst + kRowsAhead * args.dst_stride, args.dst_stride);
          StorePlainWords<PanelAvx512, kVectors>(acc[0], dst);
          StorePlainWords<PanelAvx512, kVectors>(acc[1], dst + args.dst_stride);
        } else {
          ApplyScaling<PanelAvx512, kVectors, 2>(params, acc);
          StoreRows<PanelAvx512, kVectors, 2>(args.epilogue, acc, dst, args.dst_stride);
        }
      });
    };
  }
};

// The rows [0, rows) of a call, at least two.
template <int kVectors, class Epilogue>
void RunBlocks(const BlockArgs& args, int rows, const Epilogue& epilogue) {
  constexpr int kRowTiles = kVectors == 1 ? 4 : 2;
  const RowTiles tiles(rows);
  const int whole = args.streams == Streams::kRows ? 0 : tiles.count() / kRowTiles * kRowTiles;
  if (whole > 0) {
    Blocks<kRowTiles, kAccumulators / kRowTiles, kVectors, Epilogue>::Run(args, tiles, 0, whole,
                                                                          epilogue);
  }
  if (whole == tiles.count()) return;
  BlockArgs rest = args;
  rest.fetch_ahead &= whole == 0;  // else the panels are there
  // What is left over of narrower panels is not worth instances for each scaling.
  const auto last = [&] {
    constexpr bool kIsNarrower = kVectors < PanelAvx512::kMaxVectors &&
                                 std::is_same_v<typename Epilogue::Params, PanelParams>;
    if constexpr (kIsNarrower) {
      return AnyEpilogue<kVectors>{args};
    } else {
      return epilogue;
    }
  }();
  Blocks<1, kVectors, kVectors, std::decay_t<decltype(last)>>::Run(rest, tiles, whole,
                                                                   tiles.count(), last);
}

// WithBoundedScaling; narrower panels, which are the edges of matrices and small layers, are not
// worth instances for each kind of double rounding.
template <int kVectors, class Use>
INTAGLIO_INLINE bool WithScaling(const PanelForm& p, const Use& use) {
  if constexpr (kVectors < PanelAvx512::kMaxVectors) {
    if (IsDoubleRounding(p.form)) return IsBounded(p, kVectors) && use(ByVector<PanelAvx512>());
    return WithBoundedScaling<PanelAvx512, kVectors>(p, [&]<class Form>(Form form) {
      if constexpr (!IsDoubleRounding(Form::kForm)) return use(form);
      return false;
    });
  }
  return WithBoundedScaling<PanelAvx512, kVectors>(p, use);
}

// Whether the rows are finished as bytes by a bounded scaling: then it is done.
template <int kVectors>
bool MultiplyToBytes(const BlockArgs& args, int rows) {
  if (SizeOf(args.epilogue.output) != 1) return false;
  return WithScaling<kVectors>(*args.params, [&](auto form) {
    RunBlocks<kVectors>(args, rows,
                        ByteEpilogue<kVectors, decltype(form)>{
                            args, ByteStoreOf<PanelAvx512, decltype(form)>(args.epilogue)});
    return true;
  });
}

// The same of plain words, by whole panels of V.
template <class V = PanelAvx512>
bool MultiplyToWords(const BlockArgs& args, int rows) {
  const ScalingForm form = args.params->form;
  const bool plain = form == ScalingForm::kNone || form == ScalingForm::kToFloat;
  if (!plain || !StoresPlainWords(args.epilogue)) return false;
  RunBlocks<V::kMaxVectors>(args, rows, AnyEpilogue<V::kMaxVectors, true, V>{args});
  return true;
}

template <int kVectors = PanelAvx512::kMaxVectors>
void MultiplyTiles(const BlockArgs& args, int rows) {
  if constexpr (kVectors > 1) {
    if (args.vectors < kVectors) return MultiplyTiles<kVectors / 2>(args, rows);
  }
  if (MultiplyToBytes<kVectors>(args, rows)) return;
  if (kVectors == PanelAvx512::kMaxVectors && MultiplyToWords(args, rows)) return;
  RunBlocks<kVectors>(args, rows, AnyEpilogue<kVectors>{args});
}

// Whether panels are finished in the same way.
bool SameForm(const PanelForm& a, const PanelForm& b) {
  constexpr int kVectors = PanelAvx512::kMaxVectors;
  return a.form == b.form &&
         (a.form != ScalingForm::kByVector || IsBounded(a, kVectors) == IsBounded(b, kVectors));
}

// What shares L1: panels up to the first with rows; a panel up to the second, past which rows
// stream; all rows of a call, past which panels do.
constexpr ptrdiff_t kBothInCache = 20 << 10;
constexpr ptrdiff_t kPanelInCache = 40 << 10;
constexpr ptrdiff_t kRowsInCache = 32 << 10;
// A block's rows up to this, which L1 keeps beside the panels that stream past, have all of these
// do so.
constexpr ptrdiff_t kRowsWorthKeeping = 48 << 10;

// Panels from beyond L2 do not take turns for so few blocks of rows: they would come in the first
// one faster than they can.
constexpr int kFewBlocks = 2;

Streams StreamsPast(const TileArgs& args, int rows) {
  const ptrdiff_t depth = ptrdiff_t{args.groups} * kDepthStep;
  const ptrdiff_t panel_bytes = depth * args.vectors * kLanes;
  if (panel_bytes <= kBothInCache) return Streams::kNothing;
  const bool panel_stays = panel_bytes <= kPanelInCache && rows * depth > kRowsInCache;
  return panel_stays && args.vectors == PanelAvx512::kMaxVectors ? Streams::kRows
                                                                 : Streams::kPanels;
}

void SkipPanels(TileArgs& args, int count) {
  intaglio::SkipPanels<PanelParams>(args, count, kLanes, kDepthStep);
}

// The rows [0, rows) of a call by all of its panels.
void MultiplyPanels(BlockArgs args, int rows) {
  const ptrdiff_t depth = ptrdiff_t{args.groups} * kDepthStep;
  args.streams = StreamsPast(args, rows);
  const bool in_turn = args.streams == Streams::kPanels && RowTiles(rows).lines() % 2 == 0 &&
                       2 * kTileLines * depth <= kRowsWorthKeeping &&
                       !(args.fetch_ahead && rows <= kFewBlocks * 2 * kTileLines);
  for (int left = args.panel_count; left > 0; left -= args.panel_count) {
    args.panel_count = 1;
    args.panels_left = left;
    while (in_turn && args.panel_count < left &&
           SameForm(*args.params, ParamsIn<PanelAvx512>(args)[args.panel_count])) {
      ++args.panel_count;
    }
    MultiplyTiles(args, rows);
    SkipPanels(args, args.panel_count);
    args.fetch_rows = false;
  }
}

// Whether tiles are used at all. AVX512-VNNI reads uint8 rows only.
template <bool kSignedRows>
bool UsesTiles(int row_count, int groups) {
  return groups > 0 && (kSignedRows || row_count > kFewRows);
}

template <bool kSignedRows>
void BeginAmx(int row_count, int groups) {
  if (!UsesTiles<kSignedRows>(row_count, groups)) return;
  ConfigureTiles(RowTiles(std::max(row_count, 2)).lines(), groups);
}

void EndAmx() { ReleaseShapes(); }

// Rows are finished two at a time: a single one as both of a pair.
void MultiplySignedRow(TileArgs args) {
  int32_t sums[2];
  int32_t terms[2];
  if (args.row_sums != nullptr) args.row_sums = std::fill_n(sums, 2, *args.row_sums) - 2;
  if (args.row_terms != nullptr) args.row_terms = std::fill_n(terms, 2, *args.row_terms) - 2;
  args.row_stride = 0;
  args.dst_stride = 0;
  MultiplyPanels({args, true}, 2);
}

template <bool kSignedRows>
void TileAmx(const TileArgs& args) {
  if (UsesTiles<kSignedRows>(args.row_count, args.groups)) {
    if (args.row_count == 1) return MultiplySignedRow(args);
    return MultiplyPanels({args, kSignedRows}, args.row_count);
  }
  if (args.row_count == 1) return kKernelAvx512Vnni.tile(args);
  TileArgs panel = args;
  panel.panel_count = 1;
  for (int i = 0; i < args.panel_count; ++i, SkipPanels(panel, 1)) kKernelAvx512Vnni.tile(panel);
}

// Of WordsAmx.
void SkipWordPanels(TileArgs& args, int count) {
  intaglio::SkipPanels<ParamsOf<WordsAmx>>(args, count, kLanes, kDepthStep);
}

// The tiles of rows [first, end) by all panels of a call, whose accumulators are the results.
template <int kRowTiles, int kPanels>
void StoreTiles(BlockArgs args, const RowTiles& tiles, int first, int end) {
  if (first == end) return;
  const int rest = args.panel_count % kPanels;
  args.panel_count -= rest;
  if (args.panel_count > 0) {
    WordBlocks<kRowTiles, kPanels, WordsAmx>::Run(args, tiles, first, end);
  }
  if constexpr (kPanels > 1) {
    if (rest == 0) return;
    SkipWordPanels(args, args.panel_count);
    args.panel_count = rest;
    StoreTiles<kRowTiles, kPanels / 2>(args, tiles, first, end);
  }
}

// How many of a call's panels, from the first on, have nothing to add to what tiles accumulate.
int PanelsAsTheyAre(const TileArgs& args) {
  if (args.epilogue.output != Type::kInt32 || !StoresPlainWords(args.epilogue)) return 0;
  if (args.row_sums != nullptr || args.row_terms != nullptr) return 0;
  int count = 0;
  while (count < args.panel_count && ParamsIn<WordsAmx>(args)[count].form == ScalingForm::kNone) {
    ++count;
  }
  return count;
}

// Any results of any panels by AVX512-VNNI, which reads parameters of the widest.
void MultiplyWordPanelsByLanes(TileArgs args) {
  const int panels = std::exchange(args.panel_count, 1);
  for (int i = 0; i < panels; ++i, SkipWordPanels(args, 1)) {
    const ParamsOf<WordsAmx>& params = *ParamsIn<WordsAmx>(args);
    PanelParams wide;
    static_cast<PanelForm&>(wide) = params;
    ForEachArray(wide, params,
                 [](auto& to, const auto& from) { std::memcpy(to, from, sizeof from); });
    TileArgs panel = args;
    panel.params = &wide;
    kKernelAvx512Vnni.tile(panel);
  }
}

void TileWords(const TileArgs& args) {
  if (!UsesTiles<false>(args.row_count, args.groups)) return MultiplyWordPanelsByLanes(args);
  BlockArgs left{args, false};
  while (left.panel_count > 0) {
    const int panels = left.panel_count;
    int done = PanelsAsTheyAre(left);
    if (done > 0) {
      const RowTiles tiles(args.row_count);
      const int pairs = tiles.count() / 2 * 2;
      left.panel_count = done;
      StoreTiles<2, 2>(left, tiles, 0, pairs);
      StoreTiles<1, kAccumulators>(left, tiles, pairs, tiles.count());
    } else {
      left.panel_count = done = 1;
      if (!MultiplyToWords<WordsAmx>(left, args.row_count)) {
        RunBlocks<1>(left, args.row_count, AnyEpilogue<1, false, WordsAmx>{left});
      }
    }
    SkipWordPanels(left, done);
    left.panel_count = panels - done;
  }
}

// Whether they are worth panels of their own: where products take no longer than the stores of
// results by way of memory, in clock cycles of a tile of 16 rows and channels. It is a count
// (docs/performance.md), which no machine with AMX has measured yet. Where all channels are one
// panel in the order for bytes, that was faster than oneDNN, which stores tiles where they belong.
bool WordsPay(const ProductSize& size) {
  constexpr int kStoresByMemory = 2 * kTileLines;
  const int steps = (size.groups + kStepGroups - 1) / kStepGroups;
  return size.rows >= 4 * kTileLines && size.channels > kWholePanel * kLanes && steps > 0 &&
         steps * kTileLines <= kStoresByMemory;
}

// Whether AVX512-VNNI is faster. Clock cycles, in tenths, as bench_gemm showed them on Sapphire and
// Granite Rapids: results take longer by way of memory, alone in their row more, a vector of fewer
// channels most of all; rows that were just packed wait to be in memory; and setting up the
// registers costs 400 cycles.
bool IsLittle(Type, const ProductSize& size) {
  // Panels from beyond L2 take longer than the products of one of its tiles, and it fetches ahead.
  constexpr int64_t kStaysInL2 = 3 << 19;
  const int64_t bytes = int64_t{size.channels} * size.groups * kDepthStep;
  if (size.rows <= PanelAvx512::kMaxRows && bytes > kStaysInL2) return true;
  const int64_t rows = std::min<int64_t>(size.rows, 1 << 20);
  const int64_t vectors = (size.channels + kLanes - 1) / kLanes;
  const int64_t steps = (size.groups + kStepGroups - 1) / kStepGroups;
  const bool slim = vectors == 1;
  const int64_t products = (rows + kTileLines - 1) / kTileLines * (steps - 1) * kTileLines;
  const int edge = size.channels % kLanes == 0 ? 0 : 40;
  const int64_t row = vectors * (slim ? 60 : 40) + edge + (size.packed ? 20 : 0);
  const int64_t by_tiles = 4000 + rows * row + vectors * products * 10;
  const int64_t by_lanes = vectors * rows * (slim ? 30 + 6 * size.groups : 20 + 4 * size.groups);
  return by_lanes < by_tiles;
}

void PackRowsAmx(const RowSource& source, RowFormat format, int first, int count, int padded_depth,
                 void* packed) {
  if (TakesMaskedBytes(source, format)) {
    return Im2colRows<MaskedBytesAmx>::Pack(source.im2col, first, count, padded_depth,
                                            static_cast<uint8_t*>(packed));
  }
  const auto pack = format == RowFormat::kUnsigned8 ? kKernelAvx512Vnni.pack_rows : PackRows;
  pack(source, format, first, count, padded_depth, packed);
}

// What is no product of tiles is done as by AVX512-VNNI.
void SumRowsVnni(RowFormat format, const void* rows, ptrdiff_t stride_bytes, int count, int depth,
                 int32_t* sums) {
  kKernelAvx512Vnni.sum_rows(format, rows, stride_bytes, count, depth, sums);
}

// What the rows share.
constexpr KernelFacts Facts(RowFormat row_format, void (*tile)(const TileArgs&)) {
  return {.name = "amx-int8",
          .needs = kAvx512Bw | kAvx512Vnni | kAmxInt8,
          .row_format = row_format,
          .tile = tile,
          .pack_rows = PackRowsAmx,
          .lines = &kLinesAvx512Vnni,
          .lookups = &kLookupsAvx512Vbmi};
}

constexpr Kernel MakeLittle() {
  KernelFacts facts =
      Facts(RowFormat::kUnsigned8, [](const TileArgs& args) { kKernelAvx512Vnni.tile(args); });
  facts.sum_rows = SumRowsVnni;
  facts.serves_product = IsLittle;
  // Its threads and tasks are those of tiles.
  facts.costs = {.rows_at_once = kTileLines, .keeps_panels = true};
  return MakeKernelOfTile<LanesAmx>(facts);
}

template <bool kSignedRows, class V = TilesAmx>
constexpr Kernel MakeTiles(KernelFacts facts) {
  facts.takes_panels = true;
  facts.costs = {.rows_at_once = kTileLines,
                 .groups_at_once = kStepGroups,
                 .results_per_cycle = 4,
                 .row_step = 2,
                 .keeps_panels = true,
                 .fetches_cold_panels = true};
  facts.begin = BeginAmx<kSignedRows>;
  facts.end = EndAmx;
  return MakeKernelOfTile<V>(facts);
}

constexpr Kernel MakeForInt8Rows() {
  KernelFacts facts = Facts(RowFormat::kSigned8, TileAmx<true>);
  facts.serves_product = [](Type rows, const ProductSize&) { return rows == Type::kInt8; };
  return MakeTiles<true>(facts);
}

// What packs panels, and sums rows, as for AVX512-VNNI.
constexpr void PackAsVnni(KernelFacts& facts) {
  facts.sum_rows = SumRowsVnni;
  facts.pack = {
      .fill = [](const PanelSource& s, int8_t* panel) { kKernelAvx512Vnni.pack.fill(s, panel); },
      .sum = [](const PanelSource& s, const int8_t* panel,
                int32_t* sums) { kKernelAvx512Vnni.pack.sum(s, panel, sums); },
      .measure =
          [](const PanelSource& s, const int8_t* panel, const int32_t* zero_points) {
            return kKernelAvx512Vnni.pack.measure(s, panel, zero_points);
          }};
}

constexpr Kernel MakeWords() {
  KernelFacts facts = Facts(RowFormat::kUnsigned8, TileWords);
  facts.name = "amx-int8-words";
  facts.serves_words = WordsPay;
  PackAsVnni(facts);
  return MakeTiles<false, WordsAmx>(facts);
}

constexpr Kernel MakeAmx() {
  KernelFacts facts = Facts(RowFormat::kUnsigned8, TileAmx<false>);
  PackAsVnni(facts);
  Kernel kernel = MakeTiles<false>(facts);
  kernel.tap_step = 4;
  kernel.depthwise = [](const DepthwiseArgs& args) { kKernelAvx512Vnni.depthwise(args); };
  kernel.slides_columns = kernel.folds_pixels = true;
  return kernel;
}

}  // namespace

extern constinit const Kernel kKernelAmxWords = MakeWords();
extern constinit const Kernel kKernelAmxLittle = MakeLittle();
extern constinit const Kernel kKernelAmxInt8Rows = MakeForInt8Rows();
extern constinit const Kernel kKernelAmx = MakeAmx();

}  // namespace intaglio
