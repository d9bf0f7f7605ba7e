#include "intaglio/nn/ops/support/dynamic_quantizer.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "intaglio/nn/ops/support/parallel.h"

namespace intaglio::nn {
namespace {

constexpr int kMostParts = 64;

struct Extremes {
  float least = 0;
  float greatest = 0;
};

Extremes ExtremesOf(Context& context, int parts, const FloatLoops& floats, const float* x,
                    ptrdiff_t count) {
  std::array<Extremes, kMostParts> of_parts;
  ForNumberedParts(context, parts, count, [&](int part, ptrdiff_t begin, ptrdiff_t end) {
    Extremes& e = of_parts[static_cast<size_t>(part)];
    floats.range(x + begin, end - begin, &e.least, &e.greatest);
  });
  Extremes all;
  for (int i = 0; i < parts; ++i) {
    all.least = std::min(all.least, of_parts[static_cast<size_t>(i)].least);
    all.greatest = std::max(all.greatest, of_parts[static_cast<size_t>(i)].greatest);
  }
  return all;
}

HalfEvenQuantizer QuantizerOf(const Extremes& e) {
  const float scale = e.least == e.greatest ? 1.0f : (e.greatest - e.least) / 255.0f;
  const float zero_point = std::fmin(std::fmax(0.0f - e.least / scale, 0.0f), 255.0f);
  return {scale, static_cast<int32_t>(std::nearbyint(zero_point)), RangeOf(Type::kUInt8)};
}

}  // namespace

DynamicQuantizer::DynamicQuantizer(std::string_view kernel) : floats_(FloatLoopsOf(kernel)) {}

HalfEvenQuantizer DynamicQuantizer::Quantize(Context& context, const float* x, ptrdiff_t count,
                                             uint8_t* to) const {
  const int parts = std::min(kMostParts, PartsOf(context, count, kLeastBytesOfThread));
  const HalfEvenQuantizer q = QuantizerOf(ExtremesOf(context, parts, floats_, x, count));
  ForNumberedParts(context, parts, count, [&](int, ptrdiff_t begin, ptrdiff_t end) {
    floats_.quantize_half_even(q.of_bytes(), x + begin, end - begin, to + begin);
  });
  return q;
}

}  // namespace intaglio::nn
