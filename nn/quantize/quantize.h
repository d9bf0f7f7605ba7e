// The quantizer: from a network of float32 and sample inputs to a network of integers. Start
// reading here.
//
//   Result<Graph> graph = LoadGraph("float.tflite");
//   quantize::Options options;                         // int8, the ranges of all numbers
//   Status status = quantize::SetBits("w4a8", options);
//   Result<quantize::Network> network = quantize::Quantize(std::move(*graph), samples, options);
//   status = SaveGraph(network->quantized.graph, "int8.tflite");
//   Result<Model> model = Model::Prepare(network->quantized.graph);
//
// Words: a *sample* is one set of inputs of the network. A tensor's *range* is the interval of real
// numbers that its integers have to cover; *observers* find it. A *rule* says how one layer is
// quantized, and a *recipe* is a list of rules by the labels of layers.
#ifndef INTAGLIO_NN_QUANTIZE_QUANTIZE_H_
#define INTAGLIO_NN_QUANTIZE_QUANTIZE_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/graph/limits.h"
#include "intaglio/nn/quantize/agreement.h"
#include "intaglio/nn/quantize/calibrate.h"
#include "intaglio/nn/quantize/correct_bias.h"
#include "intaglio/nn/quantize/equalize.h"
#include "intaglio/nn/quantize/goal.h"
#include "intaglio/nn/quantize/learn_rounding.h"
#include "intaglio/nn/quantize/observer.h"
#include "intaglio/nn/quantize/quantize_graph.h"
#include "intaglio/nn/quantize/recipe.h"
#include "intaglio/nn/quantize/report.h"
#include "intaglio/nn/quantize/smooth.h"

namespace intaglio::nn::quantize {

struct Options {
  Form form = Form::kIntegers;
  // The type of inputs and outputs that are float32; nothing: they stay float32.
  std::optional<Type> interface = {};
  LayerRule layer = {};           // of layers that no rule of the recipe changes
  ObserverOptions observer = {};  // of their results
  Recipe recipe = {};
  bool equalize = false;          // EqualizeChannels before anything is observed
  bool smooth = false;            // SmoothChannels: a pass over the samples before
  bool learn_rounding = false;    // LearnRounding: more passes over the samples
  bool correct_bias = false;      // AddBiases and CorrectBiases: more passes over some samples
  std::optional<Goal> goal = {};  // changes rules of layers until it is reached
  int threads = 1;
  Limits limits = {};  // of each model that runs
  // Is called after each sample with what was done ("observed"), and the number of samples so far;
  // may be null.
  std::function<void(const char* done, size_t samples)> progress = {};
};

// Takes "w8a8": weights of 2 to 8 bits and activations of 2 to 8 or 16. "w8", with 2 to 8, is
// Form::kDynamic. Activations of 8 bits are int8, or uint8 with Form::kPairs. It sets `form` and
// `layer` alone, so set the form first.
Status SetBits(std::string_view bits, Options& options);

struct Network {
  Graph real;  // of float32: simplified, and with equalized channels if that was asked for
  Quantized quantized;
  Rules rules;         // that `quantized` was made by
  Ranges ranges;       // of the tensors of `real`; empty for Form::kDynamic
  size_t samples = 0;  // that were observed
  std::optional<Equalized> equalized = {};
  std::optional<Smoothed> smoothed = {};
  std::optional<Rounded> rounded = {};
  std::optional<Corrected> corrected = {};
  std::optional<Search> search = {};  // for the goal
};

// Form::kDynamic needs no samples: `open` may be null then. The same graph, samples and options
// give the same network, whatever the machine and the number of threads.
//
// Errors name the layer, the tensor, the sample or the rule that is wrong: options out of their
// bounds, a pattern that matches no layer, no sample, NaN or an infinity in a tensor that is to be
// quantized, weights that are not finite, a goal that is not reached, and a network of which no
// layer can be quantized.
Result<Network> Quantize(Graph graph, const OpenSamples& open, const Options& options = {});

// What each layer of a network loses (report.h), by the first `most_samples`. Layers are looked at
// as integers, whatever form the network has; Form::kDynamic has no report.
Result<Report> ReportOn(const Network& network, const OpenSamples& open, const Options& options,
                        size_t most_samples = 32);

// How a network that was read back from its file agrees with the network of float32, by the first
// `most_samples`.
Result<Agreement> AgreementOf(const Network& network, Graph read_back, const OpenSamples& open,
                              const Options& options, size_t most_samples = 64);

}  // namespace intaglio::nn::quantize

#endif  // INTAGLIO_NN_QUANTIZE_QUANTIZE_H_
