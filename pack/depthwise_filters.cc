#include "intaglio/pack/depthwise_filters.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "intaglio/pack/validate.h"

namespace intaglio {
namespace {

// Reads the weights of one tap for a panel's channels, less their zero point, and fills the rest
// with zeros. All loops over channels run to kMaxPanelWidth, so that the compiler makes few vectors
// of them.
void ReadTap(const ConstMatrix& filters, const PanelRange& panel, int tap, int32_t* weights) {
  const bool row_major = filters.order == Order::kRowMajor;
  const ptrdiff_t across = row_major ? 1 : filters.stride;
  const auto* at = static_cast<const uint8_t*>(filters.data) +
                   tap * (row_major ? filters.stride : 1) + panel.first_channel * across;
  const int32_t move = filters.type == Type::kInt8 ? 128 : 0;  // to numbers of 0 and more
  const auto weight = [zero = filters.zero_point + move, move](uint8_t byte) {
    return (byte ^ move) - zero;
  };
  uint8_t bytes[kMaxPanelWidth];
  if (row_major) std::memcpy(bytes, at, static_cast<size_t>(panel.channels));
  for (int i = 0; !row_major && i < panel.channels; ++i) bytes[i] = at[i * across];
  // Places without a channel become 0.
  std::memset(bytes + panel.channels, filters.zero_point & 0xff,
              static_cast<size_t>(kMaxPanelWidth - panel.channels));
  for (int i = 0; i < kMaxPanelWidth; ++i) weights[i] = weight(bytes[i]);
}

constexpr int kMaxTerms = 3;

// How many int8 addends `weight`, within [-255, 255], is the sum of.
int TermsOf(int32_t weight) {
  if (weight >= -128 && weight <= 127) return 1;
  return weight <= 254 ? 2 : 3;
}

// Sums and magnitudes of one panel; returns the terms that its weights need.
int Measure(const ConstMatrix& filters, PanelRange& panel, Panels& panels) {
  constexpr int kStretch = 1 << 16;  // taps whose magnitudes int32 can sum
  int64_t magnitudes[kMaxPanelWidth] = {};
  uint32_t sums[kMaxPanelWidth] = {};  // modulo 2^32
  int32_t least[kMaxPanelWidth] = {};
  int32_t most[kMaxPanelWidth] = {};
  for (int first = 0; first < panels.depth; first += kStretch) {
    int32_t magnitudes_here[kMaxPanelWidth] = {};
    for (int tap = first; tap < std::min(panels.depth, first + kStretch); ++tap) {
      int32_t weights[kMaxPanelWidth];
      ReadTap(filters, panel, tap, weights);
      for (int i = 0; i < kMaxPanelWidth; ++i) {
        sums[i] += static_cast<uint32_t>(weights[i]);
        magnitudes_here[i] += std::abs(weights[i]);
        least[i] = std::min(least[i], weights[i]);
        most[i] = std::max(most[i], weights[i]);
      }
    }
    for (int i = 0; i < kMaxPanelWidth; ++i) magnitudes[i] += magnitudes_here[i];
  }
  const auto channels = static_cast<size_t>(panel.channels);
  std::memcpy(panels.sums.data() + panel.first_channel, sums, channels * sizeof(int32_t));
  panel.magnitude = *std::max_element(magnitudes, magnitudes + channels);
  return std::max(TermsOf(*std::min_element(least, least + channels)),
                  TermsOf(*std::max_element(most, most + channels)));
}

// A group of one kernel column. Each channel and term has the bytes of `step` rows from `row` on,
// the first row lowest. Rows beyond the filter are zeros.
struct Words {
  explicit Words(int terms) { std::memset(of, 0, sizeof of[0] * static_cast<size_t>(terms)); }
  uint32_t of[kMaxTerms][kMaxPanelWidth];
};

void Read(const ConstMatrix& filters, const DepthwiseFilters& packed, const PanelRange& panel,
          int row, int column, int terms, Words& words) {
  for (int r = std::max(0, -row); r < std::min(packed.step, packed.kernel_height - row); ++r) {
    int32_t weights[kMaxPanelWidth];
    ReadTap(filters, panel, (row + r) * packed.kernel_width + column, weights);
    for (int term = 0; term + 1 < terms; ++term) {
      uint32_t* const to = words.of[term];
      for (int i = 0; i < kMaxPanelWidth; ++i) {
        const int32_t part = std::min(std::max(weights[i], -128), 127);
        to[i] |= static_cast<uint32_t>(part & 0xff) << (8 * r);
        weights[i] -= part;
      }
    }
    uint32_t* const to = words.of[terms - 1];  // the rest of the weights
    for (int i = 0; i < kMaxPanelWidth; ++i) {
      to[i] |= static_cast<uint32_t>(weights[i] & 0xff) << (8 * r);
    }
  }
}

// Where the bytes of one panel lie.
class Places {
 public:
  Places(const DepthwiseFilters& packed, const PanelRange& panel)
      : step_(static_cast<size_t>(packed.step)), copies_(packed.copies) {
    const PanelFormat& format = packed.panels.format;
    channels_ = panel.channels;
    lanes_ = format.lanes;
    for (int v = 0; v < panel.vectors; ++v) {
      for (int lane = 0; lane < lanes_; ++lane) {
        place_[ChannelOfLane(format, panel.vectors, v, lane)] = v * lanes_ + lane;
      }
    }
  }

  // Writes the words of a group, copy after copy.
  void Write(const uint32_t* words, int8_t* group) const {
    if (step_ == 4) return Write(words, group, std::integral_constant<size_t, 4>());
    Write(words, group, step_);
  }

  // Which vectors are not all zeros, one bit for each vector.
  uint32_t VectorsOf(const uint32_t* words) const {
    uint32_t vectors = 0;
    ForPlaces([&](int i, int at) { vectors |= (words[i] != 0 ? 1u : 0u) << at / lanes_; });
    return vectors;
  }

 private:
  template <class Step>
  void Write(const uint32_t* words, int8_t* group, Step step) const {
    ForPlaces([&](int i, int at) {
      std::memcpy(group + static_cast<size_t>(at) * step, words + i, step);
    });
  }

  // Calls use(channel, place) for each.
  template <class Use>
  void ForPlaces(const Use& use) const {
    for (const int* at = place_; at != place_ + copies_ * channels_; at += channels_) {
      for (int i = 0; i < channels_; ++i) use(i, at[i]);
    }
  }

  size_t step_;
  int copies_;
  int channels_;
  int lanes_;
  int place_[kMaxPanelWidth];  // the place of each channel, copy after copy
};

// The bytes of all lines of one panel, which are zero before. Returns second_vectors of them.
uint32_t Fill(const ConstMatrix& filters, size_t e, const DepthwiseFilters& packed, int8_t* panel) {
  const PanelFormat& format = packed.panels.format;
  const PanelRange& range = packed.panels.ranges[e];
  const Places places(packed, range);
  const int terms = packed.weights[e].terms;
  const ptrdiff_t group_bytes = format.lanes * range.vectors * packed.step;
  const ptrdiff_t column_bytes = group_bytes * packed.groups();
  const ptrdiff_t term_bytes = column_bytes * packed.kernel_width;
  uint32_t second_vectors = 0;
  for (int line = 0; line < packed.lines(); ++line, panel += terms * term_bytes) {
    for (int at = 0; at < packed.kernel_width * packed.groups(); ++at) {
      const int row = at % packed.groups() * packed.step - line;
      Words words(terms);
      Read(filters, packed, range, row, at / packed.groups(), terms, words);
      for (int term = 0; term < terms; ++term) {
        int8_t* const group = panel + term * term_bytes + at * group_bytes;
        places.Write(words.of[term], group);
        if (term == 1) second_vectors |= places.VectorsOf(words.of[term]);
      }
    }
  }
  return second_vectors;
}

}  // namespace

size_t DepthwiseFilters::bytes() const {
  return panels.bytes() + weights.size() * sizeof(Weights) + data.bytes();
}

size_t DepthwiseFilters::LineBytes(size_t panel) const {
  return static_cast<size_t>(panels.format.lanes * panels.ranges[panel].vectors * step) *
         static_cast<size_t>(groups()) * static_cast<size_t>(kernel_width * weights[panel].terms);
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
  panels.ranges = std::move(layout->ranges);
  if (copies > 1) panels.ranges = {{0, vectors, filters.cols, 0}};
  panels.sums.resize(static_cast<size_t>(filters.cols));
  panels.zero_points.resize(static_cast<size_t>(filters.cols));

  size_t bytes = 0;
  for (size_t e = 0; e < panels.ranges.size(); ++e) {
    packed.weights.push_back({bytes, Measure(filters, panels.ranges[e], panels)});
    bytes += packed.LineBytes(e) * static_cast<size_t>(packed.lines());
  }
  packed.data = AlignedBuffer::Allocate(bytes);
  if (bytes > 0 && packed.data.data() == nullptr) {
    return OutOfMemory("no memory for depthwise filters");
  }
  if (bytes > 0) std::memset(packed.data.data(), 0, bytes);
  auto* at = static_cast<int8_t*>(packed.data.data());
  for (size_t e = 0; e < panels.ranges.size(); ++e) {
    packed.weights[e].second_vectors = Fill(filters, e, packed, at);
    at += packed.LineBytes(e) * static_cast<size_t>(packed.lines());
  }
  return packed;
}

}  // namespace intaglio
