#include "intaglio/gemm/write_tile.h"

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
                 const PanelExtent& extent) {
  const auto size = static_cast<ptrdiff_t>(SizeOf(p.dst_type));
  if (p.channel_stride == 1) {
    std::byte* dst = p.dst + (row * p.row_stride + extent.first_channel) * size;
    return CopyLines({tile, static_cast<ptrdiff_t>(tile_stride), dst, p.row_stride * size,
                      extent.channels * size, rows});
  }
  const auto scatter = size == 1   ? Scatter<uint8_t>
                       : size == 2 ? Scatter<uint16_t>
                                   : Scatter<uint32_t>;
  scatter(p, tile, tile_stride, row, rows, extent.first_channel, extent.channels);
}

// Runs a pipeline of the caller's over a tile of accumulators.
void RunTilePipeline(const Product& p, const std::byte* tile, size_t tile_stride, int row, int rows,
                     const PanelExtent& extent) {
  const auto size = static_cast<ptrdiff_t>(SizeOf(p.dst_type));
  p.tile.run(p.tile.pipeline,
             {reinterpret_cast<const int32_t*>(tile),
              static_cast<ptrdiff_t>(tile_stride / sizeof(int32_t)), rows, extent.channels,
              p.channels_along, row, extent.first_channel,
              p.dst + (row * p.row_stride + extent.first_channel * p.channel_stride) * size,
              p.row_stride, p.channel_stride});
}

}  // namespace

void WriteTile(const Product& p, const std::byte* tile, size_t tile_stride, int row, int rows,
               const PanelExtent& extent) {
  if (p.standard != nullptr) {
    ScatterTile(p, tile, tile_stride, row, rows, extent);
  } else {
    RunTilePipeline(p, tile, tile_stride, row, rows, extent);
  }
}

}  // namespace intaglio
