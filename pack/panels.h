// Packed panels: the layout in which micro-kernels read one side of a product.
//
// The *panel side* contributes `channels` vectors of `depth` elements. A panel holds up to
// lanes * vectors channels, interleaved so that one load feeds one multiply instruction: for each
// group of `depth_step` depths, for each vector j, for each lane l, the group's depth_step
// consecutive bytes of one channel. Bytes are int8; uint8 input is moved by 128. Depth is padded
// with zeros to a whole number of groups, channels to a whole panel.
//
//   panel:  | group 0: vector 0 [lane 0: k0 k1 k2 k3][lane 1: ...] ... vector 1 ... | group 1: ...
//
// Lane l of vector j holds channel (l / 4) * 4 * v + 4 * j + l % 4 of the panel, v being the
// panel's vectors. It is the order that the in-lane pack instructions of x86 (PACKSSDW, PACKUSWB)
// undo, so that a tile narrows to bytes in memory order without a permutation.
//
// The words of this room:
//   matrix         a view of a caller's memory: type, extents, stride, order, zero point
//   side           the left-hand or the right-hand operand of a product
//   panel side     the side that is packed into panels; the other one is the row side
//   channel        one vector of the panel side: a row, or a column of the result
//   row            one vector of the row side
//   depth          the length of channels and rows: of the inner products
//   group          depth_step consecutive depths, which one instruction multiplies and adds
//   lane           an int32 of a vector register; vector: a register's lanes, as many channels
//   panel          the channels of up to kMaxPanelVectors vectors, over the whole depth
//   panel range    which channels one panel holds, and where its bytes are
//   format         how a kernel wants panels (PanelFormat), or rows (RowFormat)
//   magnitude      the largest sum over depth of |value - zero point| of a channel
//   lowest         -128, which some kernels cannot negate
//   move, flip     uint8 stored as int8 is moved by -128: its top bit is flipped
//   safe pairs     weights whose products with bytes add up, by two, within an int16
//   im2col         a convolution's input seen as a matrix: a row is a window
//   window         the pixels under a filter at one position
//   run            a kernel row of a window, which is contiguous in the image
//   filter         the weights of one output channel of a depthwise convolution
//   tap            one pixel's weight in a filter
//   term           an int8 addend of a weight that does not fit int8
#ifndef INTAGLIO_PACK_PANELS_H_
#define INTAGLIO_PACK_PANELS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/pack/aligned_buffer.h"
#include "intaglio/pack/matrix.h"

namespace intaglio {

// The widest panel of any kernel, in channels.
inline constexpr int kMaxPanelWidth = 64;
inline constexpr int kMaxPanelVectors = 16;

// The most channels, and the most depth, that panels are made of: padding them stays within an int.
inline constexpr int kMaxExtent = 1 << 30;

struct PanelFormat {
  int lanes = 1;       // int32 lanes of a vector
  int vectors = 1;     // of a full panel: a power of two, as the narrower panels at the end are
  int depth_step = 1;  // depths multiplied by one instruction
  bool safe_pairs = false;  // only for values of which PairsAreSafe (pack/safe_pairs.h) says so
  bool tiles = false;       // of a kernel that multiplies tiles, and shares a layout with another

  bool operator==(const PanelFormat&) const = default;

  int width() const { return lanes * vectors; }
  int Groups(int depth) const { return (depth + depth_step - 1) / depth_step; }
};

// Channel (within its panel of `vectors` vectors) of lane `lane` of vector `vector`.
constexpr int ChannelOfLane(const PanelFormat& format, int vectors, int vector, int lane) {
  const int run = std::min(4, format.lanes);
  return (lane / run) * run * vectors + run * vector + lane % run;
}

// Which channels a panel holds. All panels but the last are full; the rest of the channels are
// covered by narrower ones, each half as wide as the one before.
struct PanelRange {
  int first_channel;
  int vectors;
  int channels;   // really present, at most lanes * vectors
  size_t offset;  // of the panel's bytes
  // The largest sum over depth of |value - zero point| of its channels, which bounds accumulators.
  int64_t magnitude = 0;
  bool has_lowest = true;  // of the panel's bytes may be -128; known better only of 16-deep groups
};

// One packed side.
struct Panels {
  PanelFormat format;
  int channels = 0;
  int depth = 0;
  int groups = 0;  // of depth
  // The depth is as many runs of the same length, each padded to whole groups: a convolution's
  // kernel rows, for windows alone (pack/image_lines.h). 1: the depth is padded once.
  int runs = 1;
  std::vector<PanelRange> ranges;
  AlignedBuffer data;
  // Per channel, of the stored (int8) values: the sum over depth, and the zero point moved as they
  // were.
  std::vector<int32_t> sums;
  std::vector<int32_t> zero_points;
  bool has_zero_points = false;  // any of them is not 0
  bool one_zero_point = true;    // all of them are the same

  size_t bytes() const;
  // The largest of the panels' magnitudes.
  int64_t magnitude() const;
  const int8_t* Panel(const PanelRange& panel) const {
    return static_cast<const int8_t*>(data.data()) + panel.offset;
  }
};

// The values that one panel is made of. One of the strides is 1; both are in bytes.
struct PanelSource {
  const uint8_t* data;  // of the panel's first channel
  ptrdiff_t channel_stride;
  ptrdiff_t depth_stride;
  uint8_t flip;  // the top bit of a uint8: q ^ 0x80 is q - 128 as an int8
  int channels;
  int depth;
  int vectors;
  PanelFormat format;

  int groups() const { return format.Groups(depth); }
  ptrdiff_t group_bytes() const { return ptrdiff_t{format.lanes} * vectors * format.depth_step; }
};

// What packing does for any format: the definition of what a kernel's own, faster routines do.
//
// Writes the whole panel, padding included.
void FillPanel(const PanelSource& source, int8_t* panel);
// The sum over depth of each channel's packed values, modulo 2^32.
void SumPanel(const PanelSource& source, const int8_t* panel, int32_t* sums);
// The largest sum over depth of a channel's |value - zero point|.
int64_t MeasurePanel(const PanelSource& source, const int8_t* panel, const int32_t* zero_points);

struct PanelRoutines {
  void (*fill)(const PanelSource& source, int8_t* panel) = FillPanel;
  void (*sum)(const PanelSource& source, const int8_t* panel, int32_t* sums) = SumPanel;
  int64_t (*measure)(const PanelSource& source, const int8_t* panel,
                     const int32_t* zero_points) = MeasurePanel;
};

// The panels of `channels` channels of `depth`, and the bytes they take.
struct PanelLayout {
  std::vector<PanelRange> ranges;
  size_t bytes;
};
Result<PanelLayout> LayOutPanels(const PanelFormat& format, int channels, int depth);

// Lays out panels for `channels` channels of `depth`, not yet filled. Memory that `panels` holds
// from before is used again where it suffices.
Status LayOutPanels(const PanelFormat& format, int channels, int depth, Panels& panels);

// How well a panel's magnitude is to be known.
enum class Magnitudes : uint8_t {
  kExact,
  kOfType,  // what a zero point and the type allow, at no cost
};

// Fills panels [first, last) of `panels` from `matrix`, whose rows are the channels. Safe to call
// for disjoint ranges from several threads.
void PackPanels(const ConstMatrix& matrix, std::span<const int32_t> zero_points,
                Magnitudes magnitudes, const PanelRoutines& routines, int first, int last,
                Panels& panels);

}  // namespace intaglio

#endif  // INTAGLIO_PACK_PANELS_H_
