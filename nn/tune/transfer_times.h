// How long it takes to copy tensors to the memory of a device, and back.
#ifndef INTAGLIO_NN_TUNE_TRANSFER_TIMES_H_
#define INTAGLIO_NN_TUNE_TRANSFER_TIMES_H_

#include <chrono>
#include <cstddef>
#include <map>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/runtime/backend.h"
#include "intaglio/nn/tune/known_times.h"
#include "intaglio/nn/tune/schedule.h"

namespace intaglio::nn::tune {

// By the number of bytes: nothing else matters to a copy.
class TransferTimes {
 public:
  // Measures copies of these sizes, unless they are known. Each copy is waited for.
  static Result<TransferTimes> Measure(const std::vector<size_t>& sizes, const Backend& device,
                                       KnownTimes& known, const Schedule& schedule,
                                       std::chrono::nanoseconds budget);

  // In nanoseconds; 0 for sizes that were not measured.
  double ToDevice(size_t bytes) const;
  double ToHost(size_t bytes) const;

 private:
  struct Pair {
    double to_device = 0;
    double to_host = 0;
  };

  std::map<size_t, Pair> times_;
};

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_TRANSFER_TIMES_H_
