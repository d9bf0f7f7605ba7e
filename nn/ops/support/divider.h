// Division by the same number many times.
#ifndef INTAGLIO_NN_OPS_SUPPORT_DIVIDER_H_
#define INTAGLIO_NN_OPS_SUPPORT_DIVIDER_H_

#include <bit>
#include <cstdint>

namespace intaglio::nn {

// floor(x / d) for 0 <= x < 2^31 and 1 <= d < 2^31 by one multiplication: with 2^(l-1) < d <= 2^l,
//   m = ceil(2^(31+l) / d) < 2^32,  floor(x / d) = floor(x m / 2^(31+l))
// (Granlund and Montgomery, "Division by invariant integers using multiplication", 1994,
// theorem 4.2).
class Divider {
 public:
  explicit Divider(int32_t d)
      : shift_(31 + static_cast<int>(std::bit_width(static_cast<uint32_t>(d) - 1))),
        multiplier_(((uint64_t{1} << shift_) + static_cast<uint64_t>(d) - 1) /
                    static_cast<uint64_t>(d)),
        half_(d / 2) {}

  int32_t operator()(int32_t x) const {
    return static_cast<int32_t>((static_cast<uint64_t>(x) * multiplier_) >> shift_);
  }

  // x / d rounded to nearest, ties away from zero, for |x| + d / 2 < 2^31.
  int32_t Round(int32_t x) const { return x < 0 ? -(*this)(half_ - x) : (*this)(x + half_); }

 private:
  int shift_;
  uint64_t multiplier_;
  int32_t half_;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_SUPPORT_DIVIDER_H_
