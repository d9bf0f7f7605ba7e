#include "intaglio/nn/ops/fit_sum.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace intaglio::nn {
namespace {

constexpr size_t kBytes = 256;

// The definition's results, and how those of a linear function compare with them.
class AllSums {
 public:
  AllSums(const LineRoutines& lines, SumOfBytes sum, const LineOutput& output)
      : lines_(lines), output_(output), right_(kBytes * kBytes) {
    sum.linear = false;
    std::iota(bytes_.begin(), bytes_.end(), uint8_t{0});
    for (size_t b = 0; b < kBytes; ++b) AddLine(sum, b, right_.data() + b * kBytes);
  }

  struct Verdict {
    bool low = false;   // a result is below the definition's
    bool high = false;  // a result is above it
  };
  Verdict Compare(const SumOfBytes& linear) const {
    Verdict verdict;
    for (size_t b = 0; b < kBytes && !(verdict.low && verdict.high); ++b) {
      std::array<uint8_t, kBytes> line{};
      AddLine(linear, b, line.data());
      CompareLine(line.data(), right_.data() + b * kBytes, verdict);
    }
    return verdict;
  }

 private:
  // Bytes alone, of which the compiler makes vectors.
  void CompareLine(const uint8_t* line, const uint8_t* right, Verdict& verdict) const {
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
    verdict.low |= below != 0;
    verdict.high |= above != 0;
  }

  void AddLine(const SumOfBytes& sum, size_t b, uint8_t* out) const {
    lines_.add(sum, output_, {bytes_.data(), bytes_.data() + b, true, out, kBytes});
  }

  const LineRoutines& lines_;
  const LineOutput& output_;
  std::array<uint8_t, kBytes> bytes_;
  std::vector<uint8_t> right_;
};

}  // namespace

// The roundings of the definition move a few sums across a tie, by about 2^10 nudges at most. Where
// all that they move cross in one direction, a nudge of the linear function follows them: it is
// found by bisection, as more of it makes no result smaller.
SumOfBytes FitSum(const LineRoutines& lines, const SumOfBytes& sum, const LineOutput& output) {
  const AllSums sums(lines, sum, output);
  for (const bool ties_away : {false, true}) {
    int low = -(1 << 12);
    int high = 1 << 12;
    for (int nudge = 0; high - low > 1; nudge = low + (high - low) / 2) {
      const SumOfBytes linear = WithLinear(sum, nudge, ties_away);
      if (!linear.linear) return sum;
      const AllSums::Verdict verdict = sums.Compare(linear);
      if (!verdict.low && !verdict.high) return linear;
      if (verdict.low && verdict.high) break;
      (verdict.low ? low : high) = nudge;
    }
  }
  return sum;
}

}  // namespace intaglio::nn
