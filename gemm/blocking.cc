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

// Clock cycles, roughly: an instruction for each vector and group of depth of a row, or of the rows
// of a tile, few as they may be; and the results.
int64_t CyclesOf(const Product& p) {
  const PanelFormat& format = p.panels->format;
  const int64_t rows = p.row_count();
  const int64_t lines = format.tiles ? (rows + 15) / 16 : rows;
  const int64_t vectors = (p.channel_count() + format.lanes - 1) / format.lanes;
  return lines * vectors * p.panels->groups + rows * p.channel_count();
}
// A second thread wins from some 56^3 on.
constexpr int64_t kLeastCyclesOfThread = 3 << 10;  // for which another one is woken
constexpr int64_t kLeastCyclesOfTasks = 1 << 16;   // for which a thread gets more than one

// Cuts for several threads, no task having more than `most_tiles` tiles of rows and
// `most_extents` panels. Work is counted in quarters of a tile by a panel.
//
// There are up to four tasks a thread, and two at least but of small products, so that threads
// which are held up do not hold up the others; those that end the longest thread first are taken.
// A panel costs half a tile to start with, and packing a tile a quarter of what multiplying it
// does, in each task that shares it.
void CutForThreads(int threads, int least_tasks, int tiles, int extents, int most_tiles,
                   int most_extents, Blocking& b) {
  int64_t least = std::numeric_limits<int64_t>::max();
  const auto parts = [](int count, int most) { return (count + most - 1) / most; };
  const int fewest_rows = parts(tiles, most_tiles);
  const int fewest_extents = parts(extents, most_extents);
  const int most_tasks = std::max(4 * threads, fewest_rows * fewest_extents);
  for (int r = fewest_rows; r <= std::min(tiles, most_tasks); ++r) {
    const int first = std::max(fewest_extents, std::min(extents, parts(least_tasks, r)));
    for (int e = first; e <= std::min(extents, std::max(first, most_tasks / r)); ++e) {
      const int64_t task_tiles = parts(tiles, r);
      const int64_t task_extents = parts(extents, e);
      const int64_t task =
          task_tiles * (4 * task_extents + (b.in_place ? 0 : 1)) + 2 * task_extents;
      const int64_t longest = task * parts(r * e, threads);
      if (longest >= least) continue;
      least = longest;
      b.row_tasks = r;
      b.extent_tasks = e;
    }
  }
}

bool FetchesPanels(const Product& p) {
  const size_t bytes = p.panels->data.bytes();
  // Of cold ones only tiles (AMX) wait for longer than their products take.
  if (bytes <= Cpu().l2_bytes && !(p.cold && p.kernel->takes_panels)) return false;
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
    b.row_tasks = b.extent_tasks = 1;
    b.rows_stay = true;
    SetScratch(p, padded_depth, panel_bytes, b);
    return b;
  }
  b.extents = static_cast<int>(
      std::clamp<size_t>(panels_room / panel_bytes, 1, static_cast<size_t>(extents)));
  const auto tile = static_cast<size_t>(kernel.max_rows);
  const auto tiles = static_cast<int>((row_count + tile - 1) / tile);
  const size_t rows_in_cache = std::max<size_t>(rows_room / row_bytes, 1);
  const auto most_tiles = static_cast<int>((rows_in_cache + tile - 1) / tile);
  b.row_tasks = (tiles + most_tiles - 1) / most_tiles;
  b.extent_tasks = (extents + b.extents - 1) / b.extents;
  // Reading panels again, beside products, takes less than packing rows again: 3 to 4 % of 2048^3
  // and of 512x49x4608 (Zen 5). Tiles (AMX) would be done before their panels come from beyond L2.
  b.rows_stay = b.extent_tasks == 1 || !(b.in_place || p.panels->format.tiles);
  if (threads > 1) {
    const int least_tasks = CyclesOf(p) < kLeastCyclesOfTasks ? threads : 2 * threads;
    CutForThreads(threads, least_tasks, tiles, extents, most_tiles, b.extents, b);
  }
  b.rows = (tiles + b.row_tasks - 1) / b.row_tasks * kernel.max_rows;
  b.extents = (extents + b.extent_tasks - 1) / b.extent_tasks;
  SetScratch(p, padded_depth, panel_bytes, b);
  return b;
}

Range RowsOf(const Product& p, const Blocking& b, int row_task) {
  const int tile = p.kernel->max_rows;
  const int count = (p.row_count() - 1) / tile + 1;
  const Range tiles = Part(count, row_task, b.row_tasks);
  return {tiles.first * tile, tiles.last == count ? p.row_count() : tiles.last * tile};
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
