#include "intaglio/nn/ops/fit_sum.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace intaglio::nn {
namespace {

constexpr size_t kBytes = 256;

// How results compare with the definition's.
struct Verdict {
  bool low = false;   // one is below
  bool high = false;  // one is above

  bool equal() const { return !low && !high; }
};

// Compares linear functions with the definition.
class AllSums {
 public:
  AllSums(const LineRoutines& lines, const SumOfBytes& sum, const LineOutput& output)
      : lines_(lines), output_(output), definition_(sum) {
    definition_.linear = false;
    std::iota(bytes_.begin(), bytes_.end(), uint8_t{0});
  }

  // The verdict on the first line whose results are not all equal, from that on which was the first
  // the last time: functions that differ little tend to fail at the same places.
  Verdict Compare(const SumOfBytes& linear) {
    for (size_t i = 0; i < kBytes; ++i, ++first_) {
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

  // The sums of all bytes and `b`.
  Bytes Line(const SumOfBytes& sum, uint8_t b) const {
    Bytes line;
    lines_.add(sum, output_, {bytes_.data(), &b, true, line.data(), kBytes});
    return line;
  }

  const LineRoutines& lines_;
  const LineOutput& output_;
  SumOfBytes definition_;
  Bytes bytes_;
  uint8_t first_ = 0;  // the line that Compare begins with
};

}  // namespace

// The roundings of the definition move a few sums across a tie, by about 2^10 nudges at most. Where
// all that they move cross in one direction, a nudge of the linear function follows them: it is
// found by bisection, as more of it makes no result smaller. Where there is none, any line leads
// there.
SumOfBytes FitSum(const LineRoutines& lines, const SumOfBytes& sum, const LineOutput& output) {
  AllSums sums(lines, sum, output);
  for (const bool ties_away : {false, true}) {
    int low = -(1 << 12);
    int high = 1 << 12;
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
