// AVX-512BW without VNNI: as the AVX2 kernel, VPMADDWD over widened bytes.
#include "intaglio/kernels/elementwise/byte_elementwise.h"
#include "intaglio/kernels/make_kernel.h"
#include "intaglio/kernels/x86/bytes.h"
#include "intaglio/kernels/x86/packing_x86.h"
#include "intaglio/kernels/x86/panel_avx512.h"
#include "intaglio/kernels/x86/quantize_avx512.h"
#include "intaglio/kernels/x86/shuffles_avx512.h"
#include "intaglio/kernels/x86/taps.h"
#include "intaglio/kernels/x86/words_avx512.h"

namespace intaglio {
namespace {

struct KernelAvx512Bw : PairsAvx512 {
  static INTAGLIO_INLINE I32 Dot(I32 acc, Operand panel, Operand row) {
    return Add(acc, _mm512_madd_epi16(panel, row));
  }
};

}  // namespace

void AddLinesAvx512Vnni(const SumOfBytes& sum, const LineOutput& output, const LinePair& line);
void MultiplyLinesAvx512Vnni(const ProductOfBytes& product, const LineOutput& output,
                             const LinePair& line);

namespace {

constexpr LineRoutines WithQuantize() {
  LineRoutines lines = kLines<KernelAvx512Bw, BytesX86<KernelAvx512Bw>>;
  lines.quantize = QuantizeAvx512::Run;
  return lines;
}
constexpr LineRoutines WithVnni() {
  LineRoutines lines = WithQuantize();
  lines.add = AddLinesAvx512Vnni;
  lines.multiply = MultiplyLinesAvx512Vnni;
  return lines;
}

}  // namespace

extern constinit const LineRoutines kLinesAvx512 = WithQuantize();
extern constinit const LineRoutines kLinesAvx512Vnni = WithVnni();

extern constinit const Kernel kKernelAvx512Bw =
    MakeKernel<KernelAvx512Bw, TapPairs<KernelAvx512Bw>>(
        {.name = "avx512bw",
         .needs = kAvx512Bw,
         .row_format = RowFormat::kWidened16,
         .pack = kPanelRoutines<KernelAvx512Bw, ShufflesAvx512>,
         .pack_rows = PackRowsOf<KernelAvx512Bw>,
         .sum_rows = SumRowsOf<KernelAvx512Bw>,
         .lines = &kLinesAvx512,
         .winograd = &kWinogradX86<KernelAvx512Bw, WordsAvx512, ShufflesAvx512>});

}  // namespace intaglio
