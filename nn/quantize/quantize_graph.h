// From a graph of float32 and the ranges of its tensors to a graph of integers.
//
//   Graph graph = ...;                             // of float32
//   Simplify(graph);
//   Result<Ranges> ranges = Calibrate(graph, ...)  // calibrate.h
//   Result<Quantized> q = QuantizeGraph(graph, *ranges, rules);
#ifndef INTAGLIO_NN_QUANTIZE_QUANTIZE_GRAPH_H_
#define INTAGLIO_NN_QUANTIZE_QUANTIZE_GRAPH_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/quantize/parameters.h"
#include "intaglio/nn/quantize/range.h"

namespace intaglio::nn::quantize {

struct TensorRange {
  TensorRange() = default;
  TensorRange(const RealRange& known) : range(known) {}  // NOLINT: implicit on purpose

  std::optional<RealRange> range;
  std::string problem;  // why there is none; it becomes the error if the range is needed
};

// One for each tensor of the graph. Constants, and tensors of other types than float32, need none.
using Ranges = std::vector<TensorRange>;

// How one layer is quantized.
struct LayerRule {
  bool keep_float = false;
  int weight_bits = 8;             // 2 to 8; kept in int8 or uint8
  bool per_channel = true;         // one scale for each channel of the weights
  Type activations = Type::kInt8;  // int8, uint8, or int16 with weights of int8 (16x8)
  // 2 to 8: the layer's results in int8 or uint8 are 2^bits integers at the end of the type's range
  // (LowestOf). Inputs and outputs of the graph, results with fixed parameters, and what shares
  // parameters with them keep 8. Not for int16 and Form::kDynamic.
  int activation_bits = 8;

  bool operator==(const LayerRule&) const = default;
};

// What the quantized graph is made of.
enum class Form : uint8_t {
  kIntegers,  // layers of integers by TFLite's rules: for .tflite files, and to run at once. Layers
              // that stay float32 follow them, too: a RESIZE_BILINEAR forgets its scales, and a
              // layer whose tensors of float32 all have ranges forgets infinities and NaN.
  kPairs,     // layers of float32 between DEQUANTIZE and QUANTIZE by ONNX's rules: for .onnx files.
              // Readers make layers of integers of them (nn/passes/fuse_quantization.h).
  kDynamic,   // weights of int8 and activations of float32, which each run quantizes (hybrid)
};

struct Rules {
  Form form = Form::kIntegers;
  // Inputs and outputs of the graph that are float32 become integers of this type; nothing: they
  // stay float32. Not for kDynamic.
  std::optional<Type> interface = {};
  // One for each layer of the graph; empty: the default for all.
  std::vector<LayerRule> layers = {};
  // The runtime is known to take the layers of integers, so it is not asked: that prepares them.
  bool accepted = false;
  // No .tflite file is made: layers that stay float32 compute the same bits as before.
  bool keeps_float_rules = false;
};

// What became of a layer.
struct Outcome {
  std::string label;
  bool quantized = false;
  std::string reason;  // why not; empty if it is quantized
  std::string note;    // what to know of it; mostly empty
};

struct Quantized {
  Graph graph;
  std::vector<Outcome> layers;  // one for each layer of the graph of float32
  std::vector<size_t> places;   // for each of these, its number in the new graph
  // For each tensor of the graph of float32, the one of integers that stands for it where it is
  // made; kNoTensor if it is float32 or not there.
  std::vector<TensorId> integers;
  // The least integer of each of these; 0 where there is none.
  std::vector<int32_t> lowest;
};

// Makes the graph one of fewer and larger layers first: FoldBias, FoldNormalization and
// FuseActivations. So quantization happens only where the integers of a run are rounded: behind the
// fused activation, and with batch normalization in the weights (Jacob et al., 2018, section 3.2).
// The graph must pass Validate. Labels stay. Returns how many layers it removed: if none, nothing
// has changed.
size_t Simplify(Graph& graph);

// Rows of demands.h say which parameters are shared, fixed or free. Shared parameters cover the
// ranges of all tensors that share them. Where a tensor has other parameters than a reader demands,
// or is float32 on one side only, one QUANTIZE or DEQUANTIZE stands between, once for all readers
// that demand the same. Where integers of few bits could fall below the least one, a MAXIMUM stands
// behind the layer.
//
// A layer stays float32 if its rule says so, if it has no row or no form of the type, if its
// weights are not constant, or if the runtime refuses the integer layer; Outcome says why. The
// layer's inputs and outputs of other types than float32 stay as they are.
//
// Errors name the layer or the tensor: a rule that is out of its bounds, a missing range, weights
// that are not finite.
Result<Quantized> QuantizeGraph(const Graph& graph, const Ranges& ranges, const Rules& rules);

}  // namespace intaglio::nn::quantize

#endif  // INTAGLIO_NN_QUANTIZE_QUANTIZE_GRAPH_H_
