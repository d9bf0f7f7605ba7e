// A product, cut into tasks that threads run: each some rows by some panels, such that their data
// stay in the caches.
#ifndef INTAGLIO_GEMM_RUN_TASKS_H_
#define INTAGLIO_GEMM_RUN_TASKS_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/gemm/context.h"
#include "intaglio/gemm/plan/product.h"

namespace intaglio {

// From `first` up to `last`.
struct Range {
  int first;
  int last;
};

// Threads take tasks in order, each a part of its own first (gemm/run/task_parts.h). All zero for a
// result without elements.
struct Blocking {
  int rows;       // of a task at most: all, or a multiple of the steps that they are cut in
  int panels;     // panels of a task at most
  int row_tasks;  // of whole steps
  int row_step;
  int panel_tasks;
  int threads;  // worth waking for them
  int tasks() const { return row_tasks * panel_tasks; }

  // Parts of the rows that are done one after the other, each by all panels: one for each thread
  // that has rows of its own, else one. A divisor of row_tasks.
  int row_slices;
  // Within them neighbouring tasks share their rows where these are packed, which is then done
  // once, or all panels stay in L2 anyway; else their panels, and the rows stream.
  bool rows_stay;
  int row_task(int task) const {
    const int rows = row_tasks / row_slices;
    const int slice = task / (rows * panel_tasks);
    const int within = task % (rows * panel_tasks);
    return slice * rows + (rows_stay ? within / panel_tasks : within % rows);
  }
  int panel_task(int task) const {
    const int rows = row_tasks / row_slices;
    const int within = task % (rows * panel_tasks);
    return rows_stay ? within % panel_tasks : within / rows;
  }

  bool in_place;         // the rows are read where they lie
  bool windows;          // or where they overlap (pack/image_lines.h)
  bool fetches_panels;   // from beyond L2: the hardware wants to be told
  bool fetches_rows;     // the same
  size_t term_bytes;     // of the kernel's own terms of rows, per thread
  size_t row_bytes;      // of packed rows, per thread
  size_t operand_bytes;  // of a panel widened, per thread
  size_t scratch_bytes;  // per thread
};
Blocking Block(const Product& product, int threads);

// The rows and the panels of a task: parts as even as steps of rows allow.
Range RowsOf(const Product& product, const Blocking& blocking, int row_task);
Range PanelsOf(const Product& product, const Blocking& blocking, int panel_task);

// At least as many as any kernel's tiles have.
inline constexpr int kScratchTileRows = 64;

// A thread's scratch.
struct Scratch {
  std::byte* tile;      // kScratchTileRows x kMaxPanelWidth int32
  int32_t* sums;        // of the rows, or where windows begin
  int32_t* terms;       // the kernel's own; null where it has none
  std::byte* rows;      // packed
  std::byte* operands;  // of a panel; null where the kernel takes it as packed
};
// Cuts `memory`, scratch_bytes of it aligned to 64, into its parts.
Scratch CarveScratch(void* memory, const Blocking& blocking);

// Computes the result, cut as told. The only error is a lack of memory, found before dst is
// touched.
Status Execute(Context& context, const Product& product, const Blocking& blocking);

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_RUN_TASKS_H_
