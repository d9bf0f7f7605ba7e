// The peak is the speed of the fastest of several short products that stay in cache. On a machine
// that also does other things, a long product is rarely undisturbed, while a short one has a larger
// share of overhead. So there are several lengths, and they are measured before and after the
// model.
#include "intaglio/tools/ceilings.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "intaglio/gemm/gemm.h"
#include "intaglio/tools/bench_report.h"

namespace intaglio::tools {
namespace {

using Clock = std::chrono::steady_clock;

// The fastest of some calls, in seconds.
double Fastest(const std::function<void()>& call, double seconds) {
  call();
  double best = std::numeric_limits<double>::infinity();
  const auto begin = Clock::now();
  for (auto start = begin; start - begin < std::chrono::duration<double>(seconds);) {
    call();
    const auto stop = Clock::now();
    best = std::min(best, std::chrono::duration<double>(stop - start).count());
    start = stop;
  }
  return best;
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
  const double seconds = Fastest([&] { context.Run(context.threads(), read); }, 0.3);
  return sums[0] == 0 ? 0 : kWords * sizeof(uint64_t) / seconds / 1e9;
}

constexpr int kDepth = 768;
constexpr int kSides[] = {48, 96, 192, 384, 768};

}  // namespace

// A product of kSides x kSides x kDepth.
class PeakMeter::Product {
 public:
  static std::unique_ptr<Product> Make(int side, const std::string& kernel) {
    auto product = std::make_unique<Product>(side);
    PackOptions options;
    options.kernel = kernel;
    auto packed = Prepack(
        Side::kRhs, MakeConstMatrix(product->w_.data(), kDepth, side, Order::kColMajor), options);
    if (!packed.ok()) return nullptr;
    product->packed_ = std::move(*packed);
    auto bound = BoundPipeline::Bind(*product->packed_, product->pipeline_, Type::kUInt8, 0);
    if (!bound.ok()) return nullptr;
    product->bound_ = std::move(*bound);
    return product;
  }

  explicit Product(int side)
      : side_(side), x_(Elements(side, kDepth), 3), w_(x_.size(), 5), y_(Elements(side, side)) {
    pipeline_.scaling = Scaling::kFloatHalfEven;
    pipeline_.scale = &kScale;
    pipeline_.output = Type::kInt8;
    pipeline_.clamp_min = -128;
    pipeline_.clamp_max = 127;
  }

  double MeasureGops(Context& context, double seconds) {
    const double fastest = Fastest(
        [&] {
          (void)Gemm(context, MakeConstMatrix(x_.data(), side_, kDepth), *packed_,
                     MakeMatrix(y_.data(), side_, side_), *bound_);
        },
        seconds);
    return 2.0 * side_ * side_ * kDepth / fastest / 1e9;
  }

 private:
  static constexpr float kScale = 1e-3f;
  static size_t Elements(int rows, int columns) {
    return static_cast<size_t>(rows) * static_cast<size_t>(columns);
  }

  int side_;
  std::vector<uint8_t> x_;
  std::vector<int8_t> w_;
  std::vector<int8_t> y_;
  StandardPipeline pipeline_;
  std::optional<PackedMatrix> packed_;
  std::optional<BoundPipeline> bound_;
};

PeakMeter::PeakMeter(const std::string& kernel, int threads) : context_(threads) {
  for (const int side : kSides) {
    if (auto product = Product::Make(side, kernel)) products_.push_back(std::move(product));
  }
}

PeakMeter::~PeakMeter() = default;

void PeakMeter::Measure() {
  for (const auto& product : products_) {
    gops_ = std::max(gops_, product->MeasureGops(context_, 0.03));
  }
}

double PeakMeter::MeasureReads() { return tools::MeasureReads(context_); }

double Gops(int64_t macs, double ms) {
  return ms > 0 ? 2.0 * static_cast<double>(macs) / (ms * 1e6) : 0;
}

}  // namespace intaglio::tools
