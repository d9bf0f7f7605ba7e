// Finds layers that have to be wider, or stay float32, for a network to be good enough.
#ifndef INTAGLIO_NN_QUANTIZE_GOAL_H_
#define INTAGLIO_NN_QUANTIZE_GOAL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/graph/limits.h"
#include "intaglio/nn/quantize/calibrate.h"
#include "intaglio/nn/quantize/quantize_graph.h"
#include "intaglio/nn/quantize/report.h"

namespace intaglio::nn::quantize {

// What is good enough. It is measured on samples with output 0, which is float32. A row of it, the
// elements along its last dimension, is one answer: the place of its largest element.
struct Goal {
  // Accuracy may fall by so many points of a hundred. Without labels, the answers of the network of
  // float32 are taken for the right ones, so that its accuracy is 100.
  std::optional<double> most_drop = {};
  // The right answer of each row, sample after sample: a place in the row.
  std::vector<int32_t> labels = {};
  // The least SQNR in decibels. One of both goals must be set, and not both.
  std::optional<double> least_sqnr = {};
  size_t most_samples = 1000;
};

// A layer that is not quantized as its rule says.
struct Change {
  size_t layer = 0;  // its number in the graph of float32
  std::string label;
  std::string change;     // "has weights and activations of 8 bits", "stays float32"
  double sqnr_alone = 0;  // what it lost by itself before, in decibels
};

struct Search {
  double exact = 0;  // accuracy of the network of float32 in percent; unused for least_sqnr
  double first = 0;  // accuracy in percent, or SQNR in decibels: with the rules as they were
  double last = 0;   // with the changes
  size_t trials = 0;
  std::vector<Change> changes;
};

struct GoalOptions {
  int threads = 1;
  Limits limits = {};
};

// Makes a network by rules.
using MakeQuantized = std::function<Result<Quantized>(const Rules&)>;

// Changes `rules`, in which each layer has one, and `quantized`, which they made, until the goal is
// reached. The layers of the report are taken in its order, the worst first. Stage by stage, the
// least number of them, as bisection finds it, gets
//
//   weights and activations of 8 bits, if it had fewer
//   activations of int16 (not with Form::kPairs, and not where that operator has no such form)
//   float32
//
// If a stage is not enough with all layers, they keep what it gave them. It is an error if the goal
// is reached with float32 alone, if labels do not fit, or if Form is kDynamic.
Result<Search> ReachGoal(const Graph& graph, const Goal& goal, const Report& report,
                         const OpenSamples& open, const MakeQuantized& make, Rules& rules,
                         Quantized& quantized, const GoalOptions& options);

}  // namespace intaglio::nn::quantize

#endif  // INTAGLIO_NN_QUANTIZE_GOAL_H_
