// Runs the kernel over the tasks of a product.
#include <algorithm>
#include <functional>
#include <utility>

#include "intaglio/fixedpoint/float_environment.h"
#include "intaglio/fixedpoint/registers.h"
#include "intaglio/gemm/blocking.h"
#include "intaglio/gemm/cores.h"
#include "intaglio/gemm/product.h"
#include "intaglio/gemm/task_parts.h"
#include "intaglio/gemm/write_tile.h"
#include "intaglio/kernels/params_list.h"
#include "intaglio/pack/copy_lines.h"
#include "intaglio/pack/first_byte.h"
#include "intaglio/pack/windows.h"

namespace intaglio {
namespace {

// What every task of a product reads.
struct Plan {
  const Product& product;
  const Blocking& blocking;
  const PanelForm* params;  // per extent
  bool direct;              // whole tiles go straight to dst; else by way of scratch
};

// Lays out the lines of `count` rows of a convolution. Tiles read them there; rows too few for one,
// and what is not finished by whole tiles, are gathered behind them.
void ReadyWindows(const Plan& plan, const Kernel& kernel, int first, int count,
                  const Scratch& scratch, TileArgs& args) {
  const Product& p = plan.product;
  const Im2col& v = p.rows.im2col;
  const WindowRows windows{scratch.sums, v.kernel_height, WindowLineStep(v, kernel.row_format)};
  const int groups = p.panels->groups / v.kernel_height;
  std::byte* end =
      PackWindows(v, kernel.row_format, kernel.pack_rows, first, count, scratch.rows, scratch.sums);
  if (p.tiles_take_windows && count >= kernel.max_rows) {
    args.rows = scratch.rows;
    args.row_stride = 0;
    args.windows = windows;
    args.groups = groups;
    return;
  }
  const ptrdiff_t line = ptrdiff_t{groups} * p.panels->format.depth_step *
                         static_cast<ptrdiff_t>(RowElementBytes(kernel.row_format));
  args.rows = end;
  args.row_stride = line * windows.lines;
  args.windows = {};
  args.groups = p.panels->groups;
  for (int r = 0; r < count; ++r, end += args.row_stride) {
    CopyLines({scratch.rows + scratch.sums[r], windows.line_step, end, line, line, windows.lines});
  }
}

// Makes ready what the kernel reads of `count` rows from `first` on.
void ReadyRows(const Plan& plan, const Kernel& kernel, int first, int count, const Scratch& scratch,
               TileArgs& args) {
  const Product& p = plan.product;
  args.groups = p.panels->groups;
  if (plan.blocking.windows) {
    ReadyWindows(plan, kernel, first, count, scratch, args);
  } else if (plan.blocking.in_place) {
    args.row_stride = p.rows.matrix.stride;
    args.rows = FirstByte(p.rows.matrix) + first * args.row_stride;
  } else {
    const int depth = p.padded_depth();
    args.row_stride = depth * static_cast<ptrdiff_t>(RowElementBytes(kernel.row_format));
    args.rows = scratch.rows;
    kernel.pack_rows(p.rows, kernel.row_format, first, count, depth, scratch.rows);
  }
  if (!p.panels->has_zero_points) return;
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
  const PanelExtent& extent = plan.product.panels->extents[static_cast<size_t>(e)];
  args.panel = plan.product.panels->Panel(extent);
  args.vectors = extent.vectors;
  args.panel_has_lowest = extent.has_lowest;
  args.params = &ParamsOfPanel(plan, e);
  args.epilogue.zero_point = HoldsZeroPoint(*args.params) ? 0 : plan.product.epilogue.zero_point;
}

// A panel whose tiles do not go straight to dst, for the rows of `args` from `row` on, the first of
// which is `first`.
void RunByScratch(const Product& p, const Kernel& kernel, const PanelExtent& extent, int first,
                  int row, const Scratch& scratch, const TileArgs& all) {
  const size_t stride =
      static_cast<size_t>(p.panels->format.lanes * extent.vectors) * SizeOf(p.epilogue.output);
  TileArgs args = all;
  args.dst = scratch.tile;
  args.dst_stride = static_cast<ptrdiff_t>(stride);
  const int rows_each = kScratchTileRows / kernel.max_rows * kernel.max_rows;
  TileRun run(kernel);
  for (; row < all.row_count; row += rows_each) {
    // Of windows a call takes whole tiles: the last ones may be computed again.
    if (all.windows.begin != nullptr) row = std::min(row, all.row_count - kernel.max_rows);
    args.row_count = std::min(rows_each, all.row_count - row);
    args.rows = static_cast<const std::byte*>(all.rows) + row * all.row_stride;
    if (all.windows.begin != nullptr) args.windows.begin = all.windows.begin + row;
    if (all.row_sums != nullptr) args.row_sums = all.row_sums + row;
    if (all.row_terms != nullptr) args.row_terms = all.row_terms + row;
    run.Tile(args);
    if (p.standard == nullptr) run.End();  // what follows is the user's code
    WriteTile(p, scratch.tile, stride, first + row, args.row_count, extent);
    args.fetch_ahead = false;
  }
}

// How many extents from the first on are whole panels of as many vectors, with one epilogue, which
// `kernel` takes in one call for `rows` rows.
int WholePanels(const Plan& plan, const Kernel& kernel, int rows, Range extents) {
  const Panels& panels = *plan.product.panels;
  const int vectors = panels.extents[static_cast<size_t>(extents.first)].vectors;
  const bool holds = HoldsZeroPoint(ParamsOfPanel(plan, extents.first));
  const auto is_whole = [&](int e) {
    const PanelExtent& extent = panels.extents[static_cast<size_t>(e)];
    return extent.vectors == vectors && extent.channels == panels.format.lanes * vectors &&
           HoldsZeroPoint(ParamsOfPanel(plan, e)) == holds;
  };
  int e = extents.first;
  const bool takes_panels = kernel.takes_panels || (rows == 1 && kernel.takes_panels_of_row);
  const int last = takes_panels ? extents.last : e + 1;
  while (e < last && is_whole(e)) ++e;
  return e - extents.first;
}

// The panels of `extents` whose tiles go straight to dst, which they fill: all but perhaps the
// last. Returns the first of the others.
int RunWholePanels(const Plan& plan, const Kernel& kernel, Range extents, std::byte* dst,
                   TileArgs& args) {
  const Product& p = plan.product;
  TileRun run(kernel);
  for (; extents.first < extents.last; extents.first += args.panel_count) {
    args.panel_count = WholePanels(plan, kernel, args.row_count, extents);
    if (args.panel_count == 0) break;
    SetPanel(plan, extents.first, args);
    const PanelExtent& extent = p.panels->extents[static_cast<size_t>(extents.first)];
    args.dst = dst + extent.first_channel * static_cast<ptrdiff_t>(SizeOf(p.epilogue.output));
    run.Tile(args);
    args.fetch_rows = false;
  }
  return extents.first;
}

// Sets what tasks of the same rows have in common. Arguments stay where they are: a copy of what
// was just written in parts waits for the last of them.
void Ready(const Plan& plan, const Kernel& kernel, Range rows, const Scratch& scratch,
           TileArgs& args) {
  const Product& p = plan.product;
  args.row_count = rows.last - rows.first;
  args.fetch_ahead = plan.blocking.fetches_panels;
  args.epilogue = p.epilogue;
  args.operands = scratch.operands;
  args.dst_stride = p.row_stride * static_cast<ptrdiff_t>(SizeOf(p.epilogue.output));
  ReadyRows(plan, kernel, rows.first, args.row_count, scratch, args);
}

// How many of the task's first rows a last panel of fewer channels than its width may write all the
// same: what it writes too much lies in the next row, and is written after it, by the panel itself
// or by those before it, which take their turn later.
int RowsOfEdge(const Plan& plan, const Kernel& kernel, Range rows, Range extents) {
  constexpr int kRowsWorthACall = 24;  // a second one takes as long as copying so many
  const int count = rows.last - rows.first;
  if (count <= kRowsWorthACall || !plan.direct || !kernel.stores_in_order) return 0;
  const Product& p = plan.product;
  const Panels& panels = *p.panels;
  const PanelExtent& edge = panels.extents.back();
  const int more = panels.format.lanes * edge.vectors - edge.channels;
  const bool all = extents.first == 0 && extents.last == static_cast<int>(panels.extents.size());
  if (more == 0 || !all || p.row_stride != p.channel_count()) return 0;
  const int direct = count - (more - 1) / p.channel_count() - 1;
  return direct >= kRowsWorthACall ? direct : 0;
}

// The rows of an edge that may be written where they belong, then those that may not.
void RunEdge(const Plan& plan, const Kernel& kernel, int first, int direct, const Scratch& scratch,
             TileArgs& args) {
  const Product& p = plan.product;
  const PanelExtent& edge = p.panels->extents.back();
  SetPanel(plan, static_cast<int>(p.panels->extents.size()) - 1, args);
  args.panel_count = 1;
  const int count = std::exchange(args.row_count, direct);
  args.dst = p.dst + first * args.dst_stride +
             edge.first_channel * static_cast<ptrdiff_t>(SizeOf(p.epilogue.output));
  TileRun(kernel).Tile(args);
  args.row_count = count;
  RunByScratch(p, kernel, edge, first, direct, scratch, args);
  args.fetch_rows = false;
}

void RunTask(const Plan& plan, const Kernel& kernel, Range rows, Range extents,
             const Scratch& scratch, TileArgs& args) {
  const Product& p = plan.product;
  args.fetch_rows = plan.blocking.fetches_rows && extents.first == 0;
  if (const int direct = RowsOfEdge(plan, kernel, rows, extents); direct > 0) {
    RunEdge(plan, kernel, rows.first, direct, scratch, args);
    --extents.last;
  }
  if (plan.direct) {
    extents.first =
        RunWholePanels(plan, kernel, extents, p.dst + rows.first * args.dst_stride, args);
  }
  args.panel_count = 1;
  for (int e = extents.first; e < extents.last; ++e) {
    SetPanel(plan, e, args);
    const PanelExtent& extent = p.panels->extents[static_cast<size_t>(e)];
    RunByScratch(p, kernel, extent, rows.first, 0, scratch, args);
    args.fetch_rows = false;
  }
}

// The tasks of one thread.
void RunTasks(const Plan& plan, const Scratch& scratch, TaskParts& tasks, int worker) {
  const Blocking& blocking = plan.blocking;
  TileArgs args;
  int ready = -1;  // the row task that args are of
  tasks.Run(worker, [&](int task) {
    const Kernel& kernel = FormHere(*plan.product.kernel);
    const int row_task = blocking.row_task(task);
    const Range rows = RowsOf(plan.product, blocking, row_task);
    if (row_task != ready) Ready(plan, kernel, rows, scratch, args);
    ready = row_task;
    const Range extents = ExtentsOf(plan.product, blocking, blocking.extent_task(task));
    RunTask(plan, kernel, rows, extents, scratch, args);
  });
}

// The epilogue's parameters per panel, made for this call where they were not made before. Null
// where memory is short.
const PanelForm* ParamsFor(Context& context, const Product& product) {
  if (product.params != nullptr) return product.params;
  const std::vector<PanelExtent>& extents = product.panels->extents;
  const size_t each = product.params_bytes;
  auto* first = static_cast<PanelForm*>(context.Scratch(0, extents.size() * each));
  for (size_t e = 0; first != nullptr && e < extents.size(); ++e) {
    MakeParams(product.panels->format.width(), ParamsAt(first, e, each), [&](PanelParams& params) {
      FillPanelParams(*product.panels, extents[e], product.row_facts(), product.standard, params);
    });
  }
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
    const Kernel& kernel = FormHere(*product.kernel);
    const Range rows{0, product.row_count()};
    const Range extents{0, static_cast<int>(product.panels->extents.size())};
    const Scratch scratch = CarveScratch(memory, blocking);
    TileArgs args;
    Ready(plan, kernel, rows, scratch, args);
    RunTask(plan, kernel, rows, extents, scratch, args);
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
