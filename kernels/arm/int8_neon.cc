// Plain NEON, in the order that suits cores which issue out of order, and those of 32 bits.
#include "intaglio/kernels/arm/bytes_neon.h"
#include "intaglio/kernels/arm/packing_neon.h"
#include "intaglio/kernels/arm/panel_dot16_neon.h"
#include "intaglio/kernels/arm/taps_neon.h"
#include "intaglio/kernels/lines.h"
#include "intaglio/kernels/make_kernel.h"

namespace intaglio {
namespace {

struct KernelNeon : PanelDot16Neon {};

}  // namespace

#if defined(__aarch64__)
extern const Kernel kKernelNeonA53;
constexpr const Kernel* kInOrderForm = &kKernelNeonA53;
#else
constexpr const Kernel* kInOrderForm = nullptr;
#endif

extern constinit const Kernel kKernelNeon =
    MakeKernel<KernelNeon, TapsNeon>({.name = "neon",
                                      .needs = kNeon,
                                      .row_format = RowFormat::kSigned8,
                                      .in_order_form = kInOrderForm,
                                      .pack = kPanelRoutinesNeon<KernelNeon>,
                                      .lines = &kLines<KernelNeon, BytesNeon>});

}  // namespace intaglio
