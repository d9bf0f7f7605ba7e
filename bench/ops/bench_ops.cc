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
    "  --threads=1\n  --filter=TEXT         layers with this text in their names\n"
    "  --quiet=0             seconds of each case to wait for quiet moments in (see bench_gemm)\n";

bool RunCase(const OpCase& op, const Options& options, Context& context, QuietWatch* watch,
             Report& report) {
  op.run();
  const std::string wrong = op.check();
  if (!wrong.empty()) {
    std::printf("WRONG RESULT: %s\n", wrong.c_str());
    return false;
  }
  const int threads = context.threads();
  std::vector<Contender> contenders = {{op.name, op.run}};
  if (BestRead() != nullptr) {
    contenders.push_back(
        MakeReadContender(static_cast<size_t>(op.read), context, static_cast<size_t>(op.written)));
  }
  PeakContender peak{};
  if (op.loop != nullptr) {
    peak = MakePeakContender(*op.loop, context);
    contenders.push_back(peak.contender);
  }
  Budget budget = options.MakeBudget(threads);
  budget.watch = watch;
  const auto timings = Interleave(contenders, budget);
  const double ns = timings[0].min / op.repeats;
  const double memory_ns = BestRead() == nullptr ? 0 : timings[1].min;
  const double compute_ns =
      op.loop == nullptr ? 0 : op.ops / (peak.ops_per_call / timings.back().min);
  const double bound_ns = std::max(memory_ns, compute_ns);
  const double share = bound_ns / ns;
  const double rate = (op.elements > 0 ? op.elements : op.ops) / ns;
  std::printf("%-40s t%d %9.0f ns %7.1f GOPS; bounds: memory %8.0f ns, compute %8.0f ns; %5.1f%%\n",
              op.name.c_str(), threads, ns, rate, memory_ns, compute_ns, 100 * share);
  report.Add({"ops/" + op.name + "/t" + std::to_string(threads),
              timings[0],
              threads,
              {{"gops", rate},
               {"bytes", op.read + op.written},
               {"compute_bound_ns", compute_ns},
               {"memory_bound_ns", memory_ns},
               {"share", share}},
              ""});
  return true;
}

int Main(int argc, char** argv) {
  const Options options(argc, argv, {"threads", "filter", "quiet"}, kUsage);
  Report report(options);
  bool all_right = true;
  int found = 0;
  for (const int threads : options.Threads("1")) {
    Context context(threads);
    const auto watch = MakeQuietWatch(options.Number("quiet", 0), context);
    for (const auto& cases :
         {DepthwiseCases(context), ConvolutionCases(context), LineCases(), NnCases(context)}) {
      for (const OpCase& op : cases) {
        if (op.name.find(options.Text("filter", "")) == op.name.npos) continue;
        ++found;
        all_right = RunCase(op, options, context, watch.get(), report) && all_right;
      }
    }
  }
  if (found == 0) {
    std::fprintf(stderr, "--filter=%s: no layer has this in its name\n",
                 options.Text("filter", "").c_str());
    return 2;
  }
  return report.Finish() && all_right ? 0 : 1;
}

}  // namespace
}  // namespace intaglio::bench

int main(int argc, char** argv) { return intaglio::bench::Main(argc, argv); }
