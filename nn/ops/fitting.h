// When it is worth to look for a fitted arithmetic.
#ifndef INTAGLIO_NN_OPS_FITTING_H_
#define INTAGLIO_NN_OPS_FITTING_H_

#include "intaglio/gemm/bound_pipeline.h"
#include "intaglio/pack/im2col.h"

namespace intaglio::nn {

// A fit takes microseconds per channel once and saves some 20 picoseconds per result: layers of few
// pixels would need thousands of runs to win that back, and most channels are in those.
inline BindOptions FitFor(const Im2col& view) {
  constexpr int kManyPixels = 3000;
  return {.fit = Rows(view) >= kManyPixels};
}

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_FITTING_H_
