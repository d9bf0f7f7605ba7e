// The interval of real numbers that a quantized tensor has to cover.
#ifndef INTAGLIO_NN_QUANTIZE_RANGE_H_
#define INTAGLIO_NN_QUANTIZE_RANGE_H_

#include <algorithm>

namespace intaglio::nn::quantize {

// In the unit of the tensor's real numbers; both ends are finite and min <= max.
struct RealRange {
  float min = 0;
  float max = 0;

  bool operator==(const RealRange&) const = default;
};

inline RealRange Union(const RealRange& a, const RealRange& b) {
  return {std::min(a.min, b.min), std::max(a.max, b.max)};
}

// Zero must be exactly representable (Jacob et al., 2018, section 2.1), so every quantized range
// holds it.
inline RealRange WithZero(const RealRange& range) { return Union(range, {0, 0}); }

}  // namespace intaglio::nn::quantize

#endif  // INTAGLIO_NN_QUANTIZE_RANGE_H_
