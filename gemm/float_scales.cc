#include "intaglio/gemm/float_scales.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "intaglio/gemm/lanes.h"

namespace intaglio {

ScalingForm FillScales(const StandardPipeline& pipeline, const PanelFormat& format,
                       const PanelExtent& extent, int64_t bound, PanelParams& params) {
  float repeated[kMaxPanelWidth];
  const float* scales = OfChannels(pipeline.per_channel, pipeline.scale, extent, repeated);
  ToLanes(format, extent, scales, params.scale);
  // Of numbers that are not negative the bits are in the same order.
  int32_t highest_bits = 0;
  for (int i = 0; i < extent.channels; ++i) {
    highest_bits = std::max(highest_bits, std::bit_cast<int32_t>(scales[i]));
  }
  const auto highest = std::bit_cast<float>(highest_bits);
  // Two roundings to float32 lift a product by less than one part in 2^22.
  const double product = static_cast<double>(bound) * static_cast<double>(highest);
  params.fits_int16 = product < INT16_MAX - 1;
  return product < 2147483648.0 * (1 - std::ldexp(1.0, -22)) ? ScalingForm::kFloatHalfEvenBounded
                                                             : ScalingForm::kFloatHalfEven;
}

}  // namespace intaglio
