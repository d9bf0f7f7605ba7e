#include "intaglio/gemm/run/tasks.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "intaglio/fixedpoint/float_environment.h"
#include "intaglio/fixedpoint/registers.h"
#include "intaglio/gemm/machine/cores.h"
#include "intaglio/gemm/machine/cpu.h"
#include "intaglio/gemm/plan/cut_for_threads.h"
#include "intaglio/gemm/run/task_parts.h"
#include "intaglio/gemm/run/window_rows.h"
#include "intaglio/gemm/run/write_tile.h"
#include "intaglio/kernels/params_list.h"
#include "intaglio/pack/aligned_buffer.h"
#include "intaglio/pack/first_byte.h"
#include "intaglio/pack/image_lines.h"

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

// The tiles that rows are cut in. Some kernels have them as high as a task asks; but where there
// are many of them tasks of whole ones leave fewer over, which take as long.
int RowStep(const Product& p, int threads) {
  constexpr int kManyTiles = 8;  // of a thread
  const int tile = p.kernel->max_rows;
  const int step = p.kernel->costs.row_step;
  const bool few = threads > 1 && p.row_count() / threads < kManyTiles * tile;
  return few && step > 0 ? step : tile;
}

bool FetchesPanels(const Product& p) {
  const size_t bytes = p.panels->data.bytes();
  if (bytes <= Cpu().l2_bytes && !(p.weights_from_memory && p.kernel->costs.fetches_cold_panels))
    return false;
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

void SetScratch(const Product& p, size_t panel_bytes, Blocking& b) {
  const RowFormat format = p.kernel->row_format;
  const size_t row_bytes =
      b.in_place  ? 0
      : b.windows ? WindowScratchBytes(p, b.rows)
                  : PackedRowsBytes(format, b.rows, static_cast<size_t>(p.padded_depth()));
  b.row_bytes = RoundUp(row_bytes, 64);
  b.operand_bytes = format == RowFormat::kWidened16 ? 2 * panel_bytes : 0;
  b.term_bytes = p.kernel->own_terms == nullptr ? 0 : SumBytes(b);
  b.scratch_bytes = kTileBytes + SumBytes(b) + b.term_bytes + b.row_bytes + b.operand_bytes;
}

}  // namespace

Blocking Block(const Product& p, int threads) {
  Blocking b{};
  if (p.row_count() == 0 || p.channel_count() == 0) return b;
  const Kernel& kernel = *p.kernel;
  const auto padded_depth = static_cast<size_t>(p.padded_depth());
  const size_t panel_bytes =
      std::max<size_t>(1, padded_depth * static_cast<size_t>(p.panels->format.width()));
  const auto panels = static_cast<int>(p.panels->ranges.size());

  b.threads = threads = ThreadsWorth(p, threads);
  b.row_step = RowStep(p, threads);
  b.in_place = p.rows.ServesInPlace(kernel.row_format, p.padded_depth());
  // Rows have the part of L2 that panels and results leave.
  const size_t all_rows = static_cast<size_t>(p.row_count()) * static_cast<size_t>(p.depth());
  b.fetches_panels = FetchesPanels(p);
  b.fetches_rows =
      Cpu().hints == CpuInfo::Hints::kAlways && b.in_place && all_rows > Cpu().l2_bytes / 4 * 3;
  b.windows = ReadsWindows(p, b.fetches_panels);
  const size_t row_bytes = std::max<size_t>(
      1, b.windows ? WindowRowBytes(p) : padded_depth * RowElementBytes(kernel.row_format));
  // A task's panels stay in L2 beside its rows, which every panel reads again.
  const size_t l2_bytes = Cpu().l2_bytes;
  const size_t panels_room = l2_bytes / 2;
  const size_t rows_room = std::min(l2_bytes / RowsPartOfL2(p), kMaxBlockRows * row_bytes);
  const auto row_count = static_cast<size_t>(p.row_count());
  if (threads == 1 && row_count * row_bytes <= rows_room &&
      static_cast<size_t>(panels) * panel_bytes <= panels_room) {
    // One task: of a small product the divisions below would be a good part.
    b.rows = p.row_count();
    b.panels = panels;
    b.row_tasks = b.panel_tasks = b.row_slices = 1;
    b.rows_stay = true;
    SetScratch(p, panel_bytes, b);
    return b;
  }
  b.panels = static_cast<int>(
      std::clamp<size_t>(panels_room / panel_bytes, 1, static_cast<size_t>(panels)));
  const auto step = static_cast<size_t>(b.row_step);
  const auto steps = static_cast<int>((row_count + step - 1) / step);
  const auto most_rows =
      RoundUp(std::max<size_t>(rows_room / row_bytes, 1), static_cast<size_t>(kernel.max_rows));
  const auto most_steps = static_cast<int>(most_rows / step);
  b.row_tasks = (steps + most_steps - 1) / most_steps;
  b.panel_tasks = (panels + b.panels - 1) / b.panels;
  b.row_slices = 1;
  // Reading panels again, beside products, takes less than packing rows again: 3 to 4 % of 2048^3
  // and of 512x49x4608 (Zen 5).
  b.rows_stay = b.panel_tasks == 1 || !(b.in_place || kernel.costs.keeps_panels);
  if (threads > 1) CutForThreads(p, steps, most_steps, b);
  b.rows = (steps + b.row_tasks - 1) / b.row_tasks * b.row_step;
  b.panels = (panels + b.panel_tasks - 1) / b.panel_tasks;
  SetScratch(p, panel_bytes, b);
  return b;
}

Range RowsOf(const Product& p, const Blocking& b, int row_task) {
  const int step = b.row_step;
  const int count = (p.row_count() - 1) / step + 1;
  const Range steps = Part(count, row_task, b.row_tasks);
  return {steps.first * step, steps.last == count ? p.row_count() : steps.last * step};
}

Range PanelsOf(const Product& p, const Blocking& b, int panel_task) {
  return Part(static_cast<int>(p.panels->ranges.size()), panel_task, b.panel_tasks);
}

Scratch CarveScratch(void* memory, const Blocking& blocking) {
  auto* tile = static_cast<std::byte*>(memory);
  auto* sums = tile + kTileBytes;
  auto* terms = sums + SumBytes(blocking);
  auto* rows = terms + blocking.term_bytes;
  auto* operands = blocking.operand_bytes == 0 ? nullptr : rows + blocking.row_bytes;
  return {tile, reinterpret_cast<int32_t*>(sums),
          blocking.term_bytes == 0 ? nullptr : reinterpret_cast<int32_t*>(terms), rows, operands};
}

namespace {

// What every task of a product reads.
struct Plan {
  const Product& product;
  const Blocking& blocking;
  const PanelForm* params;  // per panel
  bool direct;              // whole tiles go straight to dst; else by way of scratch
};

// Lays out args.row_count rows from `first` on as the kernel reads them.
void LayOutRows(const Plan& plan, const Kernel& kernel, int first, const Scratch& scratch,
                TileArgs& args) {
  const Product& p = plan.product;
  const int count = args.row_count;
  args.groups = p.panels->groups;
  if (plan.blocking.windows) {
    PrepareWindows(p, kernel, first, scratch, args);
  } else if (plan.blocking.in_place) {
    args.row_stride = p.rows.matrix.stride;
    args.rows = FirstByte(p.rows.matrix) + first * args.row_stride;
  } else {
    const int depth = p.padded_depth();
    args.row_stride = depth * static_cast<ptrdiff_t>(RowElementBytes(kernel.row_format));
    args.rows = scratch.rows;
    kernel.pack_rows(p.rows, kernel.row_format, first, count, depth, scratch.rows);
  }
}

// And what they add to accumulators by themselves.
void SumUpRows(const Plan& plan, const Kernel& kernel, const Scratch& scratch, TileArgs& args) {
  const Product& p = plan.product;
  const int count = args.row_count;
  kernel.sum_rows(kernel.row_format, args.rows, args.row_stride, count, p.depth(), scratch.sums);
  if (p.panels->one_zero_point) {
    const int32_t negative = -p.panels->zero_points[0];
    for (int r = 0; r < count; ++r) scratch.sums[r] = Scalar::Mul(negative, scratch.sums[r]);
    args.row_terms = scratch.sums;
  } else {
    args.row_sums = scratch.sums;
  }
}

const PanelForm& ParamsOfPanel(const Plan& plan, int e) {
  return *ParamsAt(plan.params, static_cast<size_t>(e), plan.product.params_bytes);
}

void SetPanel(const Plan& plan, int e, TileArgs& args) {
  const PanelRange& panel = plan.product.panels->ranges[static_cast<size_t>(e)];
  args.panel = plan.product.panels->Panel(panel);
  args.vectors = panel.vectors;
  args.panel_has_lowest = panel.has_lowest;
  args.params = &ParamsOfPanel(plan, e);
  args.epilogue.zero_point = HoldsZeroPoint(*args.params) ? 0 : plan.product.epilogue.zero_point;
}

// How many of `panels` from the first on are whole, of as many vectors, and with one epilogue,
// which `kernel` takes in one call for `rows` rows.
int WholePanels(const Plan& plan, const Kernel& kernel, int rows, Range panels) {
  const Panels& all = *plan.product.panels;
  const int vectors = all.ranges[static_cast<size_t>(panels.first)].vectors;
  const bool holds = HoldsZeroPoint(ParamsOfPanel(plan, panels.first));
  const auto is_whole = [&](int e) {
    const PanelRange& panel = all.ranges[static_cast<size_t>(e)];
    return panel.vectors == vectors && panel.channels == all.format.lanes * vectors &&
           HoldsZeroPoint(ParamsOfPanel(plan, e)) == holds;
  };
  int e = panels.first;
  const bool takes_panels = kernel.takes_panels || (rows == 1 && kernel.takes_panels_of_row);
  const int last = takes_panels ? panels.last : e + 1;
  while (e < last && is_whole(e)) ++e;
  return e - panels.first;
}

// Runs those of `panels` whose tiles go straight to dst, which they fill: all but perhaps the last.
// Returns the first of the others.
int RunWholePanels(const Plan& plan, const Kernel& kernel, Range panels, std::byte* dst,
                   TileArgs& args) {
  const Product& p = plan.product;
  TileRun run(kernel);
  for (; panels.first < panels.last; panels.first += args.panel_count) {
    args.panel_count = WholePanels(plan, kernel, args.row_count, panels);
    if (args.panel_count == 0) break;
    SetPanel(plan, panels.first, args);
    const PanelRange& panel = p.panels->ranges[static_cast<size_t>(panels.first)];
    args.dst = dst + panel.first_channel * static_cast<ptrdiff_t>(SizeOf(p.epilogue.output));
    run.Tile(args);
    args.fetch_rows = false;
  }
  return panels.first;
}

// Sets what tasks of the same rows have in common. Arguments stay where they are: a copy of what
// was just written in parts waits for the last of them.
void PrepareRows(const Plan& plan, const Kernel& kernel, Range rows, const Scratch& scratch,
                 TileArgs& args) {
  const Product& p = plan.product;
  args.row_count = rows.last - rows.first;
  args.fetch_ahead = plan.blocking.fetches_panels;
  args.epilogue = p.epilogue;
  args.operands = scratch.operands;
  args.dst_stride = p.row_stride * static_cast<ptrdiff_t>(SizeOf(p.epilogue.output));
  LayOutRows(plan, kernel, rows.first, scratch, args);
  if (p.panels->has_zero_points) SumUpRows(plan, kernel, scratch, args);
  if (scratch.terms == nullptr) return;
  kernel.own_terms(args, scratch.terms);
  args.own_terms = scratch.terms;
}

// The rows of an edge that may be written where they belong, then those that may not.
void RunEdge(const Plan& plan, const Kernel& kernel, int first, int direct, const Scratch& scratch,
             TileArgs& args) {
  const Product& p = plan.product;
  const PanelRange& edge = p.panels->ranges.back();
  SetPanel(plan, static_cast<int>(p.panels->ranges.size()) - 1, args);
  args.panel_count = 1;
  const int count = std::exchange(args.row_count, direct);
  args.dst = p.dst + first * args.dst_stride +
             edge.first_channel * static_cast<ptrdiff_t>(SizeOf(p.epilogue.output));
  TileRun(kernel).Tile(args);
  args.row_count = count;
  RunByScratch(p, kernel, edge, first, direct, scratch, args);
  args.fetch_rows = false;
}

void RunTask(const Plan& plan, const Kernel& kernel, Range rows, Range panels,
             const Scratch& scratch, TileArgs& args) {
  const Product& p = plan.product;
  args.fetch_rows = plan.blocking.fetches_rows && panels.first == 0;
  if (plan.direct) {
    const bool all = panels.first == 0 && panels.last == static_cast<int>(p.panels->ranges.size());
    if (const int edge = all ? RowsOfEdge(p, kernel, args.row_count) : 0; edge > 0) {
      RunEdge(plan, kernel, rows.first, edge, scratch, args);
      --panels.last;
    }
    panels.first = RunWholePanels(plan, kernel, panels, p.dst + rows.first * args.dst_stride, args);
  }
  args.panel_count = 1;
  for (int e = panels.first; e < panels.last; ++e) {
    SetPanel(plan, e, args);
    const PanelRange& panel = p.panels->ranges[static_cast<size_t>(e)];
    RunByScratch(p, kernel, panel, rows.first, 0, scratch, args);
    args.fetch_rows = false;
  }
}

// The tasks of one thread.
void RunTasks(const Plan& plan, const Scratch& scratch, TaskParts& tasks, int worker) {
  const Blocking& blocking = plan.blocking;
  TileArgs args;
  int ready = -1;  // the row task that args are of
  tasks.Run(worker, [&](int task) {
    const Kernel& kernel = KernelForThisCore(*plan.product.kernel);
    const int row_task = blocking.row_task(task);
    const Range rows = RowsOf(plan.product, blocking, row_task);
    if (row_task != ready) PrepareRows(plan, kernel, rows, scratch, args);
    ready = row_task;
    const Range panels = PanelsOf(plan.product, blocking, blocking.panel_task(task));
    RunTask(plan, kernel, rows, panels, scratch, args);
  });
}

// The epilogue's parameters per panel, made for this call where they were not made before. Null
// where memory is short.
const PanelForm* ParamsFor(Context& context, const Product& p) {
  if (p.params != nullptr) return p.params;
  auto* first =
      static_cast<PanelForm*>(context.Scratch(0, p.panels->ranges.size() * p.params_bytes));
  if (first != nullptr) FillAllParams(*p.panels, p.row_facts(), p.standard, first);
  return first;
}

}  // namespace

Status Execute(Context& context, const Product& product, const Blocking& blocking) {
  if (product.row_count() == 0 || product.channel_count() == 0) return {};
  const DefaultFloatEnvironment environment;
  const int tasks = blocking.tasks();
  const int workers = std::min(blocking.threads, tasks);
  void* memory = context.Scratch(1, blocking.scratch_bytes);
  for (int w = 1; w < workers && memory != nullptr; ++w) {
    memory = context.Scratch(w + 1, blocking.scratch_bytes);
  }
  const PanelForm* params = memory == nullptr ? nullptr : ParamsFor(context, product);
  if (params == nullptr) return OutOfMemory("no memory for the scratch of a product");

  const Plan plan{product, blocking, params,
                  product.standard != nullptr && product.channel_stride == 1};
  if (tasks == 1) {
    const Kernel& kernel = KernelForThisCore(*product.kernel);
    const Range rows{0, product.row_count()};
    const Range panels{0, static_cast<int>(product.panels->ranges.size())};
    const Scratch scratch = CarveScratch(memory, blocking);
    TileArgs args;
    PrepareRows(plan, kernel, rows, scratch, args);
    RunTask(plan, kernel, rows, panels, scratch, args);
    return {};
  }
  TaskParts parts(tasks, workers);
  const auto work = [&](int worker) {
    RunTasks(plan, CarveScratch(context.Scratch(worker + 1, 0), blocking), parts, worker);
  };
  context.Run(workers, std::ref(work));  // by reference: a copy would be allocated
  return {};
}

}  // namespace intaglio
