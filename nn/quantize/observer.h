// Watches the numbers of one tensor, batch by batch, and says which range of them to quantize. The
// memory that it takes does not depend on how many numbers it has seen.
#ifndef INTAGLIO_NN_QUANTIZE_OBSERVER_H_
#define INTAGLIO_NN_QUANTIZE_OBSERVER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/quantize/histogram.h"
#include "intaglio/nn/quantize/range.h"

namespace intaglio::nn::quantize {

// How a range follows from the numbers. All results hold 0.
enum class Method : uint8_t {
  kMinMax,      // all numbers
  kEma,         // moving averages of each batch's least and greatest number (Jacob et al., 3.1)
  kPercentile,  // Histogram::Percentile
  kMse,         // Histogram::LeastSquares
  kEntropy,     // Histogram::LeastDivergence
};

const char* NameOf(Method method);  // "minmax"
// The error lists the names that exist.
Result<Method> MethodByName(std::string_view name);

struct ObserverOptions {
  Method method = Method::kMinMax;
  // kEma: average = decay * average + (1 - decay) * batch. The first batch is the first average.
  double ema_decay = 0.95;
  // kPercentile: the share of the numbers that lies in the range, in percent.
  double percentile = 99.99;
  // kMse and kEntropy: there are 2^bits levels.
  int bits = 8;

  bool operator==(const ObserverOptions&) const = default;
};

// It is an error if an option is out of its bounds.
Status Check(const ObserverOptions& options);

class Observer {
 public:
  explicit Observer(const ObserverOptions& options = {});

  // Takes a batch. NaN and infinities are errors that name the tensor and the element; then the
  // batch is not counted. A batch without numbers changes nothing.
  Status Observe(std::span<const float> batch, std::string_view tensor);

  uint64_t count() const { return count_; }
  // The least and the greatest of all numbers so far and 0, whatever the method.
  RealRange extremes() const { return extremes_; }
  // By the method. A tensor that has shown no number but 0 has {0, 0}.
  RealRange Range() const;

 private:
  ObserverOptions options_;
  uint64_t count_ = 0;
  RealRange extremes_;
  double average_min_ = 0;
  double average_max_ = 0;
  std::optional<Histogram> histogram_;
};

// The range of each channel of a constant, with 0 in it; exact. `values` is dense; `channels` is
// the extent of the channel dimension, `inner` the number of elements behind each of its indices.
std::vector<RealRange> ChannelRanges(std::span<const float> values, size_t channels, size_t inner);

// The first element that is NaN or infinite, if there is one.
std::optional<size_t> FindNotFinite(std::span<const float> values);
// The error that says so.
Status NotFinite(std::string_view tensor, size_t element, float value);

}  // namespace intaglio::nn::quantize

#endif  // INTAGLIO_NN_QUANTIZE_OBSERVER_H_
