#include "intaglio/gemm/run/window_rows.h"

#include <algorithm>

#include "intaglio/pack/aligned_buffer.h"
#include "intaglio/pack/copy_lines.h"
#include "intaglio/pack/image_lines.h"

namespace intaglio {

bool ReadsWindows(const Product& p, bool fetches_panels) {
  if (p.panels->runs > 1) return true;
  if (p.cutting.gathers_windows || !p.tiles_take_windows || !p.rows.is_im2col ||
      p.panels->has_zero_points || p.row_count() < p.kernel->max_rows || fetches_panels) {
    return false;
  }
  const Im2col& v = p.rows.im2col;
  return v.kernel_width * v.group_channels % p.panels->format.depth_step == 0 && WindowsPay(v);
}

size_t WindowRowBytes(const Product& p) {
  const Im2col& v = p.rows.im2col;
  return static_cast<size_t>(v.group_channels) * static_cast<size_t>(v.stride_height) *
         static_cast<size_t>(v.stride_width) * RowElementBytes(p.kernel->row_format);
}

size_t WindowScratchBytes(const Product& p, int rows) {
  const RowFormat format = p.kernel->row_format;
  const int gathered = p.tiles_take_windows ? std::min(rows, p.kernel->max_rows) : rows;
  return RoundUp(static_cast<size_t>(WindowBytes(p.rows.im2col, format, rows)), 64) +
         PackedRowsBytes(format, gathered, static_cast<size_t>(p.padded_depth()));
}

void PrepareWindows(const Product& p, const Kernel& kernel, int first, const Scratch& scratch,
                    TileArgs& args) {
  const int count = args.row_count;
  const Im2col& v = p.rows.im2col;
  const WindowRows windows{scratch.sums, v.kernel_height, WindowLineStep(v, kernel.row_format)};
  const int groups = p.panels->groups / v.kernel_height;
  std::byte* end = PackImageLines(v, kernel.row_format, kernel.pack_rows, first, count,
                                  scratch.rows, scratch.sums);
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

}  // namespace intaglio
