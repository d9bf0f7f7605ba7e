// Plain NEON, in the order that suits cores which issue out of order, and those of 32 bits.
#include "intaglio/kernels/arm/panel_dot16_neon.h"
#include "intaglio/kernels/depthwise_tile.h"
#include "intaglio/kernels/tile.h"

namespace intaglio {
namespace {

struct KernelNeon : PanelDot16Neon {};

}  // namespace

extern const Kernel kKernelNeon = {"neon",
                                   kNeon,
                                   {4, 2, 16},
                                   RowFormat::kSigned8,
                                   KernelNeon::kMaxRows,
                                   Tile<KernelNeon>,
                                   Depthwise<KernelNeon>};

}  // namespace intaglio
