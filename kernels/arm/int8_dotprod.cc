// SDOT, in the order that suits cores which issue out of order.
#include "intaglio/kernels/arm/bytes_neon.h"
#include "intaglio/kernels/arm/packing_neon.h"
#include "intaglio/kernels/arm/pair_interleaved_tile_dotprod.h"
#include "intaglio/kernels/arm/panel_dotprod.h"
#include "intaglio/kernels/arm/taps_neon.h"
#include "intaglio/kernels/elementwise/byte_elementwise.h"
#include "intaglio/kernels/make_kernel.h"

namespace intaglio {
namespace {

struct KernelDotprod : PanelDotprod {};

// All rows, whole tiles by turns.
template <class Finish>
bool RunByTurns(const TileArgs& args) {
  const auto* row = static_cast<const int8_t*>(args.rows);
  auto* dst = static_cast<char*>(args.dst);
  int first = 0;
  for (; first + 8 <= args.row_count; first += 8) {
    TileByTurns<Finish>(args, row, dst);
    row += 8 * args.row_stride;
    dst += 8 * args.dst_stride;
  }
  if (first < args.row_count) {
    ComputeTile<KernelDotprod, 2, 8>(args, first, args.row_count - first);
  }
  return true;
}

template <bool kSigned, bool kClamps>
bool ComputeByTurns(const TileArgs& args) {
  using V = KernelDotprod;
  const PanelForm& p = *args.params;
  if (p.form == ScalingForm::kMultiplyAdd) {
    return RunByTurns<FinishFitted<kSigned, kClamps>>(args);
  }
  if (!p.fits_int16) return false;
  switch (p.form) {
    case ScalingForm::kDoubleRoundingBounded:
      return RunByTurns<FinishScaled<BoundedScaling<V>, kSigned, kClamps>>(args);
    case ScalingForm::kSingleRoundingBounded:
      return RunByTurns<FinishScaled<SingleBounded<V>, kSigned, kClamps>>(args);
    case ScalingForm::kFloatHalfEvenBounded:
      return RunByTurns<FinishScaled<HalfEvenLow<V>, kSigned, kClamps>>(args);
    default:
      return false;
  }
}

template <bool kSigned>
bool ComputeByTurns(const TileArgs& args) {
  const bool clamps = args.epilogue.clamp_max - args.epilogue.clamp_min < 255;
  return clamps ? ComputeByTurns<kSigned, true>(args) : ComputeByTurns<kSigned, false>(args);
}

void TileDotprod(const TileArgs& args) {
  if (args.vectors == 2 && args.groups >= 4 && args.groups % 2 == 0 && args.row_sums == nullptr &&
      args.row_terms == nullptr) {
    const Type output = args.epilogue.output;
    if (output == Type::kInt8 && ComputeByTurns<true>(args)) return;
    if (output == Type::kUInt8 && ComputeByTurns<false>(args)) return;
  }
  Tile<KernelDotprod>(args);
}

}  // namespace

extern constinit const Kernel kKernelDotprod =
    MakeKernel<KernelDotprod, TapsDotprod>({.name = "dotprod",
                                            .needs = kNeon | kDotprod,
                                            .row_format = RowFormat::kSigned8,
                                            .tile = TileDotprod,
                                            .pack = kPanelRoutinesNeon<KernelDotprod>,
                                            .lines = &kLines<KernelDotprod, BytesNeon>});

}  // namespace intaglio
