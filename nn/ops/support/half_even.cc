#include "intaglio/nn/ops/support/half_even.h"

#include <algorithm>
#include <cmath>

#include "intaglio/nn/ops/support/wide_vectors.h"

namespace intaglio::nn {
namespace {

// Numbers below 2^22, added to this one, are rounded to integers, ties to even.
constexpr float kMagic = 12582912.0f;  // 1.5 * 2^23

// The limits are integers, so clamping may come before rounding.
template <int kBytes>
[[gnu::always_inline]] inline void QuantizeBytes(const HalfEvenQuantizer& q, const float* x,
                                                 ptrdiff_t count, uint8_t* to) {
  using V = wide::Vectors<kBytes>;
  const typename V::Reals zero = {};
  const typename V::Reals low = zero + static_cast<float>(q.clamp.min - q.zero_point);
  const typename V::Reals high = zero + static_cast<float>(q.clamp.max - q.zero_point);
  const float scale = q.scale;
  const int32_t zero_point = q.zero_point;
  wide::ToBytes<kBytes>(
      count,
      to, [&](ptrdiff_t i, ptrdiff_t n, typename V::Words & words) __attribute__((always_inline)) {
        typename V::Reals v;
        wide::Load(x + i, n, v);
        v /= scale;
        v = v > low ? v : low;
        v = v < high ? v : high;
        v = (v + kMagic) - kMagic;
        words = __builtin_convertvector(v, typename V::Words) + zero_point;
      });
}

void QuantizePlain(const HalfEvenQuantizer& q, const float* x, ptrdiff_t count, uint8_t* to) {
  QuantizeBytes<16>(q, x, count, to);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void QuantizeAvx2(const HalfEvenQuantizer& q, const float* x,
                                          ptrdiff_t count, uint8_t* to) {
  QuantizeBytes<32>(q, x, count, to);
}
[[gnu::target("avx512f,avx512bw")]] void QuantizeAvx512(const HalfEvenQuantizer& q, const float* x,
                                                        ptrdiff_t count, uint8_t* to) {
  QuantizeBytes<64>(q, x, count, to);
}
#endif

bool IsHalfEven(const LayerView& layer) {
  return layer.numerics().scaling == Scaling::kFloatHalfEven;
}

}  // namespace

QuantizeHalfEvenBytes QuantizeHalfEvenBytesOf(std::string_view kernel) {
#if defined(__x86_64__)
  if (kernel.starts_with("avx512") || kernel.starts_with("amx")) return QuantizeAvx512;
  if (kernel.starts_with("avx")) return QuantizeAvx2;
#endif
  (void)kernel;
  return QuantizePlain;
}

int32_t QuantizeHalfEven(const HalfEvenQuantizer& q, float x) {
  const float low = static_cast<float>(q.clamp.min - q.zero_point);
  const float high = static_cast<float>(q.clamp.max - q.zero_point);
  float v = x / q.scale;
  v = v > low ? v : low;
  v = v < high ? v : high;
  return static_cast<int32_t>(std::nearbyint(v)) + q.zero_point;
}

const char* NeedsHalfEven(const LayerView& layer, const LayerOptions&) {
  return IsHalfEven(layer) ? nullptr : "the layer does not round half to even";
}

const char* RefusesHalfEven(const LayerView& layer, const LayerOptions&) {
  return IsHalfEven(layer) ? "the layer rounds half to even" : nullptr;
}

Result<HalfEvenQuantizer> OutputQuantizer(const LayerView& layer) {
  const Result<Affine> to = AffineOf(layer, layer.output());
  if (!to.ok()) return to.status();
  if (!(to->scale > 0)) return layer.Invalid("the output's scale is 0");
  const Numerics numerics = layer.numerics();
  Range clamp = RangeOf(layer.output().type);
  clamp.min = std::max(clamp.min, numerics.clamp_min);
  clamp.max = std::min(clamp.max, numerics.clamp_max);
  if (clamp.min > clamp.max) return layer.Invalid("the output has no number within its bounds");
  return HalfEvenQuantizer{to->scale, to->zero_point, clamp};
}

}  // namespace intaglio::nn
