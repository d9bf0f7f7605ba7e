#include "intaglio/gemm/run/depthwise_line.h"

#include <algorithm>

#include "intaglio/gemm/machine/cores.h"
#include "intaglio/kernels/params_list.h"
#include "intaglio/pack/aligned_buffer.h"
#include "intaglio/pack/copy_lines.h"

namespace intaglio {
namespace {

// Bytes of interleaved columns that one run of pixels may take: a good part of any L1. Columns that
// are met in registers take as many only if a panel is not scaled in one of the ways for that.
constexpr size_t kColumnBudget = 16 << 10;
constexpr size_t kSlidColumnBudget = 64 << 10;

// Whether a whole panel can be read at every tap of `lines` output lines, whatever the panel's
// channels: there is input enough behind the last row that they read.
bool ReadsWholePanels(const DepthwiseJob& job, int batch, int out_y, int lines) {
  const Im2col& v = job.input();
  const int64_t reach = int64_t{out_y + lines - 1} * v.stride_height - v.pad_top +
                        int64_t{v.kernel_height - 1} * v.dilation_height;
  const int64_t rows =
      int64_t{v.batch - batch} * v.height - 1 - std::min<int64_t>(reach, v.height - 1);
  return rows * v.width * v.channels >= kMaxPanelWidth;
}

// The input under each kernel row of `lines` output lines: a line of the image, or the pixel
// outside.
void FindRows(const DepthwiseJob& job, int batch, int out_y, int lines, DepthwiseRow* rows) {
  const Im2col& v = job.input();
  const auto* image = static_cast<const uint8_t*>(v.data) +
                      static_cast<ptrdiff_t>(batch) * v.height * v.width * v.channels;
  for (int ky = 0; ky < job.filters.padded_height(); ++ky) {
    rows[ky] = {job.outside, 0};
    if (ky >= v.kernel_height + lines - 1) continue;
    const int y = out_y * v.stride_height - v.pad_top + ky * v.dilation_height;
    if (y >= 0 && y < v.height)
      rows[ky] = {image + static_cast<ptrdiff_t>(y) * v.width * v.channels, v.channels};
  }
}

// The part of a run's columns that lies within the image.
struct ColumnRange {
  int before;
  int inside;
  int first;  // column of the image
};

ColumnRange ColumnsInside(const Im2col& v, int first, int count) {
  const int before = std::clamp(v.pad_left - first, 0, count);
  const int end = std::clamp(v.width + v.pad_left - first, before, count);
  return {before, end - before, std::max(first - v.pad_left, 0)};
}

bool IsWhole(const DepthwiseJob& job, const PanelRange& panel) {
  return panel.channels == job.filters.panels.format.lanes * panel.vectors;
}

// Whether the kernel reads a panel's channels where they lie.
bool ReadsInPlace(const DepthwiseJob& job, const PanelRange& panel, bool readable) {
  return job.folded() || ((IsWhole(job, panel) || readable) && job.filters.multiplier == 1);
}

// Whether it writes them where they belong.
bool WritesInPlace(const DepthwiseJob& job, const PanelRange& panel) {
  if (job.product.standard == nullptr) return false;
  if (!job.folded()) return IsWhole(job, panel);
  return job.product.dst_stride == panel.channels &&
         job.input().out_width % job.filters.copies == 0;
}

// Neighbouring bands of `lines` lines each, the first pixel of which is row `row` of the result;
// the last one begins `last_step` lines behind the one before.
struct Bands {
  int count;
  int lines;
  int last_step;
  int row;
  const DepthwiseRow* rows;  // under all of them, band by band
  bool readable;             // as ReadsWholePanels
};

constexpr ptrdiff_t kCopiedColumn = kMaxPanelWidth;  // bytes from a copied column to the next

// Copies one panel's channels of `columns` columns, each channel repeated for its `multiplier`
// outputs; returns the place of the next column.
std::byte* CopyColumns(const DepthwiseJob& job, const PanelRange& panel, DepthwiseRow from,
                       int columns, std::byte* to) {
  const int multiplier = job.filters.multiplier;
  std::byte* const end = to + columns * kCopiedColumn;
  if (multiplier == 1) {
    const auto* in = reinterpret_cast<const std::byte*>(from.data + panel.first_channel);
    CopyLines({in, from.step, to, kCopiedColumn, panel.channels, columns});
    return end;
  }
  for (; to != end; to += kCopiedColumn, from.data += from.step) {
    for (int i = 0; i < panel.channels; ++i) {
      to[i] = static_cast<std::byte>(from.data[(panel.first_channel + i) / multiplier]);
    }
  }
  return end;
}

// Copies what a run reads of one row and panel to where the kernel may read a whole panel's width.
std::byte* CopyRow(const DepthwiseJob& job, const PanelRange& panel, DepthwiseRow row,
                   const ColumnRange& range, int columns, std::byte* to) {
  const DepthwiseRow outside = {job.outside, 0};
  row.data += range.first * row.step;
  to = CopyColumns(job, panel, outside, range.before, to);
  to = CopyColumns(job, panel, row, range.inside, to);
  return CopyColumns(job, panel, outside, columns - range.before - range.inside, to);
}

// The same of all rows of one band. Outside the image every byte is the same.
void CopyRun(const DepthwiseJob& job, const PanelRange& panel, const DepthwiseRow* rows,
             const ColumnRange& range, int columns, const DepthwiseScratch& scratch) {
  auto* to = reinterpret_cast<std::byte*>(scratch.copies);
  for (int i = 0; i < job.filters.padded_height(); ++i) {
    scratch.copied_rows[i] = rows[i];
    if (rows[i].data == job.outside) continue;
    scratch.copied_rows[i] = {reinterpret_cast<const uint8_t*>(to), kCopiedColumn};
    to = CopyRow(job, panel, rows[i], range, columns, to);
  }
}

// Brings a run of finished pixels from scratch, `width` elements apart, to dst.
void Deliver(const DepthwiseJob& job, const PanelRange& panel, int width, int row, int pixels,
             const std::byte* out) {
  const ptrdiff_t stride = job.product.dst_stride;
  const ptrdiff_t at = row * stride + panel.first_channel;
  if (job.product.standard == nullptr) {
    const auto size = static_cast<ptrdiff_t>(SizeOf(job.product.tile.output));
    job.product.tile.run(
        job.product.tile.pipeline,
        {reinterpret_cast<const int32_t*>(out), width, pixels, panel.channels, Axis::kCols, row,
         panel.first_channel, static_cast<std::byte*>(job.product.dst) + at * size, stride, 1});
    return;
  }
  const auto size = static_cast<ptrdiff_t>(SizeOf(job.epilogue.output));
  CopyLines({out, width * size, static_cast<std::byte*>(job.product.dst) + at * size, stride * size,
             panel.channels * size, pixels});
}

// One panel of channels along bands: along one alone where the input or results pass through
// scratch. has_columns: as DepthwiseArgs has it.
void RunPanel(const DepthwiseJob& job, const Kernel& kernel, size_t index, const Bands& bands,
              const DepthwiseScratch& scratch, bool& has_columns) {
  const Im2col& v = job.input();
  const DepthwiseFilters& filters = job.filters;
  const PanelRange& panel = filters.panels.ranges[index];
  const int width = filters.panels.format.lanes * panel.vectors;
  const bool in_place = ReadsInPlace(job, panel, bands.readable);
  const bool direct = WritesInPlace(job, panel);
  const auto size = static_cast<ptrdiff_t>(SizeOf(job.epilogue.output));

  DepthwiseArgs args;
  args.weights = filters.Panel(index);
  args.line_weights = static_cast<ptrdiff_t>(filters.LineBytes(index));
  args.packed_lines = filters.lines();
  args.lines = bands.lines;
  args.bands = bands.count;
  args.terms = filters.weights[index].terms;
  args.second_vectors = filters.weights[index].second_vectors;
  args.vectors = panel.vectors;
  args.rows = in_place ? bands.rows : scratch.copied_rows;
  args.first_channel = in_place ? panel.first_channel : 0;
  args.outside = job.outside;
  args.groups = filters.groups();
  args.kernel_width = v.kernel_width;
  args.pixel_step = job.PixelStep();
  args.pixel_bytes = job.folded() ? panel.channels : 0;
  args.tap_step = v.dilation_width;
  args.flip = TapMove(kernel, v.type) == 0 ? 0 : 0x80;
  args.params = ParamsAt(job.params, index, job.params_bytes);
  args.epilogue = job.epilogue;
  if (HoldsZeroPoint(*args.params)) args.epilogue.zero_point = 0;
  args.dst_stride = (direct ? job.product.dst_stride * filters.copies : width) * size;
  args.dst_line = direct ? v.out_width * job.product.dst_stride * size : job.run * args.dst_stride;
  args.dst_band = bands.lines * args.dst_line;
  args.dst_last = bands.last_step * args.dst_line;
  args.scratch = scratch.columns;
  args.has_columns = &has_columns;
  const bool same_for_all_panels = in_place && v.out_width <= job.run;
  const int copies = filters.copies;
  for (int x = 0; x < v.out_width; x += job.run * copies) {
    const int pixels = std::min(job.run * copies, v.out_width - x);
    args.pixels = job.Pixels(pixels);
    args.columns = job.Columns(args.pixels);
    // And those of a panel's last pixels.
    const int columns = args.columns + (copies - 1) * v.stride_width;
    ColumnRange range = ColumnsInside(v, x * v.stride_width, columns);
    if (!in_place) {
      CopyRun(job, panel, bands.rows, range, columns, scratch);
      range = {0, args.columns, 0};
    }
    args.columns_before = range.before;
    args.columns_inside = range.inside;
    args.first_column = range.first;
    const ptrdiff_t at = (bands.row + x) * job.product.dst_stride + panel.first_channel;
    args.dst = direct ? static_cast<std::byte*>(job.product.dst) + at * size : scratch.out;
    has_columns &= same_for_all_panels;
    kernel.depthwise(args);
    has_columns &= same_for_all_panels;
    for (int l = 0; l < bands.lines && !direct; ++l) {
      Deliver(job, panel, width / copies, bands.row + x + l * v.out_width, pixels,
              scratch.out + l * args.dst_line);
    }
  }
}

}  // namespace

size_t DepthwiseScratch::Carve(std::byte* memory, const DepthwiseJob& job,
                               DepthwiseScratch* scratch) {
  size_t at = 0;
  const auto take = [&](size_t bytes) {
    std::byte* piece = memory == nullptr ? nullptr : memory + at;
    at += RoundUp(bytes, 64);
    return piece;
  };
  const PanelFormat& panel = job.kernel().panel;
  const auto rows = static_cast<size_t>(job.filters.padded_height());
  const int columns = job.folded() ? 0 : job.Columns(job.run);  // that may be copied or interleaved
  const DepthwiseScratch carved{
      reinterpret_cast<DepthwiseRow*>(take(kMaxBands * rows * sizeof(DepthwiseRow))),
      reinterpret_cast<DepthwiseRow*>(take(rows * sizeof(DepthwiseRow))),
      reinterpret_cast<uint8_t*>(take(rows * static_cast<size_t>(columns * kCopiedColumn))),
      take(DepthwiseScratchBytes(columns, panel.vectors, panel.lanes, job.filters.groups())),
      take(static_cast<size_t>(job.run * job.lines) * kMaxPanelWidth * sizeof(int32_t))};
  if (scratch != nullptr) *scratch = carved;
  return at;
}

int PixelsOfRun(const DepthwiseJob& job) {
  if (job.folded()) return job.Pixels(job.input().out_width);
  const size_t budget = job.slides ? kSlidColumnBudget : kColumnBudget;
  const auto columns = static_cast<int64_t>(budget / job.ColumnBytes(job.kernel().panel.vectors));
  const int64_t pixels = (columns - job.Columns(1)) / job.PixelStep() + 1;
  const auto least = static_cast<int64_t>(job.kernel().max_rows);
  return static_cast<int>(
      std::min(std::max(pixels, least), static_cast<int64_t>(job.Pixels(job.input().out_width))));
}

bool Slides(const DepthwiseJob& job) {
  const Im2col& v = job.input();
  if (job.folded()) return true;
  return job.kernel().slides_columns &&
         SlidesColumns(job.filters.step, job.filters.groups(), v.kernel_width, v.dilation_width,
                       job.PixelStep(), job.lines, job.filters.lines());
}

int LinesAtOnce(const DepthwiseProduct& product, int threads) {
  const Im2col& v = product.input;
  const int lines = product.packed.filters.lines();
  const bool dense = v.stride_height == 1 && v.dilation_height == 1;
  const int64_t tasks = int64_t{v.batch} * ((v.out_height - 1) / lines + 1);
  return dense && tasks >= threads ? lines : 1;
}

void RunDepthwiseLines(const DepthwiseJob& job, int batch, int first, int end,
                       const DepthwiseScratch& scratch) {
  const Im2col& v = job.input();
  const Kernel& kernel = KernelForThisCore(job.kernel());
  const int height = job.filters.padded_height();
  // As many whole bands as there are, then one of what is left; or where a line takes as long as a
  // band, one that begins within the band before.
  for (int lines, count; first < end; first += count * lines) {
    lines = std::min(job.lines, end - first);
    count = job.slides ? (end - first - 1) / lines + 1 : (end - first) / lines;
    const auto line = [&](int b) { return std::min(first + b * lines, end - lines); };
    const auto band = [&](int b, int bands) {
      return Bands{bands,
                   lines,
                   line(count - 1) - line(count - 2),
                   (batch * v.out_height + line(b)) * v.out_width,
                   scratch.rows + b * height,
                   ReadsWholePanels(job, batch, line(b), lines)};
    };
    for (int b = 0; b < count; ++b) {
      FindRows(job, batch, line(b), lines, scratch.rows + b * height);
    }
    bool has_columns = false;
    for (size_t e = 0; e < job.filters.panels.ranges.size(); ++e) {
      const PanelRange& panel = job.filters.panels.ranges[e];
      const bool at_once = WritesInPlace(job, panel) && ReadsInPlace(job, panel, false);
      const int bands = at_once ? count : 1;
      for (int b = 0; b < count; b += bands) {
        has_columns &= bands == count;
        RunPanel(job, kernel, e, band(b, bands), scratch, has_columns);
      }
    }
  }
}

}  // namespace intaglio
