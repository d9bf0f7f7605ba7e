// The natural logarithm in fixed point. The bits are those of TFLite's reference LOG_SOFTMAX.
#ifndef INTAGLIO_FIXEDPOINT_LOGARITHM_H_
#define INTAGLIO_FIXEDPOINT_LOGARITHM_H_

#include <algorithm>
#include <bit>
#include <cstdint>

#include "intaglio/fixedpoint/fixed_point.h"
#include "intaglio/fixedpoint/transcendental.h"

namespace intaglio {

// log(x) for x >= 1 with kTo integer bits, but for a reciprocal that is the caller's to compute,
// for many at once.
//
// x = 2^n r, where n + 1/4 or n - 1/4 (so that r is near 2^(-1/4)) is chosen by the smaller r; then
//   log(x) = (n -+ 1/4) log(2) + log(r 2^(1/4)),
// the latter as a rational function of r about 2^(-1/4).
template <int kTo>
class LogByReciprocal {
  static constexpr int kWide = kTo + 1;  // the first term alone may exceed the sum
  using F0 = FixedPoint<Scalar, 0>;
  using Wide = FixedPoint<Scalar, kWide>;

 public:
  LogByReciprocal() = default;

  template <int kFrom>
  explicit INTAGLIO_INLINE LogByReciprocal(FixedPoint<Scalar, kFrom> x) {
    const F0 fourth_root_of_half = F0::FromRaw(1805811301);
    const F0 root_of_half = F0::FromRaw(1518500250);
    const F0 alpha_n = F0::FromRaw(117049297);   // 11/240 2^(1/4)
    const F0 alpha_d = F0::FromRaw(127690142);   // 1/20 2^(1/4)
    const F0 alpha_i = F0::FromRaw(1057819769);  // 2 / 2^(1/4) - 2^(1/4)
    const F0 alpha_f = F0::FromRaw(638450708);   // 1/4 2^(1/4)
    constexpr int32_t kQuarter = int32_t{1} << (31 - kWide - 2);

    const F0 z = F0::FromRaw(x.raw());
    const int headroom_a = std::countl_zero(static_cast<uint32_t>(z.raw())) - 1;
    const F0 normal = F0::FromRaw(SaturatingShiftLeft<Scalar>(z.raw(), headroom_a));
    const int32_t r_a = SaturatingShiftLeft<Scalar>((normal * root_of_half).raw(), 1);
    const int32_t power_a =
        SaturatingShiftLeft<Scalar>(kFrom - headroom_a - 1, 31 - kWide) + kQuarter;
    const F0 z_b = z * root_of_half;
    const int headroom_b = std::countl_zero(static_cast<uint32_t>(z_b.raw())) - 1;
    const int32_t r_b = SaturatingShiftLeft<Scalar>(z.raw(), headroom_b);
    const int32_t power_b = SaturatingShiftLeft<Scalar>(kFrom - headroom_b, 31 - kWide) - kQuarter;

    const F0 r = F0::FromRaw(std::min(r_a, r_b));
    power_ = Wide::FromRaw(std::max(power_a, power_b));
    const int64_t sum = int64_t{r.raw()} + fourth_root_of_half.raw();
    const F0 p = F0::FromRaw(static_cast<int32_t>((sum + (sum >= 0 ? 1 : -1)) / 2));
    const F0 difference = r - fourth_root_of_half;
    const F0 q = difference + difference;
    const F0 square = q * q;
    numerator_ = Rescale<kWide>(q * r + q * square * alpha_n);
    denominator_less_1_ = p * (alpha_i + q + alpha_d * square) + alpha_f * q;
  }

  INTAGLIO_INLINE F0 denominator_less_1() const { return denominator_less_1_; }

  // Of OneOverOnePlusX(denominator_less_1()).
  INTAGLIO_INLINE FixedPoint<Scalar, kTo> Log(F0 reciprocal) const {
    const F0 log_2 = F0::FromRaw(1488522236);
    return Rescale<kTo>(power_ * log_2 + numerator_ * reciprocal);
  }

 private:
  Wide power_;
  Wide numerator_;
  F0 denominator_less_1_;
};

// log(x) for x >= 1, with kTo integer bits; within 3.1 units of the last place for 12 to 5 bits.
template <int kTo, int kFrom>
INTAGLIO_INLINE FixedPoint<Scalar, kTo> LogOfOneOrMore(FixedPoint<Scalar, kFrom> x) {
  const LogByReciprocal<kTo> log(x);
  return log.Log(OneOverOnePlusX(log.denominator_less_1()));
}

}  // namespace intaglio

#endif  // INTAGLIO_FIXEDPOINT_LOGARITHM_H_
