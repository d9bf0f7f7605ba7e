// How products are cut: the part of the cache for rows, and tasks for several threads.
#ifndef INTAGLIO_GEMM_PLAN_CUT_FOR_THREADS_H_
#define INTAGLIO_GEMM_PLAN_CUT_FOR_THREADS_H_

#include <cstddef>

#include "intaglio/gemm/plan/product.h"
#include "intaglio/gemm/run/tasks.h"

namespace intaglio {

// The part of L2 that the rows of a task may take: 8 is an eighth.
size_t RowsPartOfL2(const Product& product);

// How many of `threads` are worth waking for a product.
int ThreadsWorth(const Product& product, int threads);

// Cuts for the several threads of `blocking`, by what the cuts cost: sets row_tasks, panel_tasks
// and row_slices. Rows have `steps` steps; no task has more than `most_steps` of them, nor more
// than blocking.panels panels.
void CutForThreads(const Product& product, int steps, int most_steps, Blocking& blocking);

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_PLAN_CUT_FOR_THREADS_H_
