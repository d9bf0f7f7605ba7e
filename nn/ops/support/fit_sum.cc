#include "intaglio/nn/ops/support/fit_sum.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace intaglio::nn {
namespace {

constexpr int kBytes = 256;
constexpr int kMostNudge = 1 << 12;

// How results compare with the definition's.
struct Verdict {
  bool low = false;   // one is below
  bool high = false;  // one is above

  bool equal() const { return !low && !high; }
};

// A linear function before it is rounded to a whole number: factor_a a + factor_b b + addend, in
// units of 2^-bits. The sum is right up to a whole number, which may be missing.
struct Unrounded {
  explicit Unrounded(const SumOfBytes& linear)
      : bits(linear.shift + SumOfBytes::kLowBits),
        factor_a(Factor(linear, 0)),
        factor_b(Factor(linear, 16)),
        addend(static_cast<uint32_t>(linear.addend)) {}

  // The factor modulo 2^32.
  static uint32_t Factor(const SumOfBytes& linear, int half) {
    const auto high = static_cast<int16_t>(static_cast<uint32_t>(linear.high) >> half);
    const auto low = static_cast<int16_t>(static_cast<uint32_t>(linear.low) >> half);
    return static_cast<uint32_t>(high * (1 << SumOfBytes::kLowBits) + low);
  }

  int bits;  // at most 30
  uint32_t factor_a;
  uint32_t factor_b;
  uint32_t addend;
};

// How far apart the definition and any linear function can be before they round to the result, in
// units of 2^-bits. The definition first rounds each term twice, which moves a term by at most 1,
// and so the sum by at most twice the scale. Then it rounds the sum to 2^-right_shift. A linear
// function differs by its rounded factors and its nudge.
uint32_t MostApart(const SumOfBytes& sum, int bits) {
  const double scale = std::ldexp(static_cast<double>(sum.scale.mantissa), sum.scale.exponent - 31);
  const double defined = 2 * scale + std::ldexp(0.5, -sum.scale.right_shift());
  return static_cast<uint32_t>(std::ldexp(defined, bits)) + kBytes + kMostNudge + 4;
}

struct Pairs {
  std::vector<uint8_t> a;
  std::vector<uint8_t> b;
};

// Finds the pairs of operands whose sums lie near a tie. A tie is where the function before
// rounding is a whole number. Near a tie, the definition and a linear function may round to
// different sides; all other pairs have the same result by both. For most sums these are a few of
// the 2^16 pairs. The operands found are those that tensors have.
class TieFinder {
 public:
  // `flip` is LineOutput::flip. It turns operands of the function into those of tensors.
  TieFinder(const Unrounded& function, uint32_t apart, uint8_t flip)
      : function_(function), apart_(apart), flip_(flip), mask_((uint32_t{1} << function.bits) - 1) {
    heads_.fill(kNone);
    for (int b = 0; b < kBytes; ++b) {
      const auto place = static_cast<size_t>(b);
      fractions_[place] = function_.factor_b * static_cast<uint32_t>(b) & mask_;
      next_[place] = std::exchange(heads_[BucketOf(fractions_[place])], b);
    }
  }

  Pairs Find() const {
    Pairs pairs;
    const uint32_t buckets = (2 * apart_ >> (function_.bits - 8)) + 2;
    for (int a = 0; a < kBytes; ++a) {
      const uint32_t of_a = function_.factor_a * static_cast<uint32_t>(a) + function_.addend;
      const uint32_t start = (0 - of_a - apart_) & mask_;  // the least fraction of b near a tie
      for (uint32_t i = 0; i < std::min<uint32_t>(buckets, kBytes); ++i) {
        AddBucket((BucketOf(start) + i) % kBytes, start, a, pairs);
      }
    }
    return pairs;
  }

 private:
  static constexpr int kNone = -1;

  size_t BucketOf(uint32_t fraction) const { return fraction >> (function_.bits - 8); }

  void AddBucket(size_t bucket, uint32_t start, int a, Pairs& pairs) const {
    for (int b = heads_[bucket]; b != kNone; b = next_[static_cast<size_t>(b)]) {
      if (((fractions_[static_cast<size_t>(b)] - start) & mask_) > 2 * apart_) continue;
      pairs.a.push_back(static_cast<uint8_t>(a ^ flip_));
      pairs.b.push_back(static_cast<uint8_t>(b ^ flip_));
    }
  }

  Unrounded function_;
  uint32_t apart_;
  uint8_t flip_;
  uint32_t mask_;
  std::array<uint32_t, kBytes> fractions_;  // of factor_b b, for each b
  std::array<int, kBytes> heads_;           // lists of b, by the high bits of its fraction
  std::array<int, kBytes> next_;
};

// Compares linear functions with the definition.
class NearTies {
 public:
  NearTies(const LineRoutines& lines, const SumOfBytes& sum, const LineOutput& output,
           const Pairs& pairs)
      : lines_(lines), output_(output), definition_(sum), pairs_(pairs) {
    definition_.linear = false;
  }

  // Returns the verdict on the first line of pairs whose results are not all equal. The search
  // starts at the line that failed last time: functions that differ little tend to fail at the same
  // places.
  Verdict Compare(const SumOfBytes& linear) {
    const size_t lines = (pairs_.a.size() + kBytes - 1) / kBytes;
    for (size_t i = 0; i < lines; ++i, first_ = (first_ + 1) % lines) {
      const Verdict verdict = CompareLine(Line(linear, first_), Line(definition_, first_));
      if (!verdict.equal()) return verdict;
    }
    return {};
  }

 private:
  using Bytes = std::array<uint8_t, kBytes>;

  // Bytes alone, of which the compiler makes vectors.
  Verdict CompareLine(const Bytes& line, const Bytes& right) const {
    const uint8_t flip = output_.flip();
    uint8_t below = 0;
    uint8_t above = 0;
    for (size_t a = 0; a < kBytes; ++a) {
      const auto got = static_cast<uint8_t>(line[a] ^ flip);
      const auto want = static_cast<uint8_t>(right[a] ^ flip);
      const uint8_t larger = std::max(got, want);
      below = static_cast<uint8_t>(below | (larger ^ got));
      above = static_cast<uint8_t>(above | (larger ^ want));
    }
    return {below != 0, above != 0};
  }

  // The results of the pairs that begin at `line` * kBytes.
  Bytes Line(const SumOfBytes& sum, size_t line) const {
    Bytes results{};
    const size_t first = line * kBytes;
    const size_t count = std::min<size_t>(kBytes, pairs_.a.size() - first);
    lines_.add(sum, output_,
               {pairs_.a.data() + first, pairs_.b.data() + first, false, results.data(),
                static_cast<ptrdiff_t>(count)});
    return results;
  }

  const LineRoutines& lines_;
  const LineOutput& output_;
  SumOfBytes definition_;
  const Pairs& pairs_;
  size_t first_ = 0;  // the line at which Compare starts
};

}  // namespace

// The roundings of the definition move a few sums across a tie, by about 2^10 nudges at most. Where
// all that they move cross in one direction, a nudge of the linear function follows them: it is
// found by bisection, as more of it makes no result smaller. Where there is none, any line leads
// there.
SumOfBytes FitSum(const LineRoutines& lines, const SumOfBytes& sum, const LineOutput& output) {
  const SumOfBytes nearest = WithLinear(sum, 0, false);
  if (!nearest.linear) return sum;
  const Unrounded unrounded(nearest);
  const Pairs pairs = TieFinder(unrounded, MostApart(sum, unrounded.bits), output.flip()).Find();
  NearTies sums(lines, sum, output, pairs);
  for (const bool ties_away : {false, true}) {
    int low = -kMostNudge;
    int high = kMostNudge;
    for (int nudge = 0; high - low > 1; nudge = low + (high - low) / 2) {
      const SumOfBytes linear = WithLinear(sum, nudge, ties_away);
      if (!linear.linear) return sum;
      const Verdict verdict = sums.Compare(linear);
      if (verdict.equal()) return linear;
      if (verdict.low && verdict.high) break;
      (verdict.low ? low : high) = nudge;
    }
  }
  return sum;
}

}  // namespace intaglio::nn
