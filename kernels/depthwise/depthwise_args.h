// The contract of the depthwise half of a kernel.
//
// The taps of a filter are multiplied in groups of `step` kernel rows of one kernel column, as the
// dot instructions of the GEMM multiply groups of depth: the input of a group is a vector whose
// lanes hold `step` bytes, one of each of the rows. A column of the input serves the filters of all
// pixels that it lies under, so that its bytes are interleaved once.
#ifndef INTAGLIO_KERNELS_DEPTHWISE_DEPTHWISE_ARGS_H_
#define INTAGLIO_KERNELS_DEPTHWISE_DEPTHWISE_ARGS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "intaglio/kernels/tile/epilogue.h"

namespace intaglio {

// One kernel row's input: the first column within the image, of which a whole panel's channels can
// be read, and the bytes from column to column; 0 of a row outside the image.
struct DepthwiseRow {
  const uint8_t* data;
  ptrdiff_t step;
};

inline constexpr int kMaxBands = 8;

// `bands` bands of `lines` neighbouring output lines, each a run of `pixels` neighbouring pixels,
// over one panel of channels. Of one band: acc[l][p][c] =
//     sum over ky, kx of input[l + ky][p * pixel_step + kx * tap_step][c] * weights[ky][kx][c].
struct DepthwiseArgs {
  const int8_t* weights;   // of the first line, as pack/depthwise_filters.h says
  ptrdiff_t line_weights;  // bytes to those of the next, which meet the same groups a row lower
  int packed_lines;        // groups * step - kernel height + 1: of which there are weights
  int lines;               // 1 .. packed_lines
  int bands;               // 1 .. kMaxBands
  int terms;
  uint32_t second_vectors;  // bit j: vector j of the panel is not all zeros in the second term
  int vectors;              // of the panel
  // [bands][groups * step]; beyond a band's last row, where weights are zero, of any bytes that can
  // be read.
  const DepthwiseRow* rows;
  ptrdiff_t first_channel;  // added to each of them
  int first_column;         // of the image, whose columns the run begins with
  const uint8_t* outside;   // a pixel of zero points
  int columns_before;       // of those outside the image on its left side, then
  int columns_inside;       // within it; the rest is outside again
  int columns;              // (pixels - 1) * pixel_step + (kernel_width - 1) * tap_step + 1
  int groups;               // of kernel rows
  int kernel_width;
  int pixel_step;  // columns
  // Of a panel that holds pixel_step neighbouring pixels: the bytes of each, which are those of a
  // column too; 0 of others. FoldsPixels and AreFolded hold.
  int pixel_bytes;
  int tap_step;
  int pixels;
  uint8_t flip;             // 0x80 where the input's top bits are to be flipped
  const PanelForm* params;  // of the panel's width
  EpilogueParams epilogue;
  void* dst;
  ptrdiff_t dst_stride;  // bytes between pixels
  ptrdiff_t dst_line;    // bytes between lines
  ptrdiff_t dst_band;    // bytes between bands,
  ptrdiff_t dst_last;    // and from the last but one to the last
  void* scratch;         // DepthwiseScratchBytes, aligned to 64
  // Whether scratch has the columns of this very run, of whatever channels, from the call before;
  // true or false for the next call when this one is done.
  bool* has_columns;
};

// Bytes from the results of the band before band b to its own.
INTAGLIO_INLINE ptrdiff_t DstStep(const DepthwiseArgs& args, int b) {
  return b + 1 == args.bands ? args.dst_last : args.dst_band;
}

// Whether kernels that slide (Kernel::slides_columns), which take `step` kernel rows at once, meet
// columns in registers, under filters of this shape: of up to four rows in one group, of three in
// two, or of five in three.
constexpr bool SlidesColumns(int step, int groups, int kernel_width, int tap_step, int pixel_step,
                             int lines, int packed_lines) {
  const bool threes = groups * step == 4 && kernel_width == 3;
  const bool fives = groups * step == 6 && step == 2 && kernel_width == 5;
  return (threes || fives) && tap_step == 1 && pixel_step <= 2 && lines * pixel_step <= 2 &&
         ((pixel_step == 2 && step == 4) || packed_lines >= 2);
}

// Whether kernels that fold (Kernel::folds_pixels) take panels of several neighbouring pixels of
// filters of this shape, whose multiplier is 1: they have up to four vectors.
constexpr bool FoldsPixels(int kernel_height, int kernel_width, int channels, int lanes) {
  return kernel_height == 3 && kernel_width == 3 &&
         (2 * channels == lanes || channels == lanes || channels == 2 * lanes);
}

// Whether filters of three columns, of so many terms, are scaled and written in one of the ways for
// which kernels/depthwise/depthwise_slide.h has code. With a second term that is double rounding
// alone, which uint8 weights come with.
INTAGLIO_INLINE constexpr bool AreSlid(const PanelForm& params, int vectors, int terms,
                                       Type output) {
  if (SizeOf(output) != 1 || terms > 2) return false;
  if (params.form == ScalingForm::kFloatHalfEvenBounded) return terms == 1;
  return IsDoubleRounding(params.form) && IsBounded(params, vectors);
}

// Whether kernels that fold pixels have code for such a panel of them: two pixels to a panel pay
// only where all vectors share a form.
INTAGLIO_INLINE constexpr bool AreFolded(const PanelForm& params, int vectors, int terms,
                                         Type output, int pixels) {
  const bool share = params.form == ScalingForm::kFloatHalfEvenBounded ||
                     (params.form == ScalingForm::kDoubleRoundingFitted && terms == 1);
  return AreSlid(params, vectors, terms, output) && (pixels > 2 || share);
}

// Interleaved columns: a vector of at most kMaxPanelWidth 32-bit lanes for each group of rows.
constexpr size_t DepthwiseColumnBytes(int vectors, int lanes, int groups) {
  return static_cast<size_t>(vectors * lanes) * sizeof(int32_t) * static_cast<size_t>(groups);
}

// Where the columns of all bands lie (depthwise_slide.h).
inline constexpr size_t kColumnSpansBytes = size_t{kMaxBands} * 5 * 13 * sizeof(uintptr_t);

// Of a run of `columns` columns: them, interleaved, or where they lie.
constexpr size_t DepthwiseScratchBytes(int columns, int vectors, int lanes, int groups) {
  const auto count = static_cast<size_t>(columns);
  return std::max(count * DepthwiseColumnBytes(vectors, lanes, groups), kColumnSpansBytes);
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_DEPTHWISE_DEPTHWISE_ARGS_H_
