// AVX-VNNI: VPDPBUSD (VEX-encoded) adds four exact products of a uint8 row and an int8 panel per
// lane.
#include "intaglio/kernels/depthwise_tile.h"
#include "intaglio/kernels/tile.h"
#include "intaglio/kernels/x86/packing_sse41.h"
#include "intaglio/kernels/x86/panel_avx2.h"
#include "intaglio/kernels/x86/shuffles_avx2.h"
#include "intaglio/kernels/x86/taps.h"

namespace intaglio {

extern const LineRoutines kLinesAvx2;

namespace {

struct KernelAvxVnni : BytesAvx2 {
  static constexpr bool kTakesWindows = true;
  static INTAGLIO_INLINE I32 Dot(I32 acc, Operand panel, Operand row) {
    return _mm256_dpbusd_avx_epi32(acc, row, panel);
  }
};

}  // namespace

extern const Kernel kKernelAvxVnni = {
    .name = "avx-vnni",
    .needs = kAvx2 | kAvxVnni,
    .panel = {8, 2, 4},
    .row_format = RowFormat::kUnsigned8,
    .max_rows = 6,
    .takes_windows = true,
    .tile = Tile<KernelAvxVnni>,
    .tap_step = 4,
    .depthwise = Depthwise<KernelAvxVnni, TapQuads<KernelAvxVnni>>,
    .has_fma = true,
    .pack = kPanelRoutines<KernelAvxVnni, ShufflesAvx2>,
    .pack_rows = PackRowsOf<KernelAvxVnni>,
    .sum_rows = SumRowsOf<KernelAvxVnni>,
    .lines = &kLinesAvx2};

}  // namespace intaglio
