// How long it takes to change tensors between integers and float32.
#ifndef INTAGLIO_NN_TUNE_ADAPTER_TIMES_H_
#define INTAGLIO_NN_TUNE_ADAPTER_TIMES_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <utility>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/nn/tune/known_times.h"
#include "intaglio/nn/tune/other_form.h"
#include "intaglio/nn/tune/schedule.h"

namespace intaglio::nn::tune {

// By type of the integers and number of elements: nothing else matters to an adapter.
class AdapterTimes {
 public:
  // Measures all tensors of a network that have both forms, in one network of adapters alone,
  // unless they are known.
  static Result<AdapterTimes> Measure(const OtherForm& form, const PrepareOptions& prepare,
                                      KnownTimes& known, const Schedule& schedule,
                                      std::chrono::nanoseconds budget);

  // In nanoseconds, to the other form or back; 0 for tensors that were not measured.
  double Of(const OtherForm& form, TensorId tensor, bool to_other) const;

 private:
  struct Pair {
    double to_float = 0;
    double from_float = 0;
  };
  using Key = std::pair<Type, int64_t>;
  static Key KeyOf(const OtherForm& form, TensorId tensor);

  std::map<Key, Pair> times_;
};

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_ADAPTER_TIMES_H_
