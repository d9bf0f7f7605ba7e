// AVX512-VNNI: VPDPBUSD adds four exact products of a uint8 row and an int8 panel per lane.
#include "intaglio/kernels/elementwise/byte_elementwise.h"
#include "intaglio/kernels/elementwise/lookup_args.h"
#include "intaglio/kernels/make_kernel.h"
#include "intaglio/kernels/x86/bytes.h"
#include "intaglio/kernels/x86/packing_x86.h"
#include "intaglio/kernels/x86/panel_avx512.h"
#include "intaglio/kernels/x86/shuffles_avx512.h"
#include "intaglio/kernels/x86/taps.h"
#include "intaglio/kernels/x86/words_avx512.h"

namespace intaglio {

extern const LineRoutines kLinesAvx512;
extern const LineRoutines kLinesAvx512Vnni;
extern const LookupRoutines kLookupsAvx512Vbmi;

namespace {

struct KernelAvx512Vnni : BytesAvx512 {
  static INTAGLIO_INLINE I32 Dot(I32 acc, Operand panel, Operand row) {
    return _mm512_dpbusd_epi32(acc, row, panel);
  }
  static INTAGLIO_INLINE I32 AddDotPairs(I32 acc, I32 a, I32 b) {
    return _mm512_dpwssd_epi32(acc, a, b);
  }
};

// VPDPWSSD adds the products of two pairs of int16.
struct PairsAvx512Vnni : PairsAvx512 {
  static INTAGLIO_INLINE I32 Dot(I32 acc, Operand panel, Operand row) {
    return _mm512_dpwssd_epi32(acc, panel, row);
  }
};

// A type of this file, so that no other one gets what is compiled here for VNNI.
struct WordsAvx512Vnni : WordsAvx512 {};

// VPDPWSSD multiplies half as much as VPDPBUSD, so that less is gained than elsewhere: .59 to .89
// of the time (Zen 4).
constexpr WinogradRoutines kWinograd = MakeWinograd<PairsAvx512Vnni, WordsAvx512Vnni>(
    kPanelRoutines<PairsAvx512Vnni, ShufflesAvx512>,
    {.least_channels = 32, .least_fill = 75, .least_tiles = 16});

}  // namespace

using LinesByPairs = Lines<KernelAvx512Vnni, BytesX86<KernelAvx512Vnni>>;

// VPDPWSSD adds the products of pairs.
void AddLinesAvx512Vnni(const SumOfBytes& sum, const LineOutput& output, const LinePair& line) {
  if (!sum.linear) return kLinesAvx512.add(sum, output, line);
  LinesByPairs::AddLinear(sum, output, line);
}
void MultiplyLinesAvx512Vnni(const ProductOfBytes& product, const LineOutput& output,
                             const LinePair& line) {
  const bool plain = product.fitted && product.fit.stretch == 1;  // as nearly all are
  if (!plain) return kLinesAvx512.multiply(product, output, line);
  LinesByPairs::MultiplyFitted<false>(product, output, line);
}

extern constinit const Kernel kKernelAvx512Vnni =
    MakeKernel<KernelAvx512Vnni, TapQuads<KernelAvx512Vnni>>(
        {.name = "avx512-vnni",
         .needs = kAvx512Bw | kAvx512Vnni,
         .row_format = RowFormat::kUnsigned8,
         .pack = kPanelRoutines<KernelAvx512Vnni, ShufflesAvx512>,
         .pack_rows = PackRowsOf<KernelAvx512Vnni>,
         .sum_rows = SumRowsOf<KernelAvx512Vnni>,
         .lines = &kLinesAvx512Vnni,
         .lookups = &kLookupsAvx512Vbmi,
         .lookups_need = kAvx512Vbmi,
         .winograd = &kWinograd});

}  // namespace intaglio
