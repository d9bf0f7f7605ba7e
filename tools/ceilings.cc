#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <numeric>

#include "intaglio/gemm/gemm.h"
#include "intaglio/tools/bench_report.h"

namespace intaglio::tools {
namespace {

using Clock = std::chrono::steady_clock;

// The fastest of some calls, in seconds.
double Fastest(const std::function<void()>& call) {
  constexpr double kSeconds = 0.3;
  call();
  double best = std::numeric_limits<double>::infinity();
  const auto begin = Clock::now();
  for (auto start = begin; start - begin < std::chrono::duration<double>(kSeconds);) {
    call();
    const auto stop = Clock::now();
    best = std::min(best, std::chrono::duration<double>(stop - start).count());
    start = stop;
  }
  return best;
}

double MeasureGops(const std::string& kernel, Context& context) {
  constexpr int kSide = 768;
  const std::vector<uint8_t> x(size_t{kSide} * kSide, 3);
  const std::vector<int8_t> w(x.size(), 5);
  std::vector<int8_t> y(x.size());
  PackOptions options;
  options.kernel = kernel;
  const auto packed =
      Prepack(Side::kRhs, MakeConstMatrix(w.data(), kSide, kSide, Order::kColMajor), options);
  if (!packed.ok()) return 0;
  const float scale = 1e-3f;
  StandardPipeline pipeline;
  pipeline.scaling = Scaling::kFloatHalfEven;
  pipeline.scale = &scale;
  pipeline.output = Type::kInt8;
  pipeline.clamp_min = -128;
  pipeline.clamp_max = 127;
  const auto bound = BoundPipeline::Bind(*packed, pipeline, Type::kUInt8, 0);
  if (!bound.ok()) return 0;
  const double seconds = Fastest([&] {
    (void)Gemm(context, MakeConstMatrix(x.data(), kSide, kSide), *packed,
               MakeMatrix(y.data(), kSide, kSide), *bound);
  });
  return 2.0 * kSide * kSide * kSide / seconds / 1e9;
}

double MeasureReads(Context& context) {
  constexpr size_t kWords = 8 << 20;
  const std::vector<uint64_t> memory(kWords, 1);
  std::vector<uint64_t> sums(static_cast<size_t>(context.threads()));
  const std::function<void(int)> read = [&](int i) {
    const size_t each = kWords / sums.size();
    const auto first = memory.begin() + static_cast<ptrdiff_t>(each) * i;
    sums[static_cast<size_t>(i)] =
        std::accumulate(first, first + static_cast<ptrdiff_t>(each), uint64_t{0});
  };
  const double seconds = Fastest([&] { context.Run(context.threads(), read); });
  return sums[0] == 0 ? 0 : kWords * sizeof(uint64_t) / seconds / 1e9;
}

}  // namespace

double Gops(int64_t macs, double ms) {
  return ms > 0 ? 2.0 * static_cast<double>(macs) / (ms * 1e6) : 0;
}

Ceilings MeasureCeilings(const std::string& kernel, int threads) {
  Context context(threads);
  return {MeasureGops(kernel, context), MeasureReads(context)};
}

}  // namespace intaglio::tools
