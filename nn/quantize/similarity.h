// How near numbers are to what they stand for.
#ifndef INTAGLIO_NN_QUANTIZE_SIMILARITY_H_
#define INTAGLIO_NN_QUANTIZE_SIMILARITY_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "intaglio/nn/graph/tensor.h"
#include "intaglio/nn/quantize/parameters.h"

namespace intaglio::nn::quantize {

// Sums over pairs of numbers, in float64.
class Similarity {
 public:
  void Add(std::span<const float> exact, std::span<const float> actual);

  uint64_t count() const { return count_; }
  // The signal to quantization noise ratio, 10 log10(sum x^2 / sum (x - y)^2), in decibels.
  // Infinite if nothing differs.
  double Sqnr() const;
  // sum x y / sqrt(sum x^2 sum y^2); 1 if both are all 0, and 0 if one is.
  double Cosine() const;

 private:
  uint64_t count_ = 0;
  double exact_ = 0;   // sum x^2
  double actual_ = 0;  // sum y^2
  double both_ = 0;    // sum x y
  double noise_ = 0;   // sum (x - y)^2
};

// The real numbers of a tensor's elements: float32 as they are, integers with one scale
// dequantized.
std::vector<float> RealsIn(const Tensor& tensor, const void* data, size_t count);
// The reverse.
std::vector<std::byte> ElementsOf(const Tensor& tensor, std::span<const float> reals);

}  // namespace intaglio::nn::quantize

#endif  // INTAGLIO_NN_QUANTIZE_SIMILARITY_H_
