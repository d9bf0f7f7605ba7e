#include "intaglio/gemm/blocking.h"

#include <algorithm>
#include <limits>

#include "intaglio/gemm/cpu.h"
#include "intaglio/pack/aligned_buffer.h"
#include "intaglio/pack/windows.h"

namespace intaglio {
namespace {

constexpr size_t kTileBytes = size_t{kScratchTileRows} * kMaxPanelWidth * sizeof(int32_t);

// Part `index` of `parts` even ones.
Range Part(int count, int index, int parts) {
  const auto begin = [&](int i) { return static_cast<int>(int64_t{count} * i / parts); };
  return {begin(index), begin(index + 1)};
}

size_t SumBytes(const Blocking& b) {
  return RoundUp(static_cast<size_t>(b.rows) * sizeof(int32_t), 64);
}

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

// The tiles that rows are cut in. Some kernels have them as high as a task asks; but where there
// are many of them tasks of whole ones leave fewer over, which take as long.
int RowStep(const Product& p, int threads) {
  constexpr int kManyTiles = 8;  // of a thread
  const int tile = p.kernel->max_rows;
  const int step = p.kernel->costs.row_step;
  const bool few = threads > 1 && p.row_count() / threads < kManyTiles * tile;
  return few && step > 0 ? step : tile;
}

// What cuts for threads cost, in clock cycles, roughly.
class CutCosts {
 public:
  CutCosts(const Product& p, const Blocking& b)
      : in_place_(b.in_place),
        rows_stay_(b.rows_stay),
        tile_(p.kernel->max_rows),
        extents_(static_cast<int>(p.panels->extents.size())),
        panel_bytes_(static_cast<int64_t>(p.panels->data.bytes()) / extents_),
        cold_(p.cold) {
    const int64_t steps = DivideUp(p.panels->groups, p.kernel->costs.groups_at_once);
    constexpr int kResults = 4;  // to finish a vector of them
    row_ = p.panels->format.vectors * (steps + kResults);
    constexpr int kPacked = 8;  // bytes a cycle
    pack_ = p.padded_depth() / kPacked;
    if (!p.chained) return;
    constexpr int kFromCore = 3;  // bytes a cycle
    const int64_t results = int64_t{p.row_count()} * p.channel_count();
    const int64_t read = p.rows.is_im2col ? static_cast<int64_t>(ImageBytes(p.rows.im2col))
                                          : int64_t{p.row_count()} * p.depth();
    shared_rows_ = (read + results / b.threads) * (b.threads - 1) / b.threads / kFromCore;
  }

  // Of a thread's tasks, each of `rows` by `extents` panels, where those of the same rows are
  // `extent_tasks`. A panel costs half a tile to start with.
  int64_t Products(int tasks, int64_t rows, int extents, int extent_tasks) const {
    const int64_t products = row_ * tasks * extents * (rows + tile_ / 2);
    if (in_place_) return products;
    const int packs = rows_stay_ ? (tasks + extent_tasks - 1) / extent_tasks : tasks;
    return products + packs * rows * pack_;
  }

  // Panels come from beyond L2, but for what that keeps from one call to the next.
  int64_t Fetching(int64_t extents) const {
    constexpr int kFromMemory = 8;  // bytes a cycle
    const int64_t bytes = panel_bytes_ * std::min<int64_t>(extents, extents_);
    return cold_ || bytes > static_cast<int64_t>(Cpu().l2_bytes) ? bytes / kFromMemory : 0;
  }
  int64_t FetchingAll() const { return Fetching(extents_); }

  // Rows come from the caches of other cores, and results, in the next operator, go there.
  int64_t shared_rows() const { return shared_rows_; }

 private:
  bool in_place_;
  bool rows_stay_;
  int tile_;
  int extents_;
  int64_t panel_bytes_;
  bool cold_;
  int64_t row_;   // by a panel, and finished
  int64_t pack_;  // a row
  int64_t shared_rows_ = 0;
};

// Cuts for several threads, no task having more than `most_steps` steps of rows and
// `most_extents` panels.
//
// There are up to four tasks a thread, and two at least but of small products, so that threads
// which are held up do not hold up the others; those that end the longest thread first are taken.
// Where the row tasks can be shared out evenly, each thread may keep to rows of its own.
void CutForThreads(const CutCosts& costs, int threads, int least_tasks, int steps, int extents,
                   int most_steps, int most_extents, Blocking& b) {
  int64_t least = std::numeric_limits<int64_t>::max();
  const auto consider = [&](int r, int e, int slices, int64_t longest) {
    if (longest >= least) return;
    least = longest;
    b.row_tasks = r;
    b.extent_tasks = e;
    b.row_slices = slices;
  };
  const auto parts = [](int count, int most) { return (count + most - 1) / most; };
  const int fewest_rows = parts(steps, most_steps);
  const int fewest_extents = parts(extents, most_extents);
  const int most_tasks = std::max(4, parts(fewest_rows * fewest_extents, threads)) * threads;
  for (int r = fewest_rows; r <= std::min(steps, most_tasks); ++r) {
    const int64_t rows = int64_t{parts(steps, r)} * b.row_step;
    const bool even = r % threads == 0;
    const int first = std::max(fewest_extents, std::min(extents, parts(least_tasks, r)));
    for (int e = first; e <= std::min(extents, std::max(first, most_tasks / r)); ++e) {
      const int tasks = parts(r * e, threads);
      const int task_extents = parts(extents, e);
      const int64_t products = costs.Products(tasks, rows, task_extents, e);
      const int64_t fetching = costs.Fetching(int64_t{tasks} * task_extents);
      consider(r, e, 1, std::max(products, fetching) + costs.shared_rows());
      if (even) consider(r, e, threads, std::max(products, costs.FetchingAll()));
    }
  }
}

bool FetchesPanels(const Product& p) {
  const size_t bytes = p.panels->data.bytes();
  if (bytes <= Cpu().l2_bytes && !(p.cold && p.kernel->costs.fetches_cold_panels)) return false;
  switch (Cpu().hints) {
    case CpuInfo::Hints::kAlways:
      return true;
    case CpuInfo::Hints::kForVectors:
      return p.row_count() == 1 && bytes <= 8 * Cpu().l2_bytes;
    case CpuInfo::Hints::kNever:
      break;
  }
  return false;
}

// Whether a convolution's rows are read where they overlap: where panels ask for it, or where it
// pays, tiles can, and kernel rows end with depth groups.
bool ReadsWindows(const Product& p, const Blocking& b) {
  if (p.panels->runs > 1) return true;
  if (!p.tiles_take_windows || !p.rows.is_im2col || p.panels->has_zero_points ||
      p.row_count() < p.kernel->max_rows || b.fetches_panels) {
    return false;
  }
  const Im2col& v = p.rows.im2col;
  return v.kernel_width * v.group_channels % p.panels->format.depth_step == 0 && WindowsPay(v);
}

// Bytes that a row adds to those before.
size_t RowBytes(const Product& p, const Blocking& b) {
  const size_t element = RowElementBytes(p.kernel->row_format);
  if (!b.windows) return static_cast<size_t>(p.padded_depth()) * element;
  const Im2col& v = p.rows.im2col;
  return static_cast<size_t>(v.group_channels) * static_cast<size_t>(v.stride_height) *
         static_cast<size_t>(v.stride_width) * element;
}

size_t PackedBytes(const Product& p, const Blocking& b, size_t padded_depth) {
  if (b.in_place) return 0;
  const RowFormat format = p.kernel->row_format;
  if (!b.windows) return PackedRowsBytes(format, b.rows, padded_depth);
  const int gathered = p.tiles_take_windows ? std::min(b.rows, p.kernel->max_rows) : b.rows;
  return RoundUp(static_cast<size_t>(WindowBytes(p.rows.im2col, format, b.rows)), 64) +
         PackedRowsBytes(format, gathered, padded_depth);
}

void SetScratch(const Product& p, size_t padded_depth, size_t panel_bytes, Blocking& b) {
  const Kernel& kernel = *p.kernel;
  b.row_bytes = RoundUp(PackedBytes(p, b, padded_depth), 64);
  b.operand_bytes = kernel.row_format == RowFormat::kWidened16 ? 2 * panel_bytes : 0;
  b.scratch_bytes = kTileBytes + SumBytes(b) + b.row_bytes + b.operand_bytes;
}

}  // namespace

int ThreadsWorth(const Product& p, int threads) {
  if (threads <= 1) return 1;
  return static_cast<int>(std::clamp<int64_t>(CyclesOf(p) / kLeastCyclesOfThread, 1, threads));
}

Blocking Block(const Product& p, int threads) {
  Blocking b{};
  if (p.row_count() == 0 || p.channel_count() == 0) return b;
  const Kernel& kernel = *p.kernel;
  const auto padded_depth = static_cast<size_t>(p.padded_depth());
  const size_t panel_bytes =
      std::max<size_t>(1, padded_depth * static_cast<size_t>(p.panels->format.width()));
  const auto extents = static_cast<int>(p.panels->extents.size());

  b.threads = threads = ThreadsWorth(p, threads);
  b.row_step = RowStep(p, threads);
  b.in_place = p.rows.ServesInPlace(kernel.row_format, p.padded_depth());
  // Of L2 rows have what panels and results leave.
  const size_t all_rows = static_cast<size_t>(p.row_count()) * static_cast<size_t>(p.depth());
  b.fetches_panels = FetchesPanels(p);
  b.fetches_rows =
      Cpu().hints == CpuInfo::Hints::kAlways && b.in_place && all_rows > Cpu().l2_bytes / 4 * 3;
  b.windows = ReadsWindows(p, b);
  const size_t row_bytes = std::max<size_t>(1, RowBytes(p, b));
  // A task's panels stay in L2 beside its rows, which every panel reads again.
  const size_t l2_bytes = Cpu().l2_bytes;
  const size_t panels_room = l2_bytes / 2;
  const size_t rows_room = std::min(l2_bytes / 8, kMaxBlockRows * row_bytes);
  const auto row_count = static_cast<size_t>(p.row_count());
  if (threads == 1 && row_count * row_bytes <= rows_room &&
      static_cast<size_t>(extents) * panel_bytes <= panels_room) {
    // One task: of a small product the divisions below would be a good part.
    b.rows = p.row_count();
    b.extents = extents;
    b.row_tasks = b.extent_tasks = b.row_slices = 1;
    b.rows_stay = true;
    SetScratch(p, padded_depth, panel_bytes, b);
    return b;
  }
  b.extents = static_cast<int>(
      std::clamp<size_t>(panels_room / panel_bytes, 1, static_cast<size_t>(extents)));
  const auto step = static_cast<size_t>(b.row_step);
  const auto steps = static_cast<int>((row_count + step - 1) / step);
  const auto most_rows =
      RoundUp(std::max<size_t>(rows_room / row_bytes, 1), static_cast<size_t>(kernel.max_rows));
  const auto most_steps = static_cast<int>(most_rows / step);
  b.row_tasks = (steps + most_steps - 1) / most_steps;
  b.extent_tasks = (extents + b.extents - 1) / b.extents;
  b.row_slices = 1;
  // Reading panels again, beside products, takes less than packing rows again: 3 to 4 % of 2048^3
  // and of 512x49x4608 (Zen 5).
  b.rows_stay = b.extent_tasks == 1 || !(b.in_place || kernel.costs.keeps_panels);
  if (threads > 1) {
    const int least_tasks = CyclesOf(p) < kLeastCyclesOfTasks ? threads : 2 * threads;
    CutForThreads(CutCosts(p, b), threads, least_tasks, steps, extents, most_steps, b.extents, b);
  }
  b.rows = (steps + b.row_tasks - 1) / b.row_tasks * b.row_step;
  b.extents = (extents + b.extent_tasks - 1) / b.extent_tasks;
  SetScratch(p, padded_depth, panel_bytes, b);
  return b;
}

Range RowsOf(const Product& p, const Blocking& b, int row_task) {
  const int step = b.row_step;
  const int count = (p.row_count() - 1) / step + 1;
  const Range steps = Part(count, row_task, b.row_tasks);
  return {steps.first * step, steps.last == count ? p.row_count() : steps.last * step};
}

Range ExtentsOf(const Product& p, const Blocking& b, int extent_task) {
  return Part(static_cast<int>(p.panels->extents.size()), extent_task, b.extent_tasks);
}

Scratch CarveScratch(void* memory, const Blocking& blocking) {
  auto* tile = static_cast<std::byte*>(memory);
  auto* sums = tile + kTileBytes;
  auto* rows = sums + SumBytes(blocking);
  auto* operands = blocking.operand_bytes == 0 ? nullptr : rows + blocking.row_bytes;
  return {tile, reinterpret_cast<int32_t*>(sums), rows, operands};
}

}  // namespace intaglio
