// SDOT, in the order that suits cores which issue out of order.
#include "intaglio/kernels/arm/panel_dotprod.h"
#include "intaglio/kernels/depthwise_tile.h"
#include "intaglio/kernels/tile.h"

namespace intaglio {
namespace {

struct KernelDotprod : PanelDotprod {};

}  // namespace

extern const Kernel kKernelDotprod = {
    "dotprod",           kNeon | kDotprod,        {4, 2, 4}, RowFormat::kSigned8, 8,
    Tile<KernelDotprod>, Depthwise<KernelDotprod>};

}  // namespace intaglio
