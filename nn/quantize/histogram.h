// Counts real numbers by size, in constant memory, however many there are.
#ifndef INTAGLIO_NN_QUANTIZE_HISTOGRAM_H_
#define INTAGLIO_NN_QUANTIZE_HISTOGRAM_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "intaglio/nn/quantize/range.h"

namespace intaglio::nn::quantize {

// Bin i holds the numbers x with floor(x / w) = i. The width w is the smallest power of two for
// which all numbers so far, and 0, lie in at most kBins bins. So between half of kBins and all of
// it cover the range, and 0 is always an edge. When the range grows, w is doubled as often as
// needed, and pairs of bins become one. As edges of wide bins are edges of narrow ones, no number
// is ever counted in a wrong bin: the content depends on which numbers came, not on their order or
// on how they were split into batches and merged.
//
// Numbers that are exactly 0 are counted apart: every quantization represents them without error.
class Histogram {
 public:
  static constexpr int kBins = 2048;

  Histogram() : counts_(size_t{2} * kBins) {}

  // All numbers must be finite.
  void Add(std::span<const float> values);
  void Merge(const Histogram& other);

  uint64_t total() const { return total_; }  // of all numbers, zeros included
  uint64_t zeros() const { return zeros_; }
  RealRange range() const { return range_; }  // of the numbers and 0, exact
  double width() const;                       // 0 if there were only zeros
  // The first bin and the one behind the last that can hold numbers.
  int first() const;
  int last() const;
  uint64_t count(int bin) const { return counts_[static_cast<size_t>(bin + kBins)]; }

  // The three choices of a range lie within range().

  // Leaves out (1 - percent / 100) / 2 of all numbers at each end, rounded down, and then takes the
  // outer edge of the bin that is reached.
  RealRange Percentile(double percent) const;
  // The range with the least expected squared error, of clipping and of rounding to 2^bits levels.
  // Rounding costs step^2 / 12 (uniform errors; zeros cost nothing). Both ends are tried at
  // multiples of 1/128 of their extent.
  RealRange LeastSquares(int bits) const;
  // The range, both ends shortened by the same factor, for which the distribution over 2^bits
  // levels tells the least less about the numbers (Kullback-Leibler divergence; Migacz, "8-bit
  // inference with TensorRT", 2017). Numbers outside count at the ends. Factors are multiples of
  // 1/128 that leave at least one bin per level.
  RealRange LeastDivergence(int bits) const;

 private:
  void Grow(const RealRange& range);
  void Coarsen();
  uint64_t& At(int64_t bin) { return counts_[static_cast<size_t>(bin + kBins)]; }
  double DivergenceOf(int first, int last, int levels) const;

  std::vector<uint64_t> counts_;
  int exponent_ = kNoExponent;  // of the width
  uint64_t total_ = 0;
  uint64_t zeros_ = 0;
  RealRange range_;

  static constexpr int kNoExponent = -1000;  // there were only zeros
};

}  // namespace intaglio::nn::quantize

#endif  // INTAGLIO_NN_QUANTIZE_HISTOGRAM_H_
