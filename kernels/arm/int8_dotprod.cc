// SDOT, in the order that suits cores which issue out of order.
#include "intaglio/kernels/arm/bytes_neon.h"
#include "intaglio/kernels/arm/panel_dotprod.h"
#include "intaglio/kernels/arm/taps_neon.h"
#include "intaglio/kernels/depthwise_tile.h"
#include "intaglio/kernels/lines.h"
#include "intaglio/kernels/tile.h"

namespace intaglio {
namespace {

struct KernelDotprod : PanelDotprod {};

}  // namespace

extern const Kernel kKernelDotprod = {.name = "dotprod",
                                      .needs = kNeon | kDotprod,
                                      .panel = {4, 2, 4},
                                      .row_format = RowFormat::kSigned8,
                                      .max_rows = 8,
                                      .tile = Tile<KernelDotprod>,
                                      .tap_step = 4,
                                      .depthwise = Depthwise<KernelDotprod, TapsDotprod>,
                                      .lines = &kLines<KernelDotprod, BytesNeon>};

}  // namespace intaglio
