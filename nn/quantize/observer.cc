#include "intaglio/nn/quantize/observer.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "intaglio/nn/graph/printable.h"

namespace intaglio::nn::quantize {
namespace {

struct MethodName {
  Method method;
  const char* name;
};
constexpr MethodName kMethods[] = {{Method::kMinMax, "minmax"},
                                   {Method::kEma, "ema"},
                                   {Method::kPercentile, "percentile"},
                                   {Method::kMse, "mse"},
                                   {Method::kEntropy, "entropy"}};

constexpr bool NeedsHistogram(Method method) {
  return method != Method::kMinMax && method != Method::kEma;
}

constexpr size_t kLanes = 16;  // so that compilers may use vectors

// The least and the greatest of finite numbers, of which there is at least one.
RealRange Extremes(std::span<const float> values) {
  std::array<float, kLanes> low;
  std::array<float, kLanes> high;
  low.fill(values[0]);
  high.fill(values[0]);
  size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (size_t j = 0; j < kLanes; ++j) {
      const float x = values[i + j];
      low[j] = x < low[j] ? x : low[j];
      high[j] = x > high[j] ? x : high[j];
    }
  }
  for (; i < values.size(); ++i) {
    low[0] = std::min(low[0], values[i]);
    high[0] = std::max(high[0], values[i]);
  }
  return {*std::min_element(low.begin(), low.end()), *std::max_element(high.begin(), high.end())};
}

}  // namespace

const char* NameOf(Method method) {
  for (const MethodName& row : kMethods) {
    if (row.method == method) return row.name;
  }
  return "?";
}

Result<Method> MethodByName(std::string_view name) {
  std::string names;
  for (const MethodName& row : kMethods) {
    if (name == row.name) return row.method;
    names.append(names.empty() ? "" : ", ").append(row.name);
  }
  return InvalidArgument("there is no method '" + ShortName(name) + "'; there are " + names);
}

Status Check(const ObserverOptions& options) {
  if (!(options.ema_decay >= 0 && options.ema_decay < 1)) {
    return InvalidArgument("the decay of averages is " + std::to_string(options.ema_decay) +
                           ", but must be at least 0 and less than 1");
  }
  if (!(options.percentile > 0 && options.percentile <= 100)) {
    return InvalidArgument("the percentile is " + std::to_string(options.percentile) +
                           ", but must be more than 0 and at most 100");
  }
  if (options.bits < 2 || options.bits > 16) {
    return InvalidArgument("ranges are chosen for 2 to 16 bits, not for " +
                           std::to_string(options.bits));
  }
  return {};
}

std::optional<size_t> FindNotFinite(std::span<const float> values) {
  std::array<float, kLanes> sums = {};  // stay 0 if all are finite
  size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (size_t j = 0; j < kLanes; ++j) sums[j] += values[i + j] * 0;
  }
  for (; i < values.size(); ++i) sums[0] += values[i] * 0;
  if (std::all_of(sums.begin(), sums.end(), [](float sum) { return sum == 0; })) return {};
  const auto found =
      std::find_if_not(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
  return static_cast<size_t>(found - values.begin());
}

Status NotFinite(std::string_view tensor, size_t element, float value) {
  return InvalidArgument("tensor '" + ShortName(tensor) + "' has " +
                         (std::isnan(value) ? "NaN" : "an infinity") + " in element " +
                         std::to_string(element) + ", which no range can hold");
}

Observer::Observer(const ObserverOptions& options) : options_(options) {
  if (NeedsHistogram(options.method)) histogram_.emplace();
}

Status Observer::Observe(std::span<const float> batch, std::string_view tensor) {
  if (batch.empty()) return {};
  if (const std::optional<size_t> i = FindNotFinite(batch); i.has_value()) {
    return NotFinite(tensor, *i, batch[*i]);
  }
  const RealRange range = Extremes(batch);
  const double kept = count_ == 0 ? 0 : options_.ema_decay;
  average_min_ = kept * average_min_ + (1 - kept) * double{range.min};
  average_max_ = kept * average_max_ + (1 - kept) * double{range.max};
  extremes_ = Union(extremes_, range);
  count_ += batch.size();
  if (histogram_.has_value()) histogram_->Add(batch);
  return {};
}

RealRange Observer::Range() const {
  switch (options_.method) {
    case Method::kMinMax:
      return extremes_;
    case Method::kEma:
      return WithZero({static_cast<float>(average_min_), static_cast<float>(average_max_)});
    case Method::kPercentile:
      return histogram_->Percentile(options_.percentile);
    case Method::kMse:
      return histogram_->LeastSquares(options_.bits);
    case Method::kEntropy:
      return histogram_->LeastDivergence(options_.bits);
  }
  return extremes_;
}

std::vector<RealRange> ChannelRanges(std::span<const float> values, size_t channels, size_t inner) {
  std::vector<RealRange> ranges(channels);
  if (channels == 0 || inner == 0) return ranges;
  size_t channel = 0;
  for (size_t i = 0; i < values.size(); i += inner) {
    ranges[channel] = Union(ranges[channel], Extremes(values.subspan(i, inner)));
    channel = channel + 1 == channels ? 0 : channel + 1;
  }
  return ranges;
}

}  // namespace intaglio::nn::quantize
