#include "intaglio/nn/quantize/round_channel.h"

#include <algorithm>
#include <cmath>

namespace intaglio::nn::quantize {
namespace {

// Of the mean of the diagonal.
constexpr double kDamping = 0.01;
// Moves for each weight at most. Each lowers the error, but for rounding in float64.
constexpr size_t kMostMoves = 8;

}  // namespace

// Both integers that a weight may become; they are the same where there is no choice.
struct ChannelRounder::Neighbours {
  std::span<const double> weights;
  std::vector<double> below;
  std::vector<double> above;

  Neighbours(std::span<const double> exact, double greatest) : weights(exact) {
    for (const double weight : exact) {
      below.push_back(std::clamp(std::floor(weight), -greatest, greatest));
      above.push_back(std::clamp(std::ceil(weight), -greatest, greatest));
    }
  }
  double OtherOf(size_t i, double rounded) const {
    return rounded == below[i] ? above[i] : below[i];
  }
};

std::vector<double> NearestOf(std::span<const double> weights, double greatest) {
  std::vector<double> rounded;
  for (const double weight : weights) {
    rounded.push_back(std::clamp(std::round(weight), -greatest, greatest));
  }
  return rounded;
}

ChannelRounder::ChannelRounder(std::span<const double> matrix, size_t size)
    : matrix_(matrix), size_(size) {
  double sum = 0;
  for (size_t i = 0; i < size; ++i) sum += matrix[i * size + i];
  if (size > 0) damping_ = kDamping * sum / static_cast<double>(size);
}

double ChannelRounder::ErrorOf(std::span<const double> weights,
                               std::span<const double> rounded) const {
  double sum = 0;
  for (size_t i = 0; i < size_; ++i) {
    const double* const row = &matrix_[i * size_];
    double product = 0;
    for (size_t j = 0; j < size_; ++j) product += row[j] * (rounded[j] - weights[j]);
    sum += product * (rounded[i] - weights[i]);
  }
  return sum;
}

std::vector<double> ChannelRounder::InOrder(const Neighbours& neighbours) const {
  std::vector<double> rounded(size_);
  std::vector<double> slopes(size_);  // row i of H times the errors so far
  for (size_t i = 0; i < size_; ++i) {
    const double down = neighbours.below[i] - neighbours.weights[i];
    const double up = neighbours.above[i] - neighbours.weights[i];
    const auto error = [&](double e) { return e * (DampedAt(i) * e + 2 * slopes[i]); };
    const double e = error(up) < error(down) ? up : down;
    rounded[i] = e == up ? neighbours.above[i] : neighbours.below[i];
    if (e == 0) continue;
    const double* const row = &matrix_[i * size_];
    for (size_t j = i + 1; j < size_; ++j) slopes[j] += row[j] * e;
  }
  return rounded;
}

void ChannelRounder::Descend(const Neighbours& neighbours, std::vector<double>& rounded) const {
  std::vector<double> slopes(size_);
  for (size_t i = 0; i < size_; ++i) {
    const double e = rounded[i] - neighbours.weights[i];
    const double* const row = &matrix_[i * size_];
    for (size_t j = 0; j < size_; ++j) slopes[j] += row[j] * e;
    slopes[i] += damping_ * e;
  }
  for (size_t moves = 0; moves < kMostMoves * size_; ++moves) {
    size_t best = size_;
    double least = 0;
    for (size_t i = 0; i < size_; ++i) {
      const double step = neighbours.OtherOf(i, rounded[i]) - rounded[i];
      const double change = step * (2 * slopes[i] + step * DampedAt(i));
      if (change >= least) continue;
      least = change;
      best = i;
    }
    if (best == size_) return;
    const double other = neighbours.OtherOf(best, rounded[best]);
    const double step = other - rounded[best];
    rounded[best] = other;
    const double* const row = &matrix_[best * size_];
    for (size_t j = 0; j < size_; ++j) slopes[j] += row[j] * step;
    slopes[best] += damping_ * step;
  }
}

std::vector<double> ChannelRounder::Round(std::span<const double> weights, double greatest) const {
  const Neighbours neighbours(weights, greatest);
  std::vector<double> best = NearestOf(weights, greatest);
  double least = ErrorOf(weights, best);
  for (std::vector<double> rounded : {best, InOrder(neighbours)}) {
    Descend(neighbours, rounded);
    const double error = ErrorOf(weights, rounded);
    if (error >= least) continue;
    least = error;
    best = std::move(rounded);
  }
  return best;
}

}  // namespace intaglio::nn::quantize
