#include "intaglio/fixedpoint/quantize_multiplier.h"

#include <bit>
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
  // A normal number has 53 bits. The upper 31 are kept, rounded to nearest. A number that is not
  // normal is far below 2^-32.
  constexpr int kBits = 52;
  constexpr int kDropped = kBits + 1 - 31;
  const int64_t bits = std::bit_cast<int64_t>(real) & INT64_MAX;  // -0 gives the bits of 0
  int exponent = static_cast<int>(bits >> kBits) - 1022;
  int64_t mantissa = (bits & ((int64_t{1} << kBits) - 1)) | (int64_t{1} << kBits);
  mantissa = (mantissa + (int64_t{1} << (kDropped - 1))) >> kDropped;
  if (mantissa == int64_t{1} << 31) {
    mantissa /= 2;
    ++exponent;
  }
  if (exponent < -31) return QuantizedMultiplier{};
  if (exponent > 30) return QuantizedMultiplier{INT32_MAX, 30};
  return QuantizedMultiplier{static_cast<int32_t>(mantissa), exponent};
}

}  // namespace intaglio
