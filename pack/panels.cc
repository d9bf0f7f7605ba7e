#include "intaglio/pack/panels.h"

#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

namespace intaglio {
namespace {

// Reads elements of an 8-bit matrix as int8, uint8 moved by 128.
struct SignedReader {
  const uint8_t* data;
  ptrdiff_t channel_stride;
  ptrdiff_t depth_stride;
  uint8_t flip;  // the top bit of a uint8: q ^ 0x80 is q - 128 as an int8

  explicit SignedReader(const ConstMatrix& m)
      : data(static_cast<const uint8_t*>(m.data)),
        channel_stride(m.order == Order::kRowMajor ? m.stride : 1),
        depth_stride(m.order == Order::kRowMajor ? 1 : m.stride),
        flip(m.type == Type::kUInt8 ? 0x80 : 0) {}

  int8_t At(int channel, int depth) const {
    const ptrdiff_t at = channel * channel_stride + depth * depth_stride;
    return static_cast<int8_t>(data[at] ^ flip);
  }
};

// Packs one channel into every step-th place of its lane; returns what its column of the tables
// needs.
struct ChannelTotals {
  int32_t sum = 0;
  int64_t magnitude = 0;
};
ChannelTotals PackChannel(const SignedReader& reader, int channel, int depth, int32_t zero_point,
                          const PanelFormat& format, size_t group_bytes, int8_t* lane) {
  ChannelTotals totals;
  const int step = format.depth_step;
  for (int k = 0; k < depth; ++k) {
    const int8_t value = reader.At(channel, k);
    lane[static_cast<size_t>(k / step) * group_bytes + static_cast<size_t>(k % step)] = value;
    totals.sum += value;
    totals.magnitude += std::abs(value - zero_point);
  }
  return totals;
}

}  // namespace

size_t Panels::bytes() const {
  return data.bytes() + extents.size() * sizeof(PanelExtent) +
         (sums.size() + zero_points.size()) * sizeof(int32_t);
}

int64_t Panels::magnitude() const {
  int64_t largest = 0;
  for (const PanelExtent& extent : extents) largest = std::max(largest, extent.magnitude);
  return largest;
}

Result<PanelLayout> LayOutPanels(const PanelFormat& format, int channels, int depth) {
  if (channels > kMaxExtent || depth > kMaxExtent) {
    return InvalidArgument("matrix to pack: " + std::to_string(channels) + " channels x " +
                           std::to_string(depth) + ", more than 2^30 one way");
  }
  const uint64_t vector_bytes = uint64_t{static_cast<uint32_t>(format.Groups(depth))} *
                                static_cast<uint32_t>(format.lanes * format.depth_step);
  // A panel's padding at most doubles the channels.
  const uint64_t channel_bound = 2 * uint64_t{static_cast<uint32_t>(channels)} + kMaxPanelWidth;
  if (vector_bytes > std::numeric_limits<ptrdiff_t>::max() / channel_bound) {
    return OutOfMemory("packed matrix of " + std::to_string(channels) + " x " +
                       std::to_string(depth) + " does not fit the address space");
  }
  PanelLayout layout{{}, 0};
  for (int first = 0, vectors = format.vectors; first < channels;) {
    const int left = channels - first;
    // The widest panel that is not left with an unused vector.
    while (vectors > 1 && left <= format.lanes * (vectors - 1)) vectors /= 2;
    const int width = format.lanes * vectors;
    layout.extents.push_back({first, vectors, std::min(width, left), layout.bytes, 0});
    layout.bytes += static_cast<size_t>(vector_bytes) * static_cast<size_t>(vectors);
    first += width;
  }
  return layout;
}

Result<Panels> MakePanels(const PanelFormat& format, int channels, int depth) {
  auto layout = LayOutPanels(format, channels, depth);
  if (!layout.ok()) return layout.status();
  Panels panels;
  panels.format = format;
  panels.channels = channels;
  panels.depth = depth;
  panels.data = AlignedBuffer::Allocate(layout->bytes);
  if (layout->bytes > 0 && panels.data.data() == nullptr) {
    return OutOfMemory("no memory for a packed matrix of " + std::to_string(layout->bytes) +
                       " bytes");
  }
  panels.extents = std::move(layout->extents);
  panels.sums.resize(static_cast<size_t>(channels));
  panels.zero_points.resize(static_cast<size_t>(channels));
  return panels;
}

void PackExtents(const ConstMatrix& matrix, std::span<const int32_t> zero_points, int first,
                 int last, Panels& panels) {
  const SignedReader reader(matrix);
  const PanelFormat& format = panels.format;
  const int32_t shift = matrix.type == Type::kUInt8 ? 128 : 0;
  for (int e = first; e < last; ++e) {
    PanelExtent& extent = panels.extents[static_cast<size_t>(e)];
    int8_t* panel = static_cast<int8_t*>(panels.data.data()) + extent.offset;
    const size_t vector_bytes = static_cast<size_t>(format.lanes * format.depth_step);
    const size_t group_bytes = vector_bytes * static_cast<size_t>(extent.vectors);
    std::memset(panel, 0, group_bytes * static_cast<size_t>(format.Groups(panels.depth)));
    for (int vector = 0; vector < extent.vectors; ++vector) {
      for (int lane = 0; lane < format.lanes; ++lane) {
        const int within = ChannelOfLane(format, extent.vectors, vector, lane);
        if (within >= extent.channels) continue;
        const int channel = extent.first_channel + within;
        const auto c = static_cast<size_t>(channel);
        const int32_t zero_point =
            (zero_points.empty() ? matrix.zero_point : zero_points[c]) - shift;
        int8_t* place = panel + static_cast<size_t>(vector) * vector_bytes +
                        static_cast<size_t>(lane * format.depth_step);
        const ChannelTotals totals =
            PackChannel(reader, channel, panels.depth, zero_point, format, group_bytes, place);
        panels.sums[c] = totals.sum;
        panels.zero_points[c] = zero_point;
        extent.magnitude = std::max(extent.magnitude, totals.magnitude);
      }
    }
  }
}

}  // namespace intaglio
