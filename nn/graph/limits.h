// What a model may take of the machine. A file of a few hundred bytes can name tables, products and
// loops of any size. So everything that follows from the file is charged before it is allocated,
// and is refused if it exceeds a limit.
#ifndef INTAGLIO_NN_GRAPH_LIMITS_H_
#define INTAGLIO_NN_GRAPH_LIMITS_H_

#include <cstddef>
#include <cstdint>

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

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_GRAPH_LIMITS_H_
