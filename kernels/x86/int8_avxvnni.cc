// AVX-VNNI: VPDPBUSD (VEX-encoded) adds four exact products of a uint8 row and an int8 panel per
// lane.
#include "intaglio/kernels/make_kernel.h"
#include "intaglio/kernels/tile/panel_totals.h"
#include "intaglio/kernels/x86/panel_bytes_avx2.h"
#include "intaglio/kernels/x86/taps.h"

namespace intaglio {

extern const Kernel kKernelAvx2SafePairs;
extern const LineRoutines kLinesAvx2;

namespace {

struct KernelAvxVnni : BytesAvx2 {
  static constexpr bool kTakesWindows = true;
  static INTAGLIO_INLINE I32 Dot(I32 acc, Operand panel, Operand row) {
    return _mm256_dpbusd_avx_epi32(acc, row, panel);
  }
};

// Panels and rows are those of safe pairs, and packed in their way.
void FillPanelBytes(const PanelSource& source, int8_t* panel) {
  kKernelAvx2SafePairs.pack.fill(source, panel);
}
void PackRowsBytes(const RowSource& source, RowFormat format, int first, int count,
                   int padded_depth, void* packed) {
  kKernelAvx2SafePairs.pack_rows(source, format, first, count, padded_depth, packed);
}
void SumRowsBytes(RowFormat format, const void* rows, ptrdiff_t stride_bytes, int count, int depth,
                  int32_t* sums) {
  kKernelAvx2SafePairs.sum_rows(format, rows, stride_bytes, count, depth, sums);
}

}  // namespace

extern constinit const Kernel kKernelAvxVnni = MakeKernel<KernelAvxVnni, TapQuads<KernelAvxVnni>>(
    {.name = "avx-vnni",
     .needs = kAvx2 | kAvxVnni,
     .row_format = RowFormat::kUnsigned8,
     .pack = {FillPanelBytes, SumPanelOf<KernelAvxVnni>, MeasurePanelOf<KernelAvxVnni>},
     .pack_rows = PackRowsBytes,
     .sum_rows = SumRowsBytes,
     .lines = &kLinesAvx2});

}  // namespace intaglio
