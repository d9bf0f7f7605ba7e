// What each operator demands of the quantizations of its inputs and outputs: TFLite's rules for
// quantized operators (its "8-bit quantization specification"), one row for each operator.
#ifndef INTAGLIO_NN_QUANTIZE_DEMANDS_H_
#define INTAGLIO_NN_QUANTIZE_DEMANDS_H_

#include <cstdint>
#include <span>

#include "intaglio/nn/graph/layer_view.h"
#include "intaglio/nn/graph/operator.h"
#include "intaglio/nn/graph/type_set.h"
#include "intaglio/nn/quantize/parameters.h"

namespace intaglio::nn::quantize {

// How the parameters of the outputs follow.
enum class Sharing : uint8_t {
  kOwn,    // each input and output has its own
  kInput,  // the outputs have those of the data input; elements move or are chosen
  kAll,    // all data inputs and outputs have the same ones
  kFixed,  // the outputs have those that `fixed` says
};

struct Demand {
  const OperatorRow* row;
  Sharing sharing = Sharing::kOwn;
  TypeSet types = 0;  // that the activations may have when quantized
  // The inputs that are quantized if they are float32: bit i is input i. All others stay as they
  // are, such as indices.
  uint32_t data = 1;
  // Input 1 holds constant weights, and input 2 may hold a constant bias. -1: it does not. The axis
  // of their channels.
  int weight_axis = -1;
  // The layer may have weights of int8 and activations of float32 (hybrid).
  bool hybrid = false;
  Parameters (*fixed)(const Levels& levels) = nullptr;
  // Says why a layer cannot be quantized, or returns null if it can.
  const char* (*why_not)(const LayerView& layer) = nullptr;
  // The operator of the quantized layer, where that has other parameters than the one of float32.
  // `output` belongs to output 0.
  Operator (*rewrite)(const LayerView& layer, const Parameters& output,
                      const Levels& levels) = nullptr;

  bool has_weights() const { return weight_axis >= 0; }
};

// Null if layers of the operator stay float32.
const Demand* DemandOf(const Operator& op);
std::span<const Demand> ListDemands();

}  // namespace intaglio::nn::quantize

#endif  // INTAGLIO_NN_QUANTIZE_DEMANDS_H_
