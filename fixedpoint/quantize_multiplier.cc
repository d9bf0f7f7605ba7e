#include "intaglio/fixedpoint/quantize_multiplier.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

namespace intaglio {
namespace {

Status BadMultiplier(double real, const char* why) {
  char text[128];
  std::snprintf(text, sizeof text, "requantization multiplier %g %s", real, why);
  return InvalidArgument(text);
}

}  // namespace

Result<QuantizedMultiplier> QuantizeMultiplier(double real) {
  if (!std::isfinite(real)) return BadMultiplier(real, "is not finite");
  if (real < 0) return BadMultiplier(real, "is negative");
  int exponent = 0;
  const double fraction = std::frexp(real, &exponent);
  int64_t mantissa = std::llround(std::ldexp(fraction, 31));
  if (mantissa == int64_t{1} << 31) {
    mantissa /= 2;
    ++exponent;
  }
  if (mantissa == 0 || exponent < -31) return QuantizedMultiplier{};
  if (exponent > 30) return QuantizedMultiplier{INT32_MAX, 30};
  return QuantizedMultiplier{static_cast<int32_t>(mantissa), exponent};
}

}  // namespace intaglio
