#include "intaglio/gemm/run/write_tile.h"

#include <algorithm>

#include "intaglio/pack/copy_lines.h"

namespace intaglio {
namespace {

// Copies a tile of finished elements to its place in dst, whose rows are not runs.
template <class Element>
void Scatter(const Product& p, const std::byte* tile, size_t tile_stride, int row, int rows,
             int channel, int channels) {
  auto* dst = reinterpret_cast<Element*>(p.dst) + row * p.row_stride + channel * p.channel_stride;
  for (int r = 0; r < rows; ++r, tile += tile_stride, dst += p.row_stride) {
    const auto* from = reinterpret_cast<const Element*>(tile);
    for (int c = 0; c < channels; ++c) dst[c * p.channel_stride] = from[c];
  }
}

void ScatterTile(const Product& p, const std::byte* tile, size_t tile_stride, int row, int rows,
                 const PanelRange& panel) {
  const auto size = static_cast<ptrdiff_t>(SizeOf(p.dst_type));
  if (p.channel_stride == 1) {
    std::byte* dst = p.dst + (row * p.row_stride + panel.first_channel) * size;
    return CopyLines({tile, static_cast<ptrdiff_t>(tile_stride), dst, p.row_stride * size,
                      panel.channels * size, rows});
  }
  const auto scatter = size == 1   ? Scatter<uint8_t>
                       : size == 2 ? Scatter<uint16_t>
                                   : Scatter<uint32_t>;
  scatter(p, tile, tile_stride, row, rows, panel.first_channel, panel.channels);
}

// Runs a pipeline of the caller's over a tile of accumulators.
void RunTilePipeline(const Product& p, const std::byte* tile, size_t tile_stride, int row, int rows,
                     const PanelRange& panel) {
  const auto size = static_cast<ptrdiff_t>(SizeOf(p.dst_type));
  p.tile.run(p.tile.pipeline,
             {reinterpret_cast<const int32_t*>(tile),
              static_cast<ptrdiff_t>(tile_stride / sizeof(int32_t)), rows, panel.channels,
              p.channels_along, row, panel.first_channel,
              p.dst + (row * p.row_stride + panel.first_channel * p.channel_stride) * size,
              p.row_stride, p.channel_stride});
}

// Brings a tile to its place in dst. tile_stride: bytes from row to row.
void WriteTile(const Product& p, const std::byte* tile, size_t tile_stride, int row, int rows,
               const PanelRange& panel) {
  if (p.standard != nullptr) {
    ScatterTile(p, tile, tile_stride, row, rows, panel);
  } else {
    RunTilePipeline(p, tile, tile_stride, row, rows, panel);
  }
}

}  // namespace

void RunByScratch(const Product& p, const Kernel& kernel, const PanelRange& panel, int first,
                  int row, const Scratch& scratch, const TileArgs& all) {
  const size_t stride =
      static_cast<size_t>(p.panels->format.lanes * panel.vectors) * SizeOf(p.epilogue.output);
  TileArgs args = all;
  args.dst = scratch.tile;
  args.dst_stride = static_cast<ptrdiff_t>(stride);
  const int rows_each = kScratchTileRows / kernel.max_rows * kernel.max_rows;
  TileRun run(kernel);
  for (; row < all.row_count; row += rows_each) {
    // A call takes whole tiles of windows: the last windows may be computed again.
    if (all.windows.begin != nullptr) row = std::min(row, all.row_count - kernel.max_rows);
    args.row_count = std::min(rows_each, all.row_count - row);
    args.rows = static_cast<const std::byte*>(all.rows) + row * all.row_stride;
    if (all.windows.begin != nullptr) args.windows.begin = all.windows.begin + row;
    if (all.row_sums != nullptr) args.row_sums = all.row_sums + row;
    if (all.row_terms != nullptr) args.row_terms = all.row_terms + row;
    if (all.own_terms != nullptr) args.own_terms = all.own_terms + row;
    run.Tile(args);
    if (p.standard == nullptr) run.End();  // what follows is the user's code
    WriteTile(p, scratch.tile, stride, first + row, args.row_count, panel);
    args.fetch_ahead = false;
  }
}

int RowsOfEdge(const Product& p, const Kernel& kernel, int count) {
  constexpr int kRowsWorthACall = 24;  // a second one takes as long as copying so many
  if (count <= kRowsWorthACall || !kernel.stores_in_order) return 0;
  const PanelRange& edge = p.panels->ranges.back();
  const int more = p.panels->format.lanes * edge.vectors - edge.channels;
  if (more == 0 || p.row_stride != p.channel_count()) return 0;
  const int direct = count - (more - 1) / p.channel_count() - 1;
  return direct >= kRowsWorthACall ? direct : 0;
}

}  // namespace intaglio
