// What `intaglio bench` found, and the files that show it.
#ifndef INTAGLIO_TOOLS_BENCH_REPORT_H_
#define INTAGLIO_TOOLS_BENCH_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "intaglio/nn/runtime/model.h"

namespace intaglio::tools {

struct Times {
  double min_ms = 0;
  double median_ms = 0;
};

struct LayerReport {
  std::string operator_name;
  std::string label;
  std::string routine;
  std::string kernel;
  int64_t macs = 0;
  size_t bytes = 0;  // of inputs, outputs and constants, each once
  Times times;
  double fastest_run_ms = 0;  // in the fastest run of the whole
  double share_of_peak = 0;   // 0 where the peak is not one of what the layer does
};

// What the machine reaches with these threads: the chosen kernel on products that stay in cache,
// and reads from memory.
struct Ceilings {
  double gops = 0;
  double gbytes_per_second = 0;
};

struct BenchReport {
  std::string model;
  int threads = 1;
  size_t runs = 0;
  int64_t macs = 0;
  Times whole;
  Ceilings ceilings;
  size_t arena_bytes = 0;
  size_t constant_bytes = 0;
  std::vector<LayerReport> layers;
  std::vector<nn::Placement> placements;
  std::vector<std::string> tensor_names;  // of the placements
};

// 10^9 operations a second, a multiplication and an addition being two.
double Gops(int64_t macs, double ms);

// One page without anything from elsewhere: the layers of a run in time, each below the roofline,
// the arena over the layers, and a table.
std::string HtmlPage(const BenchReport& report);

// The fastest run as Chrome's trace events, which Perfetto opens.
std::string ChromeTrace(const BenchReport& report);

}  // namespace intaglio::tools

#endif  // INTAGLIO_TOOLS_BENCH_REPORT_H_
