// The handle of a context, and pools of threads that come from C.
#ifndef INTAGLIO_BINDINGS_C_CONTEXT_H_
#define INTAGLIO_BINDINGS_C_CONTEXT_H_

#include "intaglio/bindings/c/intaglio.h"
#include "intaglio/fixedpoint/status.h"
#include "intaglio/gemm/context.h"

struct it_context {
  intaglio::Context context;
};

namespace intaglio::c {

// Between 1 and 1024: what a program can mean.
Status CheckThreads(int32_t threads);

ParallelFor PoolOf(it_parallel_for parallel_for, void* pool);

}  // namespace intaglio::c

#endif  // INTAGLIO_BINDINGS_C_CONTEXT_H_
