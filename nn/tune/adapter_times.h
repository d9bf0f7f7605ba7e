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

namespace intaglio::nn::tune {

// By type and number of elements: nothing else matters to an adapter.
class AdapterTimes {
 public:
  // Measures all tensors of a network that have a float32 form, in one network of adapters alone,
  // unless they are known.
  static Result<AdapterTimes> Measure(const Graph& graph, const PrepareOptions& prepare,
                                      KnownTimes& known, std::chrono::nanoseconds budget);

  // In nanoseconds; 0 for tensors that were not measured.
  double ToFloat(const Tensor& tensor) const { return Find(tensor).to_float; }
  double FromFloat(const Tensor& tensor) const { return Find(tensor).from_float; }

 private:
  struct Pair {
    double to_float = 0;
    double from_float = 0;
  };
  using Key = std::pair<Type, int64_t>;
  static Key KeyOf(const Tensor& tensor) { return {tensor.type, *CountElements(tensor.shape)}; }
  Pair Find(const Tensor& tensor) const {
    const auto found = times_.find(KeyOf(tensor));
    return found == times_.end() ? Pair{} : found->second;
  }

  std::map<Key, Pair> times_;
};

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_ADAPTER_TIMES_H_
