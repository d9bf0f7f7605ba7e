#include "intaglio/pack/depthwise_filters.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "intaglio/pack/validate.h"

namespace intaglio {
namespace {

int32_t WeightOf(const ConstMatrix& filters, int tap, int channel) {
  const bool row_major = filters.order == Order::kRowMajor;
  const ptrdiff_t at = row_major ? tap * filters.stride + channel : channel * filters.stride + tap;
  const uint8_t byte = static_cast<const uint8_t*>(filters.data)[at];
  const int32_t q = filters.type == Type::kUInt8 ? byte : static_cast<int8_t>(byte);
  return q - filters.zero_point;
}

// How many int8 addends `weight`, within [-255, 255], is the sum of.
int TermsOf(int32_t weight) {
  if (weight >= -128 && weight <= 127) return 1;
  return weight <= 254 ? 2 : 3;
}

// Sums and magnitudes of one extent; returns the terms that its weights need.
int Measure(const ConstMatrix& filters, PanelExtent& extent, Panels& panels) {
  int terms = 1;
  for (int i = 0; i < extent.channels; ++i) {
    const int channel = extent.first_channel + i;
    int64_t magnitude = 0;
    int64_t sum = 0;
    for (int tap = 0; tap < panels.depth; ++tap) {
      const int32_t weight = WeightOf(filters, tap, channel);
      sum += weight;
      magnitude += std::abs(weight);
      terms = std::max(terms, TermsOf(weight));
    }
    panels.sums[static_cast<size_t>(channel)] =
        static_cast<int32_t>(static_cast<uint32_t>(sum));  // modulo 2^32
    extent.magnitude = std::max(extent.magnitude, magnitude);
  }
  return terms;
}

// The bytes of one line of one extent, which are zero before.
void Fill(const ConstMatrix& filters, size_t e, int line, const DepthwiseFilters& packed,
          int8_t* panel) {
  const PanelFormat& format = packed.panels.format;
  const PanelExtent& extent = packed.panels.extents[e];
  const int terms = packed.weights[e].terms;
  const auto group_bytes = static_cast<size_t>(format.lanes * extent.vectors * packed.step);
  const size_t column_bytes = group_bytes * static_cast<size_t>(packed.groups());
  const size_t term_bytes = column_bytes * static_cast<size_t>(packed.kernel_width);
  for (int v = 0; v < extent.vectors; ++v) {
    for (int lane = 0; lane < format.lanes; ++lane) {
      const int i = ChannelOfLane(format, extent.vectors, v, lane);
      if (i >= extent.channels) continue;
      for (int ky = 0, tap = 0; ky < packed.kernel_height; ++ky) {
        const int row = ky + line;
        int8_t* to =
            panel + static_cast<size_t>(row / packed.step) * group_bytes +
            static_cast<size_t>((v * format.lanes + lane) * packed.step + row % packed.step);
        for (int kx = 0; kx < packed.kernel_width; ++kx, ++tap) {
          int32_t rest = WeightOf(filters, tap, extent.first_channel + i);
          for (int term = 0; term < terms; ++term) {
            int8_t& part =
                to[static_cast<size_t>(kx) * column_bytes + static_cast<size_t>(term) * term_bytes];
            part = static_cast<int8_t>(std::clamp(rest, -128, 127));
            rest -= part;
          }
        }
      }
    }
  }
}

}  // namespace

size_t DepthwiseFilters::bytes() const {
  return panels.bytes() + weights.size() * sizeof(Weights) + data.bytes();
}

size_t DepthwiseFilters::LineBytes(size_t extent) const {
  return static_cast<size_t>(panels.format.lanes * panels.extents[extent].vectors * step) *
         static_cast<size_t>(groups()) * static_cast<size_t>(kernel_width * weights[extent].terms);
}

Result<DepthwiseFilters> PackDepthwiseFilters(const ConstMatrix& filters, int kernel_width,
                                              int multiplier, int lanes, int vectors, int step) {
  INTAGLIO_RETURN_IF_ERROR(ValidateOperand(filters, "depthwise filters"));
  if (multiplier < 1 || filters.cols % multiplier != 0) {
    return InvalidArgument("depthwise: multiplier " + std::to_string(multiplier) + " for " +
                           std::to_string(filters.cols) + " output channels");
  }
  if (kernel_width < 1 || filters.rows % kernel_width != 0) {
    return InvalidArgument("depthwise: " + std::to_string(filters.rows) + " taps in rows of " +
                           std::to_string(kernel_width));
  }
  DepthwiseFilters packed;
  packed.kernel_height = filters.rows / kernel_width;
  packed.kernel_width = kernel_width;
  packed.multiplier = multiplier;
  packed.step = step;
  Panels& panels = packed.panels;
  panels.format = {lanes, vectors, 1};
  panels.channels = filters.cols;
  panels.depth = filters.rows;
  // Checks that even three terms of every line's rows, padded to whole groups, fit the address
  // space.
  const PanelFormat padded{lanes, vectors, 1};
  if (filters.rows > kMaxExtent / (3 * step * step)) {
    return InvalidArgument("depthwise: " + std::to_string(filters.rows) + " taps");
  }
  auto layout = LayOutPanels(padded, filters.cols, 3 * step * step * filters.rows);
  if (!layout.ok()) return layout.status();
  panels.extents = std::move(layout->extents);
  panels.sums.resize(static_cast<size_t>(filters.cols));
  panels.zero_points.resize(static_cast<size_t>(filters.cols));

  size_t bytes = 0;
  for (size_t e = 0; e < panels.extents.size(); ++e) {
    packed.weights.push_back({bytes, Measure(filters, panels.extents[e], panels)});
    bytes += packed.LineBytes(e) * static_cast<size_t>(packed.lines());
  }
  packed.data = AlignedBuffer::Allocate(bytes);
  if (bytes > 0 && packed.data.data() == nullptr) {
    return OutOfMemory("no memory for depthwise filters");
  }
  if (bytes > 0) std::memset(packed.data.data(), 0, bytes);
  auto* at = static_cast<int8_t*>(packed.data.data());
  for (size_t e = 0; e < panels.extents.size(); ++e) {
    for (int line = 0; line < packed.lines(); ++line, at += packed.LineBytes(e)) {
      Fill(filters, e, line, packed, at);
    }
  }
  return packed;
}

}  // namespace intaglio
