// AVX512-VNNI: VPDPBUSD adds four exact products of a uint8 row and an int8 panel per lane.
#include "intaglio/kernels/depthwise_tile.h"
#include "intaglio/kernels/lines.h"
#include "intaglio/kernels/lookup_args.h"
#include "intaglio/kernels/tile.h"
#include "intaglio/kernels/x86/bytes.h"
#include "intaglio/kernels/x86/packing_x86.h"
#include "intaglio/kernels/x86/panel_avx512.h"
#include "intaglio/kernels/x86/shuffles_avx512.h"
#include "intaglio/kernels/x86/taps.h"

namespace intaglio {

extern const LineRoutines kLinesAvx512;
extern const LineRoutines kLinesAvx512Vnni;
extern const LookupRoutines kLookupsAvx512Vbmi;

namespace {

struct KernelAvx512Vnni : PanelAvx512 {
  static constexpr bool kTakesWindows = true;
  static constexpr int kDepthStep = 4;

  static INTAGLIO_INLINE Operand LoadPanel(const int8_t* p) { return _mm512_loadu_si512(p); }
  static INTAGLIO_INLINE I32 Dot(I32 acc, Operand panel, Operand row) {
    return _mm512_dpbusd_epi32(acc, row, panel);
  }
  static INTAGLIO_INLINE I32 AddDotPairs(I32 acc, I32 a, I32 b) {
    return _mm512_dpwssd_epi32(acc, a, b);
  }
  static INTAGLIO_INLINE Operand Distance(Operand panel, Operand zero) {
    const Operand top = _mm512_set1_epi8(-128);
    const Operand a = _mm512_xor_si512(panel, top);
    const Operand b = _mm512_xor_si512(zero, top);
    return _mm512_or_si512(_mm512_subs_epu8(a, b), _mm512_subs_epu8(b, a));
  }
};

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

extern const Kernel kKernelAvx512Vnni = {
    .name = "avx512-vnni",
    .needs = kAvx512Bw | kAvx512Vnni,
    .panel = {16, 4, 4},
    .row_format = RowFormat::kUnsigned8,
    .max_rows = 6,
    .takes_panels_of_row = true,
    .takes_windows = true,
    .stores_in_order = true,
    .tile = Tile<KernelAvx512Vnni>,
    .tap_step = 4,
    .depthwise = Depthwise<KernelAvx512Vnni, TapQuads<KernelAvx512Vnni>>,
    .slides_columns = true,
    .has_fma = true,
    .pack = kPanelRoutines<KernelAvx512Vnni, ShufflesAvx512>,
    .pack_rows = PackRowsOf<KernelAvx512Vnni>,
    .sum_rows = SumRowsOf<KernelAvx512Vnni>,
    .lines = &kLinesAvx512Vnni,
    .lookups = &kLookupsAvx512Vbmi,
    .lookups_need = kAvx512Vbmi};

}  // namespace intaglio
