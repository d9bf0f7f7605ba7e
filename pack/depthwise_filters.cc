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

// The weights of one tap of an extent's channels, less their zero point.
void ReadTap(const ConstMatrix& filters, const PanelExtent& extent, int tap, int32_t* weights) {
  const bool row_major = filters.order == Order::kRowMajor;
  const ptrdiff_t across = row_major ? 1 : filters.stride;
  const auto* at = static_cast<const uint8_t*>(filters.data) +
                   tap * (row_major ? filters.stride : 1) + extent.first_channel * across;
  const int32_t move = filters.type == Type::kInt8 ? 128 : 0;  // to numbers of 0 and more
  const auto weight = [zero = filters.zero_point + move, move](uint8_t byte) {
    return (byte ^ move) - zero;
  };
  if (row_major) {  // a loop that the compiler makes vectors of
    for (int i = 0; i < extent.channels; ++i) weights[i] = weight(at[i]);
  } else {
    for (int i = 0; i < extent.channels; ++i) weights[i] = weight(at[i * across]);
  }
}

// How many int8 addends `weight`, within [-255, 255], is the sum of.
int TermsOf(int32_t weight) {
  if (weight >= -128 && weight <= 127) return 1;
  return weight <= 254 ? 2 : 3;
}

// Sums and magnitudes of one extent; returns the terms that its weights need.
int Measure(const ConstMatrix& filters, PanelExtent& extent, Panels& panels) {
  int64_t sums[kMaxPanelWidth] = {};
  int64_t magnitudes[kMaxPanelWidth] = {};
  int32_t least = 0;
  int32_t most = 0;
  for (int tap = 0; tap < panels.depth; ++tap) {
    int32_t weights[kMaxPanelWidth];
    ReadTap(filters, extent, tap, weights);
    for (int i = 0; i < extent.channels; ++i) {
      sums[i] += weights[i];
      magnitudes[i] += std::abs(weights[i]);
      least = std::min(least, weights[i]);
      most = std::max(most, weights[i]);
    }
  }
  for (int i = 0; i < extent.channels; ++i) {
    panels.sums[static_cast<size_t>(extent.first_channel + i)] =
        static_cast<int32_t>(static_cast<uint32_t>(sums[i]));  // modulo 2^32
    extent.magnitude = std::max(extent.magnitude, magnitudes[i]);
  }
  return std::max(TermsOf(least), TermsOf(most));
}

// The addends of one weight, `apart` bytes apart.
void FillTerms(int32_t weight, int terms, int8_t* part, size_t apart) {
  for (int term = 0; term < terms; ++term, part += apart) {
    *part = static_cast<int8_t>(std::clamp(weight, -128, 127));
    weight -= *part;
  }
}

// The bytes of all lines of one extent, which are zero before. Returns second_vectors of them.
uint32_t Fill(const ConstMatrix& filters, size_t e, const DepthwiseFilters& packed, int8_t* panel) {
  const PanelFormat& format = packed.panels.format;
  const PanelExtent& extent = packed.panels.extents[e];
  const int terms = packed.weights[e].terms;
  const auto group_bytes = static_cast<size_t>(format.lanes * extent.vectors * packed.step);
  const size_t column_bytes = group_bytes * static_cast<size_t>(packed.groups());
  const size_t term_bytes = column_bytes * static_cast<size_t>(packed.kernel_width);
  size_t place[kMaxPanelWidth];  // of each channel in a group, copy after copy
  for (int at = 0; at < format.lanes * extent.vectors; ++at) {
    const int v = at / format.lanes;
    place[ChannelOfLane(format, extent.vectors, v, at % format.lanes)] =
        static_cast<size_t>(at * packed.step);
  }
  const size_t vector_bytes = static_cast<size_t>(format.lanes * packed.step);
  uint32_t second_vectors = 0;
  for (int tap = 0; tap < packed.panels.depth; ++tap) {
    int32_t weights[kMaxPanelWidth];
    ReadTap(filters, extent, tap, weights);
    int8_t* of_line = panel + static_cast<size_t>(tap % packed.kernel_width) * column_bytes;
    for (int line = 0; line < packed.lines(); ++line, of_line += packed.LineBytes(e)) {
      const int row = tap / packed.kernel_width + line;
      int8_t* const group = of_line + static_cast<size_t>(row / packed.step) * group_bytes +
                            static_cast<size_t>(row % packed.step);
      for (const size_t* at = place; at != place + packed.copies * extent.channels;
           at += extent.channels) {
        if (terms == 1) {
          for (int i = 0; i < extent.channels; ++i) group[at[i]] = static_cast<int8_t>(weights[i]);
        } else {
          for (int i = 0; i < extent.channels; ++i) {
            FillTerms(weights[i], terms, group + at[i], term_bytes);
            if (TermsOf(weights[i]) > 1) second_vectors |= 1u << at[i] / vector_bytes;
          }
        }
      }
    }
  }
  return second_vectors;
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
                                              int multiplier, int lanes, int vectors, int step,
                                              int copies) {
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
  packed.copies = copies;
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
  if (copies > 1) panels.extents = {{0, vectors, filters.cols, 0}};
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
    packed.weights[e].second_vectors = Fill(filters, e, packed, at);
    at += packed.LineBytes(e) * static_cast<size_t>(packed.lines());
  }
  return packed;
}

}  // namespace intaglio
