// The attainable peak of this machine, per instruction and number of threads, and the bandwidth of
// plain reads over sizes.
#include <algorithm>
#include <cstdio>
#include <deque>
#include <string>

#include "intaglio/bench/harness/options.h"
#include "intaglio/bench/harness/report.h"
#include "intaglio/bench/peak/peak.h"

namespace intaglio::bench {
namespace {

constexpr char kUsage[] = "bench_peak: rates of instructions and of plain reads\n  --threads=1,2\n";

void MeasureInstructions(Context& context, const Options& options, Report& report) {
  std::vector<PeakContender> peaks;
  std::vector<const PeakLoop*> loops;
  for (const PeakLoop& loop : PeakLoops()) {
    if (!Runs(loop)) {
      std::printf("%-34s not on this CPU\n", loop.name);
      continue;
    }
    peaks.push_back(MakePeakContender(loop, context));
    loops.push_back(&loop);
  }
  std::vector<Contender> contenders;
  for (const PeakContender& peak : peaks) contenders.push_back(peak.contender);
  const int threads = context.threads();
  const auto timings = Interleave(contenders, options.MakeBudget(threads));
  for (size_t i = 0; i < peaks.size(); ++i) {
    const double best = peaks[i].ops_per_call / timings[i].min;
    const double median = peaks[i].ops_per_call / timings[i].median;
    std::printf("%-34s t%d %8.1f GOPS  (median %.1f)\n", loops[i]->name, threads, best, median);
    report.Add({std::string("peak/instruction/") + loops[i]->name + "/t" + std::to_string(threads),
                timings[i],
                threads,
                {{"gops", best}, {"gops_median", median}},
                ""});
  }
}

void MeasureReads(Context& context, Report& report) {
  const int threads = context.threads();
  for (size_t bytes = size_t{16} << 10; bytes <= size_t{256} << 20; bytes *= 2) {
    const double bandwidth = ReadBandwidth(context, bytes);
    std::printf("read %8zu KiB                  t%d %8.1f GB/s\n", bytes >> 10, threads, bandwidth);
    const double ns = static_cast<double>(bytes) / bandwidth;
    report.Add({"peak/read/" + std::to_string(bytes) + "/t" + std::to_string(threads),
                {ns, ns, 1},
                threads,
                {{"bytes", static_cast<double>(bytes)}, {"gb_per_s", bandwidth}},
                ""});
  }
}

int Main(int argc, char** argv) {
  const Options options(argc, argv, {"threads"}, kUsage);
  Report report(options);
  std::printf("%s\n", CpuModel().c_str());
  for (const std::string& threads : options.List("threads", "1,2")) {
    Context context(std::max(1, std::atoi(threads.c_str())));
    MeasureInstructions(context, options, report);
    MeasureReads(context, report);
  }
  return 0;
}

}  // namespace
}  // namespace intaglio::bench

int main(int argc, char** argv) { return intaglio::bench::Main(argc, argv); }
