// Plain NEON, in the order that suits cores which issue out of order, and those of 32 bits.
#include "intaglio/kernels/arm/bytes_neon.h"
#include "intaglio/kernels/arm/packing_neon.h"
#include "intaglio/kernels/arm/panel_dot16_neon.h"
#include "intaglio/kernels/arm/taps_neon.h"
#include "intaglio/kernels/arm/winograd_neon.h"
#include "intaglio/kernels/elementwise/byte_elementwise.h"
#include "intaglio/kernels/make_kernel.h"

namespace intaglio {
namespace {

struct KernelNeon : PanelDot16Neon {};

// By instructions it takes less than half of the time of tiles, but no CPU has measured it.
constexpr WinogradRoutines kWinograd =
    MakeWinograd<PairsNeon, WordsNeon>({}, {.least_channels = kNeverByDefault});

}  // namespace

extern constinit const Kernel kKernelNeon =
    MakeKernel<KernelNeon, TapsNeon>({.name = "neon",
                                      .needs = kNeon,
                                      .row_format = RowFormat::kSigned8,
                                      .pack = kPanelRoutinesNeon<KernelNeon>,
                                      .lines = &kLines<KernelNeon, BytesNeon>,
                                      .winograd = &kWinograd});

}  // namespace intaglio
