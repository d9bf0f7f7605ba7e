// Runs a network of float32 on sample inputs and watches all of its tensors.
#ifndef INTAGLIO_NN_QUANTIZE_CALIBRATE_H_
#define INTAGLIO_NN_QUANTIZE_CALIBRATE_H_

#include <cstddef>
#include <functional>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/graph/limits.h"
#include "intaglio/nn/quantize/observer.h"
#include "intaglio/nn/quantize/quantize_graph.h"
#include "intaglio/nn/runtime/model.h"

namespace intaglio::nn::quantize {

// Dense elements of each input of the graph, in the order and with the types of the graph.
using InputBytes = std::vector<std::vector<std::byte>>;

// Fills the buffers, which have the sizes of the inputs already, with the next sample. Returns
// false, and fills nothing, if there is none left.
using NextSample = std::function<Result<bool>(InputBytes& inputs)>;

// Each call starts again with the first sample. Inputs have the order, the types and the shapes of
// the graph's; a buffer has the dense elements of one, outermost dimension first.
using OpenSamples = std::function<Result<NextSample>()>;

struct CalibrationOptions {
  // One for all tensors, or one for each tensor of the graph.
  std::vector<ObserverOptions> observers = {{}};
  int threads = 1;
  Limits limits = {};  // of the model that runs
  // Is called after each sample with the number of samples so far; may be null.
  std::function<void(size_t samples)> progress = {};
};

struct Calibration {
  Ranges ranges;    // by the observers' methods
  Ranges extremes;  // of all numbers
  size_t samples = 0;
};

// Each sample is one batch of the observers. Memory does not depend on the number of samples. A
// tensor that becomes NaN or infinite has no range but a problem, which names it. It is an error if
// there is no sample. Variables keep their elements from sample to sample.
Result<Calibration> Calibrate(const Graph& graph, const NextSample& next,
                              const CalibrationOptions& options = {});

// What a pass over all samples needs; the same as in CalibrationOptions.
struct PassOptions {
  int threads = 1;
  Limits limits = {};
  std::function<void(size_t samples)> progress = {};
};

// Runs a network on each sample, and then calls `watch`, which can read all tensors of the model.
// Returns the number of samples. Errors of reading and running name the sample.
Result<size_t> RunOnSamples(const Graph& graph, const NextSample& next, const PassOptions& options,
                            const std::function<Status(const Model& model, size_t sample)>& watch);

// Runs a model on buffers. The outputs get the sizes that they need.
Status RunOn(Model& model, const InputBytes& inputs, InputBytes& outputs);
// Buffers for the inputs of a graph.
Result<InputBytes> BuffersFor(const Graph& graph, const std::vector<TensorId>& tensors);

}  // namespace intaglio::nn::quantize

#endif  // INTAGLIO_NN_QUANTIZE_CALIBRATE_H_
