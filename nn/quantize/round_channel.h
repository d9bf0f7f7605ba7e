// Inside the quantizer: which of its two neighbours each weight of a channel becomes.
#ifndef INTAGLIO_NN_QUANTIZE_ROUND_CHANNEL_H_
#define INTAGLIO_NN_QUANTIZE_ROUND_CHANNEL_H_

#include <cstddef>
#include <span>
#include <vector>

namespace intaglio::nn::quantize {

// The sum of squared errors of a channel's products is e^T H e: e are the errors of its weights,
// and H is the sum of x x^T over the rows x that they are multiplied by. Layers with many inputs
// need many rows, or H says little about other rows; a share of the mean of its diagonal is added
// to the diagonal for that.
class ChannelRounder {
 public:
  // A symmetric matrix of `size` rows, which outlives the rounder.
  ChannelRounder(std::span<const double> matrix, size_t size);

  // Weights in steps, and the greatest magnitude of integers. Each weight becomes the integer below
  // or above, the best of three roundings:
  //   the nearest;
  //   the nearest, with weights moved to their other neighbour one by one, the one first by which
  //   the error falls most, until no move makes it fall;
  //   the same, starting from weights that were rounded in order, each to what is best together
  //   with those before.
  // So the error is never larger than that of the nearest integers. If errors are equal, the
  // first of the three is taken. The result is integral.
  std::vector<double> Round(std::span<const double> weights, double greatest) const;

  double ErrorOf(std::span<const double> weights, std::span<const double> rounded) const;

 private:
  struct Neighbours;
  double DampedAt(size_t i) const { return matrix_[i * size_ + i] + damping_; }
  std::vector<double> InOrder(const Neighbours& neighbours) const;
  void Descend(const Neighbours& neighbours, std::vector<double>& rounded) const;

  std::span<const double> matrix_;
  size_t size_;
  double damping_ = 0;
};

// The nearest integers within the bounds; halves away from zero.
std::vector<double> NearestOf(std::span<const double> weights, double greatest);

}  // namespace intaglio::nn::quantize

#endif  // INTAGLIO_NN_QUANTIZE_ROUND_CHANNEL_H_
