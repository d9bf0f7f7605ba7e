// Runs the kernel over the tasks of a product.
#include <algorithm>
#include <atomic>
#include <functional>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/gemm/blocking.h"
#include "intaglio/gemm/cpu.h"
#include "intaglio/gemm/product.h"
#include "intaglio/gemm/write_tile.h"

namespace intaglio {
namespace {

// What every task of a product reads.
struct Plan {
  const Product& product;
  Blocking blocking;
  EpilogueParams epilogue;
  const PanelParams* params;  // per extent
  int groups;
  int padded_depth;
  size_t packed_row_bytes;
  bool panels_stream;  // they do not stay in L2 from one task to the next
  bool direct;         // whole tiles go straight to dst; else by way of scratch
};

// The rows [first, first + count) of a task as the kernel reads them.
struct RowBlock {
  const std::byte* data;
  ptrdiff_t stride;      // bytes
  const int32_t* sums;   // as TileArgs::row_sums
  const int32_t* terms;  // as TileArgs::row_terms
  int first;
  int count;
};

RowBlock ReadyRows(const Plan& plan, int first, const Scratch& scratch) {
  const Product& p = plan.product;
  const int count = std::min(plan.blocking.rows, p.row_count() - first);
  RowBlock block{
      scratch.rows, static_cast<ptrdiff_t>(plan.packed_row_bytes), nullptr, nullptr, first, count};
  if (plan.blocking.in_place) {
    block.stride = p.rows.matrix.stride;
    block.data = static_cast<const std::byte*>(p.rows.matrix.data) + first * block.stride;
  } else {
    p.kernel->pack_rows(p.rows, p.kernel->row_format, first, count, plan.padded_depth,
                        scratch.rows);
  }
  if (p.panels->has_zero_points) {
    p.kernel->sum_rows(p.kernel->row_format, block.data, block.stride, count, p.depth(),
                       scratch.sums);
    if (p.panels->one_zero_point) {
      const int32_t negative = -p.panels->zero_points[0];
      for (int r = 0; r < count; ++r) scratch.sums[r] = Scalar::Mul(negative, scratch.sums[r]);
      block.terms = scratch.sums;
    } else {
      block.sums = scratch.sums;
    }
  }
  return block;
}

// One panel against a block of rows.
void RunPanel(const Plan& plan, const RowBlock& block, int extent_index, const Scratch& scratch) {
  const Product& p = plan.product;
  const PanelExtent& extent = p.panels->extents[static_cast<size_t>(extent_index)];
  const int width = p.panels->format.lanes * extent.vectors;
  const bool direct = plan.direct && extent.channels == width;
  const size_t element = SizeOf(plan.epilogue.output);
  const size_t tile_stride = static_cast<size_t>(width) * element;

  TileArgs args;
  args.panel = p.panels->Panel(extent);
  args.vectors = extent.vectors;
  args.panel_has_lowest = extent.has_lowest;
  args.row_stride = block.stride;
  args.groups = plan.groups;
  args.params = plan.params + extent_index;
  args.epilogue = plan.epilogue;
  args.operands = scratch.operands;
  args.dst_stride =
      direct ? p.row_stride * static_cast<ptrdiff_t>(element) : static_cast<ptrdiff_t>(tile_stride);
  const int rows_each = direct ? block.count : p.kernel->max_rows;
  for (int r = 0; r < block.count; r += rows_each) {
    const int row = block.first + r;
    args.rows = block.data + r * block.stride;
    args.fetch_ahead = plan.panels_stream && r == 0;
    args.row_count = std::min(rows_each, block.count - r);
    args.row_sums = block.sums == nullptr ? nullptr : block.sums + r;
    args.row_terms = block.terms == nullptr ? nullptr : block.terms + r;
    args.dst = direct ? p.dst + (row * p.row_stride + extent.first_channel) *
                                    static_cast<ptrdiff_t>(element)
                      : scratch.tile;
    p.kernel->tile(args);
    if (direct) continue;
    WriteTile(p, scratch.tile, tile_stride, row, args.row_count, extent);
  }
}

void RunTask(const Plan& plan, int task, const Scratch& scratch) {
  // Neighbouring tasks share their panels, which stay in the cache: rows are what streams.
  const int extent_task = task / plan.blocking.row_tasks;
  const int row_task = task % plan.blocking.row_tasks;
  const RowBlock block = ReadyRows(plan, row_task * plan.blocking.rows, scratch);
  const int first = extent_task * plan.blocking.extents;
  const int last = std::min(first + plan.blocking.extents,
                            static_cast<int>(plan.product.panels->extents.size()));
  for (int e = first; e < last; ++e) RunPanel(plan, block, e, scratch);
}

// The epilogue's parameters per panel, made for this call where they were not made before. Null
// where memory is short.
const PanelParams* ParamsOf(Context& context, const Product& product) {
  if (product.params != nullptr) return product.params;
  const std::vector<PanelExtent>& extents = product.panels->extents;
  auto* params =
      static_cast<PanelParams*>(context.Scratch(0, extents.size() * sizeof(PanelParams)));
  for (size_t e = 0; params != nullptr && e < extents.size(); ++e) {
    FillPanelParams(*product.panels, extents[e], product.row_facts(), product.standard, params[e]);
  }
  return params;
}

}  // namespace

Status Execute(Context& context, const Product& product) {
  if (product.row_count() == 0 || product.channel_count() == 0) return {};
  const Blocking blocking = Block(product, context.threads());
  const int tasks = blocking.row_tasks * blocking.extent_tasks;
  const int workers = std::min(context.threads(), tasks);

  bool have_memory = true;
  for (int w = 0; w < workers; ++w) {
    have_memory = have_memory && context.Scratch(w + 1, blocking.scratch_bytes) != nullptr;
  }
  const PanelParams* params = have_memory ? ParamsOf(context, product) : nullptr;
  if (params == nullptr) return OutOfMemory("no memory for the scratch of a product");

  const PanelFormat& format = product.panels->format;
  const int groups = format.Groups(product.depth());
  const int padded_depth = groups * format.depth_step;
  const Plan plan{product,
                  blocking,
                  MakeEpilogue(product.standard),
                  params,
                  groups,
                  padded_depth,
                  static_cast<size_t>(padded_depth) * RowElementBytes(product.kernel->row_format),
                  product.panels->data.bytes() > Cpu().l2_bytes,
                  product.standard != nullptr && product.channel_stride == 1};
  if (workers == 1) {
    const Scratch scratch = CarveScratch(context.Scratch(1, 0), blocking);
    for (int task = 0; task < tasks; ++task) RunTask(plan, task, scratch);
    return {};
  }
  std::atomic<int> next{0};
  const auto work = [&](int worker) {
    const Scratch scratch = CarveScratch(context.Scratch(worker + 1, 0), blocking);
    for (int task = next.fetch_add(1); task < tasks; task = next.fetch_add(1)) {
      RunTask(plan, task, scratch);
    }
  };
  context.Run(workers, std::ref(work));  // by reference: a copy would be allocated
  return {};
}

}  // namespace intaglio
