#include "intaglio/pack/panels.h"

#include <cassert>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

#include "intaglio/pack/first_byte.h"
#include "intaglio/pack/pages.h"
#include "intaglio/pack/validate.h"

namespace intaglio {
namespace {

// Where each channel lies within a group of its panel.
struct Places {
  explicit Places(const PanelSource& s) {
    for (int v = 0; v < s.vectors; ++v) {
      for (int lane = 0; lane < s.format.lanes; ++lane) {
        place[ChannelOfLane(s.format, s.vectors, v, lane)] =
            static_cast<ptrdiff_t>((v * s.format.lanes + lane) * s.format.depth_step);
      }
    }
  }
  ptrdiff_t place[kMaxPanelWidth];
};

PanelSource SourceOf(const ConstMatrix& m, const PanelFormat& format, const PanelRange& panel) {
  const bool depth_runs = m.order == Order::kRowMajor;
  const ptrdiff_t channel_stride = depth_runs ? m.stride : 1;
  return {FirstByte(m) + panel.first_channel * channel_stride,
          channel_stride,
          depth_runs ? 1 : m.stride,
          static_cast<uint8_t>(m.type == Type::kUInt8 ? 0x80 : 0),
          panel.channels,
          m.cols,
          panel.vectors,
          format};
}

// body(std::integral_constant<int, depth step>)
template <class Body>
void WithStep(const PanelSource& s, const Body& body) {
  switch (s.format.depth_step) {
    case 1:
      return body(std::integral_constant<int, 1>());
    case 2:
      return body(std::integral_constant<int, 2>());
    case 4:
      return body(std::integral_constant<int, 4>());
    case 8:
      return body(std::integral_constant<int, 8>());
    case 16:
      return body(std::integral_constant<int, 16>());
    default:
      assert(false && "a depth step that no kernel has");
  }
}

// each(value) for all the packed values of a channel.
template <class Each>
void ForValues(const PanelSource& s, const int8_t* from, const Each& each) {
  WithStep(s, [&](auto step) {
    for (int g = 0; g < s.groups(); ++g, from += s.group_bytes()) {
      for (int t = 0; t < step(); ++t) each(from[t]);
    }
  });
}

}  // namespace

void FillPanel(const PanelSource& s, int8_t* panel) {
  if (s.depth == 0) return;  // of a panel that may be null
  const Places places(s);
  std::fill_n(panel, s.group_bytes() * s.groups(), int8_t{0});
  WithStep(s, [&](auto step) {
    for (int c = 0; c < s.channels; ++c) {
      const uint8_t* from = s.data + c * s.channel_stride;
      int8_t* to = panel + places.place[c];
      for (int k = 0; k < s.depth; k += step(), to += s.group_bytes()) {
        const int count = std::min(step(), s.depth - k);
        for (int t = 0; t < count; ++t, from += s.depth_stride) {
          to[t] = static_cast<int8_t>(*from ^ s.flip);
        }
      }
    }
  });
}

void SumPanel(const PanelSource& s, const int8_t* panel, int32_t* sums) {
  if (s.depth == 0) {  // of a panel that may be null
    std::fill_n(sums, s.channels, 0);
    return;
  }
  const Places places(s);
  for (int c = 0; c < s.channels; ++c) {
    uint32_t sum = 0;
    ForValues(s, panel + places.place[c], [&](int v) { sum += static_cast<uint32_t>(v); });
    sums[c] = static_cast<int32_t>(sum);
  }
}

int64_t MeasurePanel(const PanelSource& s, const int8_t* panel, const int32_t* zero_points) {
  if (s.depth == 0) return 0;  // the same
  const Places places(s);
  const int padding = s.groups() * s.format.depth_step - s.depth;
  int64_t largest = 0;
  for (int c = 0; c < s.channels; ++c) {
    const int32_t zero = zero_points[c];
    int64_t sum = -int64_t{padding} * std::abs(zero);
    ForValues(s, panel + places.place[c], [&](int v) { sum += std::abs(v - zero); });
    largest = std::max(largest, sum);
  }
  return largest;
}

size_t Panels::bytes() const {
  return data.bytes() + ranges.size() * sizeof(PanelRange) +
         (sums.size() + zero_points.size()) * sizeof(int32_t);
}

int64_t Panels::magnitude() const {
  int64_t largest = 0;
  for (const PanelRange& panel : ranges) largest = std::max(largest, panel.magnitude);
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
  layout.ranges.reserve(static_cast<size_t>(channels / format.width()) + 8);
  for (int first = 0, vectors = format.vectors; first < channels;) {
    const int left = channels - first;
    // The widest panel that is not left with an unused vector.
    while (vectors > 1 && left <= format.lanes * (vectors - 1)) vectors /= 2;
    const int width = format.lanes * vectors;
    layout.ranges.push_back({first, vectors, std::min(width, left), layout.bytes});
    layout.bytes += static_cast<size_t>(vector_bytes) * static_cast<size_t>(vectors);
    first += width;
  }
  return layout;
}

Status LayOutPanels(const PanelFormat& format, int channels, int depth, Panels& panels) {
  auto layout = LayOutPanels(format, channels, depth);
  if (!layout.ok()) return layout.status();
  if (panels.data.bytes() < layout->bytes) {
    panels.data = {};  // before there is a second one
    panels.data = AlignedBuffer::Allocate(layout->bytes);
    Populate(panels.data.data(), panels.data.bytes());
    if (panels.data.data() == nullptr) {
      return OutOfMemory("no memory for a packed matrix of " + std::to_string(layout->bytes) +
                         " bytes");
    }
  }
  panels.format = format;
  panels.channels = channels;
  panels.depth = depth;
  panels.groups = format.Groups(depth);
  panels.ranges = std::move(layout->ranges);
  panels.sums.resize(static_cast<size_t>(channels));
  panels.zero_points.resize(static_cast<size_t>(channels));
  return {};
}

void PackPanels(const ConstMatrix& matrix, std::span<const int32_t> zero_points,
                Magnitudes magnitudes, const PanelRoutines& routines, int first, int last,
                Panels& panels) {
  const int32_t shift = matrix.type == Type::kUInt8 ? 128 : 0;
  for (int e = first; e < last; ++e) {
    PanelRange& range = panels.ranges[static_cast<size_t>(e)];
    const PanelSource source = SourceOf(matrix, panels.format, range);
    int8_t* panel = static_cast<int8_t*>(panels.data.data()) + range.offset;
    routines.fill(source, panel);
    const auto c = static_cast<size_t>(range.first_channel);
    routines.sum(source, panel, panels.sums.data() + c);
    int32_t* zeros = panels.zero_points.data() + c;
    int64_t distance = LargestDistance(matrix.type, matrix.zero_point);
    std::fill_n(zeros, range.channels, matrix.zero_point - shift);
    for (int i = 0; !zero_points.empty() && i < range.channels; ++i) {
      const int32_t zero_point = zero_points[c + static_cast<size_t>(i)];
      distance = std::max(distance, LargestDistance(matrix.type, zero_point));
      zeros[i] = zero_point - shift;
    }
    range.magnitude = magnitudes == Magnitudes::kExact ? routines.measure(source, panel, zeros)
                                                       : distance * panels.depth;
    const size_t bytes =
        static_cast<size_t>(source.group_bytes()) * static_cast<size_t>(source.groups());
    range.has_lowest =
        panels.format.depth_step != 16 || (bytes > 0 && std::memchr(panel, 0x80, bytes) != nullptr);
  }
}

}  // namespace intaglio
