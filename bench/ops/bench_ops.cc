// Depthwise convolutions, convolutions by im2col and element-wise routines, each as a share of its
// bound.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "intaglio/bench/harness/options.h"
#include "intaglio/bench/harness/report.h"
#include "intaglio/bench/ops/op_case.h"

namespace intaglio::bench {
namespace {

constexpr char kUsage[] =
    "bench_ops: operators, as shares of their bounds\n"
    "  --threads=1\n  --filter=TEXT         layers with this text in their names\n";

bool RunCase(const OpCase& op, const Options& options, Context& context, Report& report) {
  op.run();
  const std::string wrong = op.check();
  if (!wrong.empty()) {
    std::printf("WRONG RESULT: %s\n", wrong.c_str());
    return false;
  }
  const int threads = context.threads();
  std::vector<Contender> contenders = {{op.name, op.run}};
  PeakContender peak{};
  if (op.loop != nullptr) {
    peak = MakePeakContender(*op.loop, context);
    contenders.push_back(peak.contender);
  }
  const auto timings = Interleave(contenders, options.MakeBudget(threads));
  const double bandwidth = ReadBandwidth(context, static_cast<size_t>(op.bytes));
  const double memory_ns = bandwidth > 0 ? op.bytes / bandwidth : 0;
  const double compute_ns = op.loop == nullptr ? 0 : op.ops / (peak.ops_per_call / timings[1].min);
  const double bound_ns = std::max(memory_ns, compute_ns);
  const double share = bound_ns / timings[0].min;
  std::printf("%-34s t%d %10.0f ns %8.1f GOPS %6.1f%% of the %s bound, %.0f ns\n", op.name.c_str(),
              threads, timings[0].min, op.ops / timings[0].min, 100 * share,
              memory_ns > compute_ns ? "memory" : "compute", bound_ns);
  report.Add({"ops/" + op.name + "/t" + std::to_string(threads),
              timings[0],
              threads,
              {{"gops", op.ops / timings[0].min},
               {"bytes", op.bytes},
               {"compute_bound_ns", compute_ns},
               {"memory_bound_ns", memory_ns},
               {"share", share}},
              ""});
  return true;
}

int Main(int argc, char** argv) {
  const Options options(argc, argv, {"threads", "filter"}, kUsage);
  Report report(options);
  bool all_right = true;
  for (const std::string& threads : options.List("threads", "1")) {
    Context context(std::max(1, std::atoi(threads.c_str())));
    for (const auto& cases :
         {DepthwiseCases(context), ConvolutionCases(context), LineCases(), NnCases(context)}) {
      for (const OpCase& op : cases) {
        if (op.name.find(options.Text("filter", "")) == op.name.npos) continue;
        all_right = RunCase(op, options, context, report) && all_right;
      }
    }
  }
  return all_right ? 0 : 1;
}

}  // namespace
}  // namespace intaglio::bench

int main(int argc, char** argv) { return intaglio::bench::Main(argc, argv); }
