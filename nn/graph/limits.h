// What a model may take of the machine. A file of a few hundred bytes can name tables, products and
// loops of any size. So everything that follows from the file is charged before it is allocated,
// and is refused if it exceeds a limit.
#ifndef INTAGLIO_NN_GRAPH_LIMITS_H_
#define INTAGLIO_NN_GRAPH_LIMITS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "intaglio/fixedpoint/status.h"

namespace intaglio::nn {

// The defaults are far above what real models need.
struct Limits {
  // Bytes of memory: everything that is computed while a file is read, packed weights, tables,
  // copies and the arena. 0 stands for 4 GiB plus 16 bytes for each byte of the file or of a
  // graph's constants. Neither the file itself nor the caller's constants count.
  size_t max_bytes = 0;
  // Multiply-accumulates of one run, and other steps of about the same cost: elements that are
  // read, written, pooled or compared. A loop counts as one round; see max_rounds.
  int64_t max_work = 1'000'000'000'000'000;
  // A run ends with an error if its loops would take more rounds than this; rounds of loops inside
  // loops count too. It also ends with an error if its rounds may come to more than max_work.
  int64_t max_rounds = 1'000'000;
};

// What has been taken so far. Several threads may charge a ledger at once.
class Ledger {
 public:
  // `model_bytes` is the size of the file, or of the constants.
  Ledger(const Limits& limits, size_t model_bytes);

  // Charges memory before it is allocated. An error charges nothing, and says how much was wanted
  // and how much may be taken.
  Status Charge(size_t bytes);
  // Returns memory that was charged and is free again, or was not needed.
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

#endif  // INTAGLIO_NN_GRAPH_LIMITS_H_
