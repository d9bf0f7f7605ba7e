// The attainable peak of this machine, per instruction and number of threads, the bandwidth of
// plain reads over sizes, and how long two threads take to hand something to each other.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "intaglio/bench/harness/options.h"
#include "intaglio/bench/harness/report.h"
#include "intaglio/bench/peak/peak.h"

namespace intaglio::bench {
namespace {

constexpr char kUsage[] =
    "bench_peak: rates of instructions and of plain reads, times between threads. Says first how "
    "long it takes.\n  "
    "--threads=1,2\n";

constexpr size_t kLeastRead = size_t{16} << 10;
constexpr size_t kMostRead = size_t{256} << 20;

// The timed seconds, and as much again for untimed samples and pauses.
double ExpectedSeconds(const Options& options, size_t thread_counts) {
  const Budget budget = options.MakeBudget(1);
  const auto loops = static_cast<double>(std::count_if(PeakLoops().begin(), PeakLoops().end(),
                                                       [](const PeakLoop& l) { return Runs(l); }));
  constexpr double kTurn = 0.002;
  const double each = std::max(budget.seconds, kTurn * budget.min_rounds);
  double reads = 0;
  for (size_t bytes = kLeastRead; bytes <= kMostRead; bytes *= 2) reads += kReadSeconds;
  return 2 * static_cast<double>(thread_counts) * (loops * each + reads);
}

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
  for (size_t bytes = kLeastRead; bytes <= kMostRead; bytes *= 2) {
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

// Nanoseconds for each of `count` times that one(i) does, the fastest of several passes.
template <class One>
Timing TimeEach(int count, const One& one) {
  std::vector<double> passes;
  for (int pass = 0; pass < 25; ++pass) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) one(i);
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    passes.push_back(took.count() / count);
  }
  std::sort(passes.begin(), passes.end());
  return {passes.front(), passes[passes.size() / 2], static_cast<int>(passes.size())};
}

// A line of the cache that two threads write in turns: there and back. It tells cores that share a
// cache from cores that do not, between which a virtual machine's may be moved at any time.
Timing LineThereAndBack() {
  std::atomic<int> turn{0};  // even: ours; odd: the other's; negative: the end
  std::thread other([&] {
    for (int seen = 0; seen >= 0; seen = turn.load()) {
      if (seen % 2 == 1) turn.store(seen - 1);
    }
  });
  const Timing timing = TimeEach(1000, [&](int) {
    turn.store(1);
    while (turn.load() != 0) {
    }
  });
  turn.store(-1);
  other.join();
  return timing;
}

// A round of work in which all threads of a context take part, and which takes no time by itself.
Timing RoundOfWork(Context& context) {
  const int threads = context.threads();
  return TimeEach(100, [&](int) {
    std::atomic<int> here{0};
    const auto meet = [&](int) {
      here.fetch_add(1);
      while (here.load() < threads) {
      }
    };
    context.Run(threads, std::ref(meet));
  });
}

// Where there is a core for each thread.
void MeasureHandovers(Context& context, Report& report) {
  const int threads = context.threads();
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  if (threads < 2 || threads > cores) return;
  const auto add = [&](const std::string& name, const Timing& timing) {
    std::printf("%-34s t%d %8.1f ns  (median %.1f)\n", name.c_str(), threads, timing.min,
                timing.median);
    report.Add({"peak/handover/" + name + "/t" + std::to_string(threads), timing, threads, {}, ""});
  };
  if (threads == 2) add("line-there-and-back", LineThereAndBack());
  add("round-of-work", RoundOfWork(context));
}

int Main(int argc, char** argv) {
  const Options options(argc, argv, {"threads"}, kUsage);
  Report report(options);
  std::printf("%s\n", CpuModel().c_str());
  const std::vector<int> thread_counts = options.Threads("1,2");
  std::printf("takes about %.0f seconds\n", ExpectedSeconds(options, thread_counts.size()));
  std::fflush(stdout);
  for (const int threads : thread_counts) {
    Context context(threads);
    MeasureInstructions(context, options, report);
    MeasureReads(context, report);
    MeasureHandovers(context, report);
    std::fflush(stdout);
  }
  return report.Finish() ? 0 : 1;
}

}  // namespace
}  // namespace intaglio::bench

int main(int argc, char** argv) { return intaglio::bench::Main(argc, argv); }
