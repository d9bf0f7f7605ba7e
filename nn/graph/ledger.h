// Counts the bytes that a model has taken of its memory limit.
#ifndef INTAGLIO_NN_GRAPH_LEDGER_H_
#define INTAGLIO_NN_GRAPH_LEDGER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/limits.h"

namespace intaglio::nn {

// Several threads may charge a ledger at once.
class Ledger {
 public:
  // `model_bytes` is the size of the file, or of the constants.
  Ledger(const Limits& limits, size_t model_bytes);

  // Charges memory before it is allocated. An error charges nothing, and says how much was wanted
  // and how much may be taken.
  Status Charge(size_t bytes);
  // Returns bytes that were charged and are free again, or were not needed.
  void Return(size_t bytes) { taken_ -= bytes; }

  // What is taken now, and the most that may be taken.
  size_t taken() const { return taken_; }
  size_t most() const { return most_; }

 private:
  const size_t most_;
  std::atomic<size_t> taken_ = 0;
};

// The sum and the product of sizes that are not negative. Both return the largest number if the
// result overflows.
int64_t AddSaturated(int64_t a, int64_t b);
int64_t MultiplySaturated(int64_t a, int64_t b);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_GRAPH_LEDGER_H_
