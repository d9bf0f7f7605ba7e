// Intaglio as a contender.
#ifndef INTAGLIO_BENCH_GEMM_OURS_H_
#define INTAGLIO_BENCH_GEMM_OURS_H_

#include <string>

#include "intaglio/bench/gemm/engine.h"
#include "intaglio/gemm/context.h"

namespace intaglio::bench {

// Activations are the left-hand side, read where they lie; weights the right-hand side, packed
// before for `kernel` (empty: the best one), and standard pipelines bound to them. Where both sides
// change, neither is packed before and the kernel is the best one, whatever the name.
struct OurWay {
  std::string kernel;
  Arithmetic arithmetic;
  bool custom_pipeline = false;  // custom_pipeline.h; half-even bytes only
  bool fit = false;              // of kDouble: arithmetic fitted and proven when it is bound
  bool words = false;            // panels for int32 results, of kernels that have such
};

// `problem` and `context` must outlive the engine.
MadeEngine MakeOurs(const Problem& problem, const OurWay& way, Context& context);

}  // namespace intaglio::bench

#endif  // INTAGLIO_BENCH_GEMM_OURS_H_
