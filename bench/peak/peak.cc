#include "intaglio/bench/peak/peak.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>

#include "intaglio/bench/harness/aligned.h"
#include "intaglio/gemm/machine/cpu.h"

namespace intaglio::bench {
namespace {

// Which loop a kernel's inner loop is made of.
constexpr struct {
  const char* kernel;
  const char* loop;
} kLoopOfKernel[] = {
    {"amx-int8", "tdpbusd"},
    {"amx-int8-words", "tdpbusd"},
    {"avx512-vnni", "vpdpbusd-zmm"},
    {"avx-vnni", "vpdpbusd-ymm"},
    {"avx512bw", "vpmaddwd+vpaddd-zmm"},
    {"avx2", "vpmaddwd+vpaddd-ymm"},
    {"sse4.1", "pmaddwd+paddd-xmm"},
    {"i8mm", "smmla"},
    {"dotprod", "sdot"},
    {"dotprod_a55", "sdot"},
    {"neon", "smull+sadalp"},
    {"neon_a53", "smull+smlal2+sadalp"},
    {"avx2-safe-pairs", "vpmaddubsw+vpmaddwd+vpaddd-ymm"},
};

template <class Loop>
const Loop* Named(std::span<const Loop> loops, std::string_view name) {
  for (const Loop& loop : loops) {
    if (name == loop.name && Runs(loop)) return &loop;
  }
  return nullptr;
}

double Seconds(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

constexpr size_t kReadStep = 1024;  // of a read loop

// Of each thread, in whole iterations of a read loop.
size_t ShareOf(size_t bytes, const Context& context) {
  const auto threads = static_cast<size_t>(context.threads());
  return std::max(kReadStep, bytes / threads / kReadStep * kReadStep);
}

}  // namespace

bool Runs(const PeakLoop& loop) { return MayUse(loop.needs); }
bool Runs(const ReadLoop& loop) { return MayUse(loop.needs); }

const PeakLoop* PeakOfKernel(std::string_view kernel) {
  if (kernel.empty()) return BestPeak(PeakOf::kProducts);
  for (const auto& row : kLoopOfKernel) {
    if (kernel == row.kernel) return Named(PeakLoops(), row.loop);
  }
  return nullptr;
}

const PeakLoop* BestPeak(PeakOf of) {
  for (const PeakLoop& loop : PeakLoops()) {
    if (loop.of == of && Runs(loop)) return &loop;
  }
  return nullptr;
}

const ReadLoop* BestRead() {
  for (const ReadLoop& loop : ReadLoops()) {
    if (Runs(loop)) return &loop;
  }
  return nullptr;
}

PeakContender MakePeakContender(const PeakLoop& loop, Context& context) {
  const int threads = context.threads();
  const double seconds = threads == 1 ? 50e-6 : 1e-3;  // beside which waking a thread is little
  constexpr int64_t kTrial = 20000;
  loop.run(kTrial);
  const double each = Seconds([&] { loop.run(kTrial); }) / static_cast<double>(kTrial);
  const auto iterations = std::max<int64_t>(1, static_cast<int64_t>(seconds / each));
  return {{std::string("peak ") + loop.name,
           [&loop, &context, iterations, threads] {
             if (threads == 1) return loop.run(iterations);
             context.Run(threads, [&](int) { loop.run(iterations); });
           }},
          loop.ops * static_cast<double>(iterations) * threads};
}

std::unique_ptr<QuietWatch> MakeQuietWatch(double patience, Context& context) {
  const PeakLoop* loop = BestPeak(PeakOf::kBytes);
  if (patience <= 0 || loop == nullptr) return nullptr;
  return std::make_unique<QuietWatch>(MakePeakContender(*loop, context).contender.run, patience);
}

Contender MakeReadContender(size_t bytes, Context& context, size_t written) {
  const ReadLoop* loop = BestRead();
  const auto threads = static_cast<size_t>(context.threads());
  const size_t read = ShareOf(bytes, context);
  const size_t write = written / threads;
  const size_t copied = std::min(read, write) / kReadStep * kReadStep;
  const auto memory = std::make_shared<AlignedVector<char>>((read + write) * threads, char{1});
  return {"plain read", [=, &context] {
            context.Run(context.threads(), [&](int thread) {
              char* const in = memory->data() + static_cast<size_t>(thread) * (read + write);
              char* const out = in + read;
              std::memcpy(out, in, copied);
              if (read > copied) loop->run(in + copied, read - copied);
              std::memset(out + copied, 1, write - copied);
            });
          }};
}

double ReadBandwidth(Context& context, size_t bytes, double seconds) {
  if (BestRead() == nullptr) return 0;
  const Contender reader = MakeReadContender(bytes, context);
  const Timing timing = Interleave({&reader, 1}, Budget{seconds, 1}).front();
  return static_cast<double>(ShareOf(bytes, context)) * context.threads() / timing.min;
}

}  // namespace intaglio::bench
