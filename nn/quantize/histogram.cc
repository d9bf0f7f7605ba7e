#include "intaglio/nn/quantize/histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace intaglio::nn::quantize {
namespace {

constexpr int kFractions = 128;

int64_t BinOf(double x, int exponent) {
  return static_cast<int64_t>(std::floor(std::ldexp(x, -exponent)));
}

// The least exponent for which a range that holds 0 lies in at most kBins bins.
int ExponentFor(const RealRange& range) {
  int exponent = std::ilogb(std::max(-range.min, range.max)) - 12;
  while (BinOf(range.max, exponent) - BinOf(range.min, exponent) + 1 > Histogram::kBins) ++exponent;
  return exponent;
}

RealRange RangeOfValues(std::span<const float> values) {
  RealRange range;
  for (const float x : values) range = {std::min(range.min, x), std::max(range.max, x)};
  return range;
}

// Sums of 1, x and x^2 over the numbers of the bins before each, which are taken to lie in the
// middle of their bin.
struct Moments {
  explicit Moments(const Histogram& h) : first(h.first()), last(h.last()), width(h.width()) {
    for (int i = first; i < last; ++i) {
      const auto n = static_cast<double>(h.count(i));
      const double x = (i + 0.5) * width;
      counts.push_back(counts.back() + n);
      sums.push_back(sums.back() + n * x);
      squares.push_back(squares.back() + n * x * x);
    }
  }
  size_t IndexOf(double x) const {
    return static_cast<size_t>(std::clamp(std::floor(x / width), double(first), double(last)) -
                               first);
  }
  // The sum of (x - bound)^2 over the numbers of bins [from, to).
  double Error(size_t from, size_t to, double bound) const {
    return (squares[to] - squares[from]) - 2 * bound * (sums[to] - sums[from]) +
           bound * bound * (counts[to] - counts[from]);
  }

  int first;
  int last;
  double width;
  std::vector<double> counts = {0};
  std::vector<double> sums = {0};
  std::vector<double> squares = {0};
};

double SquaredError(const Moments& m, double min, double max, int bits) {
  const size_t low = m.IndexOf(min);
  const size_t high = std::max(low, m.IndexOf(max));
  const double step = (max - min) / (std::ldexp(1, bits) - 1);
  return m.Error(0, low, min) + m.Error(high, m.counts.size() - 1, max) +
         (m.counts[high] - m.counts[low]) * step * step / 12;
}

float Part(float end, int fraction) { return end * static_cast<float>(fraction) / kFractions; }

}  // namespace

double Histogram::width() const {
  return exponent_ == kNoExponent ? 0 : std::ldexp(1.0, exponent_);
}

int Histogram::first() const {
  return exponent_ == kNoExponent ? 0 : static_cast<int>(BinOf(range_.min, exponent_));
}

int Histogram::last() const {
  return exponent_ == kNoExponent ? 0 : static_cast<int>(BinOf(range_.max, exponent_)) + 1;
}

void Histogram::Coarsen() {
  for (int i = 0; i < kBins / 2; ++i) At(i) = At(2 * i) + At(2 * i + 1);
  for (int i = -1; i >= -kBins / 2; --i) At(i) = At(2 * i) + At(2 * i + 1);
  std::fill_n(&At(kBins / 2), kBins / 2, 0);
  std::fill_n(&At(-kBins), kBins / 2, 0);
  ++exponent_;
}

void Histogram::Grow(const RealRange& range) {
  const RealRange both = Union(WithZero(range), WithZero(range_));
  if (both == RealRange{}) return;
  const int exponent = ExponentFor(both);
  const bool empty = exponent_ == kNoExponent;
  // Beyond this many steps all numbers are in bins -1 and 0.
  for (int steps = 0; !empty && exponent_ < exponent && steps < 16; ++steps) Coarsen();
  exponent_ = exponent;
}

void Histogram::Add(std::span<const float> values) {
  if (values.empty()) return;
  const RealRange range = RangeOfValues(values);
  Grow(range);
  total_ += values.size();
  const double inverse = exponent_ == kNoExponent ? 0 : std::ldexp(1.0, -exponent_);
  for (const float x : values) {
    if (x == 0) {
      ++zeros_;
    } else {
      ++At(static_cast<int64_t>(std::floor(double{x} * inverse)));
    }
  }
  range_ = Union(range_, range);
}

void Histogram::Merge(const Histogram& other) {
  Histogram copy = other;
  Grow(copy.range_);
  copy.Grow(range_);
  for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += copy.counts_[i];
  total_ += copy.total_;
  zeros_ += copy.zeros_;
  range_ = Union(range_, copy.range_);
}

RealRange Histogram::Percentile(double percent) const {
  const double tail = std::floor((1 - percent / 100) / 2 * static_cast<double>(total_));
  if (!(tail > 0) || width() == 0) return range_;
  const auto numbers = [&](int bin) {
    return static_cast<double>(count(bin) + (bin == 0 ? zeros_ : 0));
  };
  RealRange range = range_;
  double passed = 0;
  for (int i = first(); i < last(); ++i) {
    passed += numbers(i);
    if (passed <= tail) continue;
    range.min = std::max(range.min, static_cast<float>(i * width()));
    break;
  }
  passed = 0;
  for (int i = last() - 1; i >= first(); --i) {
    passed += numbers(i);
    if (passed <= tail) continue;
    range.max = std::min(range.max, static_cast<float>((i + 1) * width()));
    break;
  }
  return WithZero(range);
}

RealRange Histogram::LeastSquares(int bits) const {
  if (width() == 0) return range_;
  const Moments moments(*this);
  RealRange best = range_;
  double least = std::numeric_limits<double>::infinity();
  for (int low = kFractions; low >= 1; --low) {
    for (int high = kFractions; high >= 1; --high) {
      const RealRange range = {Part(range_.min, low), Part(range_.max, high)};
      const double error = SquaredError(moments, range.min, range.max, bits);
      if (error < least) {
        least = error;
        best = range;
      }
      if (range_.max == 0) break;
    }
    if (range_.min == 0) break;
  }
  return best;
}

double Histogram::DivergenceOf(int from, int to, int levels) const {
  std::vector<double> p;  // the numbers, those outside at the ends
  double outside_low = 0;
  double outside_high = 0;
  double inside = 0;
  for (int i = first(); i < last(); ++i) {
    const auto n = static_cast<double>(count(i));
    (i < from ? outside_low : i >= to ? outside_high : inside) += n;
    if (i >= from && i < to) p.push_back(n);
  }
  if (inside == 0) return std::numeric_limits<double>::infinity();
  const std::vector<double> kept = p;
  p.front() += outside_low;
  p.back() += outside_high;
  const double all = inside + outside_low + outside_high;
  const size_t bins = p.size();
  double divergence = 0;
  for (size_t level = 0; level < static_cast<size_t>(levels); ++level) {
    const size_t begin = level * bins / static_cast<size_t>(levels);
    const size_t end = (level + 1) * bins / static_cast<size_t>(levels);
    double mass = 0;
    double used = 0;
    for (size_t i = begin; i < end; ++i) {
      mass += kept[i];
      used += p[i] > 0 ? 1 : 0;
    }
    for (size_t i = begin; i < end; ++i) {
      if (p[i] == 0) continue;
      const double q = std::max(mass / used, 1e-6) / inside;
      divergence += p[i] / all * std::log(p[i] / all / q);
    }
  }
  return divergence;
}

RealRange Histogram::LeastDivergence(int bits) const {
  if (width() == 0) return range_;
  const int levels = 1 << std::min(bits, 10);
  RealRange best = range_;
  double least = std::numeric_limits<double>::infinity();
  for (int fraction = kFractions; fraction >= 1; --fraction) {
    const RealRange range = {Part(range_.min, fraction), Part(range_.max, fraction)};
    const auto from = static_cast<int>(BinOf(range.min, exponent_));
    const int to = static_cast<int>(BinOf(range.max, exponent_)) + 1;
    if (to - from < levels) break;
    const double divergence = DivergenceOf(std::max(from, first()), std::min(to, last()), levels);
    if (divergence < least) {
      least = divergence;
      best = range;
    }
  }
  return best;
}

}  // namespace intaglio::nn::quantize
