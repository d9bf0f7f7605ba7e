// AVX2 for safe pairs (pack/safe_pairs.h): VPMADDUBSW adds two exact products of a uint8 row and an
// int8 panel per int16 lane, VPMADDWD by ones two of those.
#include <cstdint>

#include "intaglio/kernels/make_kernel.h"
#include "intaglio/kernels/x86/fast_products.h"
#include "intaglio/kernels/x86/packing_x86.h"
#include "intaglio/kernels/x86/panel_bytes_avx2.h"
#include "intaglio/kernels/x86/shuffles_avx2.h"
#include "intaglio/pack/safe_pairs.h"

namespace intaglio {
namespace {

alignas(32) constexpr int16_t kOnes[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

struct KernelAvx2SafePairs : BytesAvx2 {
  static constexpr bool kSafePairs = true;
  static INTAGLIO_INLINE I32 Dot(I32 acc, Operand panel, Operand row) {
    __m256i sums = _mm256_maddubs_epi16(row, panel);
    // Ones from memory: in a register they would leave none for the twelfth accumulator.
    asm("vpmaddwd %1, %0, %0" : "+x"(sums) : "m"(kOnes));
    return AddInPlace(acc, sums);
  }
};

// Two of its three instructions multiply. A CPU that multiplies once a cycle takes as long for them
// as for two products of int16, and is faster by fast products, which need the other panels.
bool Serves(const ConstMatrix& channels, bool multiplies_once) {
  const bool has_faster = multiplies_once && channels.cols % 4 == 0 &&
                          channels.cols >= kLeastFastDepth && channels.rows >= kLeastFastChannels;
  return !has_faster && PairsAreSafe(channels);
}

}  // namespace

extern constinit const Kernel kKernelAvx2SafePairs =
    MakeKernel<KernelAvx2SafePairs>({.name = "avx2-safe-pairs",
                                     .needs = kAvx2,
                                     .row_format = RowFormat::kUnsigned8,
                                     .serves_constant = Serves,
                                     .pack = kPanelRoutines<KernelAvx2SafePairs, ShufflesAvx2>,
                                     .pack_rows = PackRowsOf<KernelAvx2SafePairs>,
                                     .sum_rows = SumRowsOf<KernelAvx2SafePairs>});

}  // namespace intaglio
