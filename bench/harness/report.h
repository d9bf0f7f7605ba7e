// Results on their way out: a line each on the console, and Google Benchmark's JSON.
#ifndef INTAGLIO_BENCH_HARNESS_REPORT_H_
#define INTAGLIO_BENCH_HARNESS_REPORT_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/bench/harness/interleave.h"
#include "intaglio/bench/harness/options.h"

namespace intaglio::bench {

// One measured figure. In the JSON, real_time is the median in ns, and the counters stand beside
// `min_ns` and `quiet`, which are Timing's.
struct Row {
  std::string name;  // program/group/case/.../contender
  Timing timing;
  int threads = 1;
  std::vector<std::pair<std::string, double>> counters;
  std::string label;
};

class Report {
 public:
  // Writes to --out, or nowhere where that is missing. The machine, the compiler, the version and
  // the command go into the JSON's context.
  explicit Report(const Options& options);
  ~Report();  // calls Finish

  // Adds a line to the context. Call it before the first Add.
  void Note(const std::string& key, const std::string& value);
  void Add(const Row& row);

  // Completes the file. Returns false, after a line on stderr, if not all of it could be written.
  bool Finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// "model name" of the CPU, as the system gives it.
std::string CpuModel();

}  // namespace intaglio::bench

#endif  // INTAGLIO_BENCH_HARNESS_REPORT_H_
