#include "intaglio/gemm/plan/cut_for_threads.h"

#include <algorithm>
#include <limits>

#include "intaglio/gemm/machine/cpu.h"

namespace intaglio {
namespace {

int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Clock cycles, roughly: an instruction for each vector and group of depth of the rows that it
// multiplies at once, few as they may be; and the results.
int64_t CyclesOf(const Product& p) {
  const ProductCosts& costs = p.kernel->costs;
  const int64_t rows = p.row_count();
  const int64_t lines = DivideUp(rows, costs.rows_at_once);
  const int64_t vectors = DivideUp(p.channel_count(), p.panels->format.lanes);
  const int64_t results = rows * p.channel_count();
  return lines * vectors * p.panels->groups + results / costs.results_per_cycle;
}
// A second thread wins from some 56^3 on, by AMX from 128^3.
constexpr int64_t kLeastCyclesOfThread = 3 << 10;  // for which another one is woken
constexpr int64_t kLeastCyclesOfTasks = 1 << 16;   // for which a thread gets more than one

// What cuts for threads cost, in clock cycles, roughly.
class CutCosts {
 public:
  CutCosts(const Product& p, const Blocking& b)
      : in_place_(b.in_place),
        rows_stay_(b.rows_stay),
        tile_(p.kernel->max_rows),
        panels_(static_cast<int>(p.panels->ranges.size())),
        panel_bytes_(static_cast<int64_t>(p.panels->data.bytes()) / panels_),
        weights_from_memory_(p.weights_from_memory) {
    const int64_t steps = DivideUp(p.panels->groups, p.kernel->costs.groups_at_once);
    constexpr int kResults = 4;  // to finish a vector of them
    row_ = p.panels->format.vectors * (steps + kResults);
    constexpr int kPacked = 8;  // bytes a cycle
    pack_ = p.padded_depth() / kPacked;
    if (!p.keep_rows_per_thread) return;
    constexpr int kFromCore = 3;  // bytes a cycle
    const int64_t results = int64_t{p.row_count()} * p.channel_count();
    const int64_t read = p.rows.is_im2col ? static_cast<int64_t>(ImageBytes(p.rows.im2col))
                                          : int64_t{p.row_count()} * p.depth();
    shared_rows_ = (read + results / b.threads) * (b.threads - 1) / b.threads / kFromCore;
  }

  // Counts the products of a thread's tasks. Each task has `rows` by `panels` panels, and
  // `panel_tasks` of them share their rows. A panel costs half a tile to start with.
  int64_t Products(int tasks, int64_t rows, int panels, int panel_tasks) const {
    const int64_t products = row_ * tasks * panels * (rows + tile_ / 2);
    if (in_place_) return products;
    const int packs = rows_stay_ ? (tasks + panel_tasks - 1) / panel_tasks : tasks;
    return products + packs * rows * pack_;
  }

  // Panels come from beyond L2, but for what that keeps from one call to the next.
  int64_t Fetching(int64_t panels) const {
    constexpr int kFromMemory = 8;  // bytes a cycle
    const int64_t bytes = panel_bytes_ * std::min<int64_t>(panels, panels_);
    return weights_from_memory_ || bytes > static_cast<int64_t>(Cpu().l2_bytes)
               ? bytes / kFromMemory
               : 0;
  }
  int64_t FetchingAll() const { return Fetching(panels_); }

  // Rows come from the caches of other cores, and results, in the next operator, go there.
  int64_t shared_rows() const { return shared_rows_; }

 private:
  bool in_place_;
  bool rows_stay_;
  int tile_;
  int panels_;
  int64_t panel_bytes_;
  bool weights_from_memory_;
  int64_t row_;   // by a panel, and finished
  int64_t pack_;  // a row
  int64_t shared_rows_ = 0;
};

}  // namespace

// Kernels with terms of their own look at a whole panel, too, before they multiply by it.
size_t RowsPartOfL2(const Product& p) {
  const int asked = p.cutting.rows_part_of_l2;
  if (asked > 0) return static_cast<size_t>(asked);
  return p.kernel->own_terms == nullptr ? 8 : 4;
}

int ThreadsWorth(const Product& p, int threads) {
  if (threads <= 1) return 1;
  return static_cast<int>(std::clamp<int64_t>(CyclesOf(p) / kLeastCyclesOfThread, 1, threads));
}

// There are up to four tasks a thread, and two at least but of small products, so that threads
// which are held up do not hold up the others; those that end the longest thread first are taken.
// Where the row tasks can be shared out evenly, each thread may keep to rows of its own.
void CutForThreads(const Product& product, int steps, int most_steps, Blocking& b) {
  const CutCosts costs(product, b);
  const int threads = b.threads;
  const int least_tasks = CyclesOf(product) < kLeastCyclesOfTasks ? threads : 2 * threads;
  const auto panels = static_cast<int>(product.panels->ranges.size());
  const int most_panels = b.panels;
  int64_t least = std::numeric_limits<int64_t>::max();
  const auto consider = [&](int r, int e, int slices, int64_t longest) {
    if (longest >= least) return;
    least = longest;
    b.row_tasks = r;
    b.panel_tasks = e;
    b.row_slices = slices;
  };
  const auto parts = [](int count, int most) { return (count + most - 1) / most; };
  const int fewest_rows = parts(steps, most_steps);
  const int fewest_panels = parts(panels, most_panels);
  const int most_tasks = std::max(4, parts(fewest_rows * fewest_panels, threads)) * threads;
  for (int r = fewest_rows; r <= std::min(steps, most_tasks); ++r) {
    const int64_t rows = int64_t{parts(steps, r)} * b.row_step;
    const bool even = r % threads == 0;
    const int first = std::max(fewest_panels, std::min(panels, parts(least_tasks, r)));
    for (int e = first; e <= std::min(panels, std::max(first, most_tasks / r)); ++e) {
      const int tasks = parts(r * e, threads);
      const int panels_of_task = parts(panels, e);
      const int64_t products = costs.Products(tasks, rows, panels_of_task, e);
      const int64_t fetching = costs.Fetching(int64_t{tasks} * panels_of_task);
      consider(r, e, 1, std::max(products, fetching) + costs.shared_rows());
      if (even) consider(r, e, threads, std::max(products, costs.FetchingAll()));
    }
  }
}

}  // namespace intaglio
