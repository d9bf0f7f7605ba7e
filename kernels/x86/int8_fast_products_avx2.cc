// AVX2 by the inner products of S. Winograd (1968), for CPUs that multiply fewer vectors in a cycle
// than they add. Of each four depths
//   x0 w0 + x1 w1 + x2 w2 + x3 w3 =
//       (x0 + w2) (x2 + w0) + (x1 + w3) (x3 + w1) - (x0 x2 + x1 x3) - (w0 w2 + w1 w3)
// so that one VPMADDWD and two additions take the place of two VPMADDWD. The last two terms are
// summed up once for each row, and for each channel; all is exact modulo 2^32, as factors are
// within [-256, 382].
#include <cstddef>
#include <cstdint>
#include <utility>

#include "intaglio/kernels/make_kernel.h"
#include "intaglio/kernels/x86/fast_products.h"
#include "intaglio/kernels/x86/panel_avx2.h"

namespace intaglio {

extern const Kernel kKernelAvx2;  // whose panels these are, and which takes what this does not

namespace {

// A group of V is four depths, two of a panel's.
struct FastProductsAvx2 : PanelAvx2 {
  static constexpr bool kTakesWindows = true;
  static constexpr int kDepthStep = 2;
  static constexpr int kRowBytes = 8;
  static constexpr int kTileRows = 4;  // 8 accumulators, 4 vectors of a panel, 2 of a row, 2 sums
  static constexpr int kMaxRows = 12;  // whole tiles of this kernel and of the other one
  // The first two depths and the next two, as int16.
  struct Operand {
    __m256i first;
    __m256i next;
  };

  static INTAGLIO_INLINE Operand LoadRow(const char* p) {
    return {PanelAvx2::LoadRow(p), PanelAvx2::LoadRow(p + 4)};
  }
  static INTAGLIO_INLINE I32 Dot(I32 acc, Operand panel, Operand row) {
    return AddInPlace(acc, _mm256_madd_epi16(_mm256_add_epi16(row.first, panel.next),
                                             _mm256_add_epi16(row.next, panel.first)));
  }
};

using V = FastProductsAvx2;
constexpr int kVectors = V::kMaxVectors;

// A panel, widened.
struct WidePanel {
  const __m256i* at;

  INTAGLIO_INLINE V::Operand Load(int j) const { return {at[j], at[kVectors + j]}; }
  INTAGLIO_INLINE void Next() { at += 2 * kVectors; }
};

// Widens a panel of so many groups of four depths, and takes the channels' terms from `offset`.
void Widen(const TileArgs& args, int groups, __m256i* to, int32_t* offset) {
  AsPacked<V, kVectors> panel{args.panel};
  __m256i sums[kVectors];
  for (int j = 0; j < kVectors; ++j) sums[j] = V::Load(offset + j * V::kLanes);
  for (int g = 0; g < groups; ++g, to += 2 * kVectors) {
    if (args.fetch_ahead) panel.FetchAhead();
    INTAGLIO_UNROLL
    for (int i = 0; i < 2 * kVectors; ++i) {
      const auto* bytes = reinterpret_cast<const __m128i*>(panel.at + i * panel.kVectorBytes);
      to[i] = _mm256_cvtepi8_epi16(_mm_loadu_si128(bytes));
    }
    panel.Next();
    panel.Next();
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) {
      sums[j] = V::Sub(sums[j], _mm256_madd_epi16(to[j], to[kVectors + j]));
    }
  }
  for (int j = 0; j < kVectors; ++j) V::Store(offset + j * V::kLanes, sums[j]);
}

// The sum of x0 x2 + x1 x3 over `groups` groups of four depths, in the even lanes of `sum` or at
// most once in each two.
INTAGLIO_INLINE __m256i AddTerms(const char* row, int groups, __m256i sum) {
  constexpr int kSwapPairs = 0b10'11'00'01;
  int g = 0;
  for (; g + 4 <= groups; g += 4, row += 4 * V::kRowBytes) {
    const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row));
    sum = V::Add(sum, _mm256_madd_epi16(x, _mm256_shuffle_epi32(x, kSwapPairs)));
  }
  for (; g < groups; ++g, row += V::kRowBytes) {
    const __m256i x =
        _mm256_zextsi128_si256(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(row)));
    sum = V::Add(sum, _mm256_madd_epi16(x, _mm256_shuffle_epi32(x, kSwapPairs)));
  }
  return sum;
}

INTAGLIO_INLINE int32_t SumEvenLanes(__m256i a) {
  const __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
  return _mm_cvtsi128_si32(_mm_add_epi32(sum, _mm_unpackhi_epi64(sum, sum)));
}

bool HasWholeGroups(const TileArgs& args) { return args.groups % 2 == 0; }

// The terms of each row, together with those that it has anyway.
void FillTerms(const TileArgs& args, int32_t* terms) {
  if (!HasWholeGroups(args)) return;
  const WindowRows& windows = args.windows;
  const auto* row = static_cast<const char*>(args.rows);
  for (int r = 0; r < args.row_count; ++r, row += args.row_stride) {
    const char* line = windows.begin == nullptr ? row : row + windows.begin[r];
    __m256i sum = V::Set(0);
    for (int l = 0; l < windows.lines; ++l, line += windows.line_step) {
      sum = AddTerms(line, args.groups / 2, sum);
    }
    const int32_t other = args.row_terms == nullptr ? 0 : args.row_terms[r];
    terms[r] = Scalar::Sub(other, SumEvenLanes(sum));
  }
}

// The last one or two rows are a tile of two: 7 x 7 pixels leave one over, which a whole tile would
// compute with three of its neighbours.
template <class Store, class Form>
INTAGLIO_INLINE bool ComputeAll(const TileArgs& args, Form form) {
  constexpr int kFew = V::kTileRows / 2;
  constexpr auto kAllVectors = std::make_index_sequence<kVectors>();
  const WidePanel panel{static_cast<const __m256i*>(args.operands)};
  const int rest = args.row_count % V::kTileRows;
  const bool ends_with_few = rest != 0 && rest <= kFew;
  const int last = args.row_count - (ends_with_few ? rest : 0);
  ComputeTiles<V, Store, V::kTileRows>(args, panel, 0, last, form, kAllVectors);
  if (ends_with_few) {
    ComputeTiles<V, Store, kFew>(args, panel, args.row_count - kFew, args.row_count, form,
                                 kAllVectors);
  }
  return true;
}

bool ComputeFast(const TileArgs& args) {
  if (SizeOf(args.epilogue.output) == 1) {
    return WithBoundedScaling<V, kVectors>(*args.params, [&](auto form) {
      return ComputeAll<ByteStoreOf<V, decltype(form)>>(args, form);
    });
  }
  if (!StoresPlainWords(args.epilogue)) return false;
  switch (args.params->form) {
    case ScalingForm::kNone:
      return ComputeAll<WordStore<V>>(args, Unscaled<V>());
    case ScalingForm::kToFloat:
      return ComputeAll<WordStore<V>>(args, ToReal<V>());
    default:
      return false;
  }
}

void TileFast(const TileArgs& args) {
  if (args.own_terms != nullptr && args.operands != nullptr && args.vectors == kVectors &&
      HasWholeGroups(args) && args.row_count >= V::kTileRows) {
    ParamsOf<V> params = *ParamsIn<V>(args);
    TileArgs fast = args;
    fast.params = &params;
    fast.groups = args.groups / 2;
    fast.row_terms = args.own_terms;
    Widen(args, fast.groups * args.windows.lines, static_cast<__m256i*>(args.operands),
          params.offset);
    if (ComputeFast(fast)) return;
  }
  kKernelAvx2.tile(args);
}

// What a row's terms take is an eighth of what a panel's products do; and a panel that, widened,
// leaves L1 is to be widened for many rows.
bool Pays(Type, const ProductSize& size) {
  return size.multiplies_are_scarce && size.groups >= kLeastFastDepth / 2 && size.groups % 2 == 0 &&
         size.channels >= kLeastFastChannels && size.rows >= (size.groups <= 1024 ? 24 : 128);
}

void PackRowsAlike(const RowSource& source, RowFormat format, int first, int count,
                   int padded_depth, void* packed) {
  kKernelAvx2.pack_rows(source, format, first, count, padded_depth, packed);
}

void SumRowsAlike(RowFormat format, const void* rows, ptrdiff_t stride_bytes, int count, int depth,
                  int32_t* sums) {
  kKernelAvx2.sum_rows(format, rows, stride_bytes, count, depth, sums);
}

}  // namespace

extern constinit const Kernel kKernelAvx2FastProducts =
    MakeKernelOfTile<V>({.name = "avx2",
                         .needs = kAvx2,
                         .row_format = RowFormat::kWidened16,
                         .tile = TileFast,
                         .own_terms = FillTerms,
                         .serves_product = Pays,
                         .pack_rows = PackRowsAlike,
                         .sum_rows = SumRowsAlike});

}  // namespace intaglio
