// What a model may take of the machine. A file of a few hundred bytes can name tables, products and
// loops of any size: all that follows from it is charged before it is allocated, and refused where
// a limit ends it.
#ifndef INTAGLIO_NN_LIMITS_H_
#define INTAGLIO_NN_LIMITS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "intaglio/fixedpoint/status.h"

namespace intaglio::nn {

// The defaults are far above what real models need.
struct Limits {
  // Bytes of memory: what reading a file computes, what the layers pack, tables, copies and the
  // arena. 0: 4 GiB, and 16 bytes for each byte of the file or of a graph's constants. Neither the
  // file itself nor the caller's constants count.
  size_t max_bytes = 0;
  // Multiply-accumulates of one run, or other steps of about the same cost: elements read and
  // written, pooled, compared. A loop counts as one round; see max_rounds.
  int64_t max_work = 1'000'000'000'000'000;
  // A run whose loops would take more rounds than this, those of loops inside of loops counted too,
  // ends with an error. So does one whose rounds may come to more than max_work.
  int64_t max_rounds = 1'000'000;
};

// What has been taken so far. Threads may charge it at once.
class Ledger {
 public:
  // model_bytes: of the file, or of the constants.
  Ledger(const Limits& limits, size_t model_bytes);

  // Charges memory before it is allocated. An error, which has charged nothing, says how much was
  // wanted and how much may be taken.
  Status Charge(size_t bytes);
  // Memory that was charged and is free again, or was not needed.
  void Return(size_t bytes) { taken_ -= bytes; }

  // Now; the most is what may be taken.
  size_t taken() const { return taken_; }
  size_t most() const { return most_; }

 private:
  const size_t most_;
  std::atomic<size_t> taken_ = 0;
};

// The sum and the product of sizes that are not negative; the largest number where there is none.
int64_t AddSaturated(int64_t a, int64_t b);
int64_t MultiplySaturated(int64_t a, int64_t b);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_LIMITS_H_
