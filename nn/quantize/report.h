// Which layers a quantization hurts, and what would mend them.
#ifndef INTAGLIO_NN_QUANTIZE_REPORT_H_
#define INTAGLIO_NN_QUANTIZE_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/graph/limits.h"
#include "intaglio/nn/quantize/calibrate.h"
#include "intaglio/nn/quantize/quantize_graph.h"
#include "intaglio/nn/quantize/similarity.h"

namespace intaglio::nn::quantize {

// How often a layer's output takes which numbers: first those below `least`, then 48 equal parts of
// [least, greatest], the numbers that the integers stand for, then those above.
struct OutputHistogram {
  float least = 0;
  float greatest = 0;
  std::vector<uint64_t> exact;     // of the network of float32
  std::vector<uint64_t> integers;  // with all layers quantized
};

// What one quantized layer loses, over all samples. Its output here is the first that is float32 in
// the network of float32.
struct LayerReport {
  size_t layer = 0;  // its number in the graph of float32
  std::string label;
  std::string operator_name;
  // What the layer itself loses: its inputs are the exact ones, quantized.
  Similarity alone;
  // What all layers up to this one lose together.
  Similarity accumulated;
  // The share of the exact numbers that the output's integers cannot reach.
  double clipped = 0;
  // Channels of the output (its last dimension) whose integers never changed, although the exact
  // numbers did.
  size_t dead_channels = 0;
  // The widest range of a channel of weights over the narrowest that is not 0; 1 without weights.
  double range_ratio = 1;
  OutputHistogram histogram;
  // A rule of a recipe that would help, as JSON; empty if the layer needs none.
  std::string rule;
};

struct Report {
  size_t samples = 0;
  std::vector<LayerReport> layers;  // the least SQNR alone first
};

struct ReportOptions {
  size_t most_samples = 32;
  int threads = 1;
  Limits limits = {};
  double enough = 30;  // decibels: layers whose SQNR alone is less get a rule
};

// Runs both networks, and each quantized layer alone. `quantized` was made of `graph` by `rules`,
// with Form::kIntegers; other forms are refused. Layers without an output of float32 are left out.
Result<Report> MakeReport(const Graph& graph, const Quantized& quantized, const Rules& rules,
                          const NextSample& next, const ReportOptions& options = {});

// The report as JSON (docs/quantizing.md); `model` is the name of the network of float32.
std::string ToJson(const Report& report, const std::string& model);

}  // namespace intaglio::nn::quantize

#endif  // INTAGLIO_NN_QUANTIZE_REPORT_H_
