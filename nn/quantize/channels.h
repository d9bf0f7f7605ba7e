// Inside the quantizer: factors for the channels of constants.
#ifndef INTAGLIO_NN_QUANTIZE_CHANNELS_H_
#define INTAGLIO_NN_QUANTIZE_CHANNELS_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn::quantize {

// Magnitudes below the least count as 0. Beyond the greatest, factors might overflow.
inline constexpr double kLeastMagnitude = 0x1p-100;
inline constexpr double kGreatestMagnitude = 0x1p100;

// Element i belongs to channel i / inner % extent / multiplier.
struct Axis {
  size_t inner = 1;
  size_t extent = 1;
  size_t multiplier = 1;

  size_t channels() const { return extent / multiplier; }
  size_t ChannelOf(size_t i) const { return i / inner % extent / multiplier; }
};

// The channels of the weights of CONV_2D, DEPTHWISE_CONV_2D or FULLY_CONNECTED.
struct ProductAxes {
  Axis outputs;
  std::optional<Axis> inputs;  // nothing: the channels of inputs are not those of the weights
};
ProductAxes AxesOf(const Graph& graph, const Layer& layer);

std::vector<double> Magnitudes(const std::vector<double>& values, const Axis& axis);

// FactorOf says what a channel is multiplied by.
template <class FactorOf>
void Scale(std::vector<double>& values, const Axis& axis, const FactorOf& factor_of) {
  for (size_t i = 0; i < values.size(); ++i) values[i] *= factor_of(axis.ChannelOf(i));
}

// Returns false if the tensor is no constant of float32, or holds what cannot be scaled.
bool TakeValues(const Tensor& tensor, std::vector<double>& values);

// How many layers and outputs of the graph read each tensor.
std::vector<int> CountReaders(const Graph& graph);

// Gives one reader of a constant other elements. The old constant gives back its memory if nothing
// reads it any more.
void ReplaceConstant(Graph& graph, std::vector<int>& readers, TensorId& id,
                     const std::vector<double>& values);

}  // namespace intaglio::nn::quantize

#endif  // INTAGLIO_NN_QUANTIZE_CHANNELS_H_
