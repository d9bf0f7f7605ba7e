#include "intaglio/pack/panels.h"

#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

namespace intaglio {
namespace {

// One panel on its way: where its channels lie in the source, and where in the panel.
struct PanelSource {
  const uint8_t* data;  // of the panel's first channel
  ptrdiff_t channel_stride;
  ptrdiff_t depth_stride;
  uint8_t flip;  // the top bit of a uint8: q ^ 0x80 is q - 128 as an int8
  int depth;
  int channels;
  int step;                      // of depth
  size_t group_bytes;            // from one group to the next
  size_t place[kMaxPanelWidth];  // of each channel within a group
};

PanelSource SourceOf(const ConstMatrix& m, const PanelFormat& format, const PanelExtent& extent) {
  const bool depth_runs = m.order == Order::kRowMajor;
  PanelSource s{};
  s.channel_stride = depth_runs ? m.stride : 1;
  s.depth_stride = depth_runs ? 1 : m.stride;
  s.data = static_cast<const uint8_t*>(m.data) + extent.first_channel * s.channel_stride;
  s.flip = m.type == Type::kUInt8 ? 0x80 : 0;
  s.depth = m.cols;
  s.channels = extent.channels;
  s.step = format.depth_step;
  s.group_bytes = static_cast<size_t>(format.lanes * extent.vectors * format.depth_step);
  for (int v = 0; v < extent.vectors; ++v) {
    for (int lane = 0; lane < format.lanes; ++lane) {
      s.place[ChannelOfLane(format, extent.vectors, v, lane)] =
          static_cast<size_t>((v * format.lanes + lane) * format.depth_step);
    }
  }
  return s;
}

// A source whose channels lie contiguous: channel by channel, a group at a time.
template <int kStep>
void PackChannels(const PanelSource& s, int8_t* panel) {
  for (int c = 0; c < s.channels; ++c) {
    const uint8_t* from = s.data + c * s.channel_stride;
    int8_t* to = panel + s.place[c];
    int k = 0;
    for (; k + kStep <= s.depth; k += kStep, from += kStep, to += s.group_bytes) {
      for (int t = 0; t < kStep; ++t) to[t] = static_cast<int8_t>(from[t] ^ s.flip);
    }
    for (int t = 0; k + t < s.depth; ++t) to[t] = static_cast<int8_t>(from[t] ^ s.flip);
  }
}

// Any other source: depth by depth, all channels of the panel at a time.
void PackDepths(const PanelSource& s, int8_t* panel) {
  for (int k = 0; k < s.depth; ++k) {
    const uint8_t* from = s.data + k * s.depth_stride;
    int8_t* to = panel + static_cast<size_t>(k / s.step) * s.group_bytes + k % s.step;
    for (int c = 0; c < s.channels; ++c) {
      to[s.place[c]] = static_cast<int8_t>(from[c * s.channel_stride] ^ s.flip);
    }
  }
}

// The sums over depth of each channel's values, and the largest sum of |value - zero point|, from
// the packed panel: groups are read as they lie.
int64_t SumChannels(const PanelSource& s, const int8_t* panel, const int32_t* zero_points,
                    int32_t* sums) {
  int64_t largest = 0;
  for (int c = 0; c < s.channels; ++c) {
    const int8_t* from = panel + s.place[c];
    int64_t sum = 0;
    int64_t magnitude = 0;
    const int groups = s.depth / s.step;
    for (int g = 0; g < groups; ++g, from += s.group_bytes) {
      int32_t part = 0;
      for (int t = 0; t < s.step; ++t) {
        sum += from[t];
        part += std::abs(from[t] - zero_points[c]);
      }
      magnitude += part;
    }
    for (int t = 0; t < s.depth % s.step; ++t) {
      sum += from[t];
      magnitude += std::abs(from[t] - zero_points[c]);
    }
    sums[c] = static_cast<int32_t>(static_cast<uint32_t>(sum));  // modulo 2^32
    largest = std::max(largest, magnitude);
  }
  return largest;
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
  const PanelFormat& format = panels.format;
  const int32_t shift = matrix.type == Type::kUInt8 ? 128 : 0;
  for (int e = first; e < last; ++e) {
    PanelExtent& extent = panels.extents[static_cast<size_t>(e)];
    const PanelSource source = SourceOf(matrix, format, extent);
    int8_t* panel = static_cast<int8_t*>(panels.data.data()) + extent.offset;
    const auto groups = static_cast<size_t>(format.Groups(panels.depth));
    if (extent.channels < format.lanes * extent.vectors || panels.depth % format.depth_step != 0) {
      std::memset(panel, 0, source.group_bytes * groups);
    }
    if (source.depth_stride == 1 && format.depth_step == 4) {
      PackChannels<4>(source, panel);
    } else if (source.depth_stride == 1 && format.depth_step == 2) {
      PackChannels<2>(source, panel);
    } else if (source.depth_stride == 1 && format.depth_step == 1) {
      PackChannels<1>(source, panel);
    } else {
      PackDepths(source, panel);
    }

    const auto c = static_cast<size_t>(extent.first_channel);
    for (int i = 0; i < extent.channels; ++i) {
      const size_t channel = c + static_cast<size_t>(i);
      panels.zero_points[channel] =
          (zero_points.empty() ? matrix.zero_point : zero_points[channel]) - shift;
    }
    extent.magnitude =
        SumChannels(source, panel, panels.zero_points.data() + c, panels.sums.data() + c);
  }
}

}  // namespace intaglio
