// The contract of the Winograd part of a kernel: convolutions of stride 1, in integers and exact
// (docs/numerics.md has the proof). Filters of 3x3 are computed by F(4x4, 3x3):
//
//   6x6 pixels  --B'-->  V: 36 numbers a channel     M[f] = sum over channels of V[f] * U[f]
//   3x3 weights --G'-->  U: 36 numbers a channel     36 products M  --A'-->  4x4 pixels
//
// V and U are int16, and everything behind them is int32 modulo 2^32. The 36 numbers of a tile are
// its *frequencies*; those of one frequency are a matrix product of tiles by channels.
//
// Other filters are cut into lines of taps, the *blocks*: tiles are lines of pixels, too, each
// block has V and U of its own, one behind the other, and the sum M goes over the blocks as well.
#ifndef INTAGLIO_KERNELS_WINOGRAD_WINOGRAD_ARGS_H_
#define INTAGLIO_KERNELS_WINOGRAD_WINOGRAD_ARGS_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/kernels/tile/epilogue.h"
#include "intaglio/pack/panels.h"

namespace intaglio {

// By what a tile is computed: F(outputs, taps) along a line or, of squares, along both sides.
enum class WinogradArithmetic : uint8_t { kSquare4x3, kLine6x4, kLine4x5, kLine4x3 };
inline constexpr int kWinogradArithmetics = 4;

// How convolutions by filters of one shape are cut.
struct WinogradForm {
  int kernel_height;
  int kernel_width;
  WinogradArithmetic arithmetic;
  int tile_height;  // pixels of the output
  int tile_width;
  int under_height;  // pixels under it, of one block: as many as there are frequencies
  int under_width;
  int blocks = 1;
  int block_down = 0;  // pixels from one block to the next
  int block_right = 0;
  // A sum of |w| of one output and one group of channels for which results are exact.
  int64_t most_magnitude;
  int most_weight;  // the largest |w| whose U fits int16

  constexpr int frequencies() const { return under_height * under_width; }
  constexpr int pixels() const { return tile_height * tile_width; }
  constexpr int taps() const { return kernel_height * kernel_width; }
  constexpr int block_taps() const { return (taps() + blocks - 1) / blocks; }
};

// Rows of V come in multiples of this: tiles beyond the last are of any bytes.
inline constexpr int kWinogradTiles = 4;
// Channels of a row of V come in multiples of this.
inline constexpr int kWinogradChannels = 32;

// From one frequency to the next: an odd number of cache lines, because streams a power of two
// apart would share few sets of a cache.
constexpr ptrdiff_t FrequencyStep(ptrdiff_t bytes) { return ((bytes + 63) / 64 | 1) * 64; }

// V of one block of a tile: frequency f of channel c is at `to` + f * step bytes + c.
struct WinogradInputArgs {
  const uint8_t* const* pixels;  // [frequencies], row by row: the first channel of each
  int channels;
  uint8_t flip;  // 0x80 where the input's top bits are to be flipped
  int16_t* to;   // up to a multiple of kWinogradChannels is written
  ptrdiff_t step;
};

// U of a block of the channels [first, first + count), both multiples of four, for the filters of
// one panel, whose depths are those of [height][width][channels] filters. Two channels form a pair,
// in the panel's lanes: pair p of frequency f is at `to` + f * step bytes + p * vectors vectors.
struct WinogradWeightsArgs {
  const int8_t* panel;
  int vectors;
  int channels;
  int first;
  int count;
  int first_tap;               // of the block
  int taps;                    // up to as many as its arithmetic has; the others are zeros
  const int16_t* zero_points;  // [vectors][lanes][2], subtracted from weights
  int16_t* to;
  ptrdiff_t step;
};

// M of some tiles by one panel: [frequencies][tiles][vectors * lanes], in the order of lanes.
struct WinogradProductArgs {
  const int16_t* rows;  // V
  ptrdiff_t row_step;   // bytes from tile to tile
  ptrdiff_t rows_step;  // from frequency to frequency
  const int16_t* weights;
  ptrdiff_t weights_step;
  int frequencies;
  int vectors;
  int tiles;  // a multiple of kWinogradTiles
  int count;  // of depth: of a group's channels or of all blocks', a multiple of four
  int32_t* to;
  ptrdiff_t to_step;
};

// Makes results of products: the sum over groups of channels of what each group's M says, which is
// the accumulator of the plain convolution, finished as that is.
struct WinogradFinishArgs {
  const int32_t* products;
  ptrdiff_t step;        // bytes from frequency to frequency
  ptrdiff_t group_step;  // from group to group
  int groups;
  int vectors;
  int tiles;
  const PanelForm* params;  // of the panels' width
  EpilogueParams epilogue;
  char* const* dst;  // [tiles][pixels]: where each pixel goes, which takes the panel's whole width
  ptrdiff_t dst_offset;  // bytes that are added to each
};

inline constexpr int kNeverByDefault = 1 << 30;

// Which convolutions take less time so than by the kernel's tiles, as measured.
struct WinogradRange {
  int least_channels = 16;  // of the input
  int least_fill = 0;       // percent of the tiles' pixels that are the output's
  int least_tiles = 0;      // for each 256 channels of the input, if U is made in each call
};

// A kernel's routines, and the panels that they read, which may not be those of its products: they
// are as wide, but of pairs of depths.
struct WinogradTransforms {
  void (*input)(const WinogradInputArgs&);
  void (*weights)(const WinogradWeightsArgs&);
  void (*finish)(const WinogradFinishArgs&);
};
struct WinogradRoutines {
  WinogradTransforms transforms[kWinogradArithmetics];
  void (*multiply)(const WinogradProductArgs&);
  PanelFormat panel;
  PanelRoutines pack;
  WinogradRange pays;  // of squares
  WinogradRange lines_pay;

  const WinogradTransforms& of(const WinogradForm& form) const {
    return transforms[static_cast<int>(form.arithmetic)];
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_WINOGRAD_WINOGRAD_ARGS_H_
