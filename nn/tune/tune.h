// Finds the fastest way through a network on this machine.
#ifndef INTAGLIO_NN_TUNE_TUNE_H_
#define INTAGLIO_NN_TUNE_TUNE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/nn/tune/plan.h"

namespace intaglio::nn::tune {

class Timings;

struct TuneOptions {
  // How the network will be prepared. Threads, kernel and limits hold for all that is tried.
  PrepareOptions prepare = {};
  // For everything: preparing, measuring and comparing. Negative: as much as the network is worth,
  // 1.8 to 18 seconds. It is exceeded only by the step that is under way when it ends.
  std::chrono::nanoseconds budget = std::chrono::nanoseconds(-1);
  // Tells the time; empty: the steady clock. Tests have one that follows a script.
  std::function<std::chrono::nanoseconds()> clock = {};
  // The most bytes of packed constants that are kept at once. What does not fit is measured in
  // groups, one after the other.
  size_t group_bytes = size_t{1} << 30;
  std::string name = {};  // Plan::model
  // Layers of integers may compute in float32 where the network gains by it beyond doubt, and
  // float32 layers by any of their routines. Results are no longer the same bits: Plan::difference
  // says by how much they differ.
  bool allow_float32 = false;
  // If not empty, layers of float32 may compute with int8 where the network gains by it beyond
  // doubt: those whose tensors all have a range here, as the quantizer observes them
  // (nn/quantize/named_ranges.h). Layers of integers stay as they are then.
  std::vector<NamedRange> ranges = {};
  // By how much outputs may differ from those of the untuned network, if layers may compute in
  // another form. It limits Difference::relative of the network, and the sum of that of its layers.
  // Negative: any.
  double max_difference = -1;
  // The bytes of each input of the network on which everything runs and differences are measured;
  // inputs without bytes, and those beyond the list, are random, within their ranges.
  std::vector<std::vector<uint8_t>> inputs = {};
  // The most bytes of packed constants and the arena of the tuned network; 0: any.
  size_t memory_bytes = 0;
  // Ways with a time in here (nn/tune/timings.h) are not measured; the others are added. May be
  // null. Whole networks are compared unless a comparison with the same ways is known. The same
  // tuning again, with the same budget, forms and limits, leaves out what it left out before.
  Timings* timings = nullptr;
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
  bool convertible = false;  // it may compute in the other form
  // What it changes if it alone does. Not measured where that form is far behind, nor if all times
  // are known and differences are not limited.
  Difference difference = {};
};

// What a selection of ways takes: nanoseconds by the sum of the layers and adapters, and bytes of
// packed constants, or the relative differences of its layers added up.
struct Tradeoff {
  double ns = 0;
  size_t bytes = 0;
  double difference = 0;
};

struct Tuning {
  Plan plan;
  std::vector<LayerReport> layers;
  std::vector<Tradeoff> tradeoffs;  // time and bytes, from the fastest to the smallest
  // Time and differences, from the fastest to the exact one; empty unless another form is allowed.
  // Counts only layers whose difference was measured.
  std::vector<Tradeoff> accuracy;
};

// Measures the routines and kernels of each layer, then the numbers of threads, selects the ways
// that take the least time together, and compares the whole network in turns with the untuned one.
// The plan is empty unless it is faster beyond doubt. Unless another form is allowed, all ways
// are exact: the results have the same bits as before.
//
// With a limit of memory, the plan is the fastest that keeps it, even if it is slower than the
// untuned network, unless that keeps it too. kUnsupported says that none was found.
Result<Tuning> Tune(const Graph& graph, const TuneOptions& options);

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_TUNE_H_
