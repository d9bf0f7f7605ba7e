// A signed integer of 128 bits for oracles: the compiler's own, or where it has none (32-bit
// targets) one with the same operators.
#ifndef INTAGLIO_TEST_FIXEDPOINT_WIDE_H_
#define INTAGLIO_TEST_FIXEDPOINT_WIDE_H_

#include <bit>
#include <compare>
#include <concepts>
#include <cstdint>

namespace intaglio::test {

#if defined(__SIZEOF_INT128__)
__extension__ using Wide = __int128;
#else
class Wide {
 public:
  template <std::integral T>
  constexpr Wide(T x) : low_(static_cast<uint64_t>(x)), high_(x < 0 ? ~uint64_t{0} : 0) {}

  template <std::integral T>
  explicit operator T() const {
    return static_cast<T>(low_);
  }

  friend bool operator==(Wide a, Wide b) { return a.low_ == b.low_ && a.high_ == b.high_; }
  friend std::strong_ordering operator<=>(Wide a, Wide b) {
    if (a.high_ != b.high_) return static_cast<int64_t>(a.high_) <=> static_cast<int64_t>(b.high_);
    return a.low_ <=> b.low_;
  }

  Wide operator-() const { return {~low_ + 1, ~high_ + (low_ == 0 ? 1 : 0)}; }
  friend Wide operator+(Wide a, Wide b) {
    const uint64_t low = a.low_ + b.low_;
    return {low, a.high_ + b.high_ + (low < a.low_ ? 1 : 0)};
  }
  friend Wide operator-(Wide a, Wide b) { return a + -b; }
  friend Wide operator*(Wide a, Wide b) {
    const uint64_t a0 = a.low_ & kHalf, a1 = a.low_ >> 32, b0 = b.low_ & kHalf, b1 = b.low_ >> 32;
    const uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
    const uint64_t cross = a0 * b1 + (middle & kHalf);
    return {a.low_ * b.low_,
            a1 * b1 + (middle >> 32) + (cross >> 32) + a.low_ * b.high_ + a.high_ * b.low_};
  }
  friend Wide operator<<(Wide a, int n) {
    if (n == 0) return a;
    if (n >= 64) return {0, a.low_ << (n - 64)};
    return {a.low_ << n, a.high_ << n | a.low_ >> (64 - n)};
  }

  // Towards zero.
  friend Wide operator/(Wide a, Wide b) {
    const Wide q = Quotient(a < 0 ? -a : a, b < 0 ? -b : b);
    return (a < 0) != (b < 0) ? -q : q;
  }
  friend Wide operator%(Wide a, Wide b) { return a - a / b * b; }

 private:
  static constexpr uint64_t kHalf = 0xffffffff;

  constexpr Wide(uint64_t low, uint64_t high) : low_(low), high_(high) {}

  Wide ShiftedRight(int n) const {  // not negative
    if (n == 0) return *this;
    if (n >= 64) return {high_ >> (n - 64), 0};
    return {low_ >> n | high_ << (64 - n), high_ >> n};
  }

  static Wide Quotient(Wide a, Wide b) {  // neither is negative
    if (std::popcount(b.low_) + std::popcount(b.high_) == 1) {
      return a.ShiftedRight(b.low_ != 0 ? std::countr_zero(b.low_)
                                        : 64 + std::countr_zero(b.high_));
    }
    if (a.high_ == 0 && b.high_ == 0) return {a.low_ / b.low_, 0};
    Wide quotient = 0;
    Wide rest = 0;
    for (int bit = 127; bit >= 0; --bit) {
      rest = (rest << 1) + static_cast<int>(a.ShiftedRight(bit).low_ & 1);
      quotient = quotient << 1;
      if (rest < b) continue;
      rest = rest - b;
      quotient = quotient + 1;
    }
    return quotient;
  }

  uint64_t low_;
  uint64_t high_;
};
#endif

}  // namespace intaglio::test

#endif  // INTAGLIO_TEST_FIXEDPOINT_WIDE_H_
