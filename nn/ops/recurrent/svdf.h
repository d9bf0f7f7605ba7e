// SVDF: a dense layer whose results pass through filters over time. What its arithmetics share.
#ifndef INTAGLIO_NN_OPS_RECURRENT_SVDF_H_
#define INTAGLIO_NN_OPS_RECURRENT_SVDF_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "intaglio/nn/ops/linear/linear.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

// The inputs of a layer.
namespace svdf {
enum Input : size_t { kX, kFeature, kTime, kBias, kState };
}  // namespace svdf

struct SvdfSizes {
  int batch = 0;
  int inputs = 0;
  int filters = 0;
  int memory = 0;
  int rank = 1;

  int units() const { return filters / rank; }
  ptrdiff_t results() const { return ptrdiff_t{batch} * filters; }
  int64_t macs() const { return CountMacs({batch, filters}, int64_t{inputs} + memory); }
};

// Drops the oldest result of every filter, and appends the newest, which takes the place of the
// next filter's oldest when all move by one.
template <class T>
void Append(const T* newest, ptrdiff_t filters, int memory, T* state) {
  if (filters == 0) return;
  std::memmove(state, state + 1, sizeof(T) * static_cast<size_t>(filters * memory - 1));
  for (ptrdiff_t f = 0; f < filters; ++f) state[f * memory + memory - 1] = newest[f];
}

// Of arguments that were checked: x is int8; x is float32.
Result<PreparedLayer> PrepareIntegerSvdf(const LayerView& layer, const SvdfSizes& sizes,
                                         const LayerOptions& options);
Result<PreparedLayer> PrepareFloatSvdf(const LayerView& layer, const SvdfSizes& sizes,
                                       const LayerOptions& options);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_RECURRENT_SVDF_H_
