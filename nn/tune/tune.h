// Finds the fastest way through a network on this machine.
#ifndef INTAGLIO_NN_TUNE_TUNE_H_
#define INTAGLIO_NN_TUNE_TUNE_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/nn/tune/plan.h"

namespace intaglio::nn::tune {

struct TuneOptions {
  // How the network will be prepared. Threads, kernel and limits hold for all that is tried.
  PrepareOptions prepare = {};
  // For measuring. Preparing what is measured comes on top.
  std::chrono::nanoseconds budget = std::chrono::seconds(10);
  // The most bytes of packed constants that are kept at once. What does not fit is measured in
  // groups, one after the other.
  size_t group_bytes = size_t{1} << 30;
  std::string name = {};  // Plan::model
  // Called with what is going on, and the share of it that is done, from 0 to 1. May be empty.
  std::function<void(const std::string& what, double share)> progress = {};
};

// All ways that were tried, for reports.
struct LayerReport {
  std::string label;
  std::string operator_name;
  std::vector<TimedWay> ways;  // the untuned first
  size_t chosen = 0;
  double noise = 0;
};

struct Tuning {
  Plan plan;
  std::vector<LayerReport> layers;
};

// Measures the routines and kernels of each layer, then the numbers of threads, and then the whole
// network in turns with the untuned one. The plan is empty unless it is faster beyond doubt. All
// ways are exact: the results have the same bits as before. Runs are on random inputs.
Result<Tuning> Tune(const Graph& graph, const TuneOptions& options);

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_TUNE_H_
