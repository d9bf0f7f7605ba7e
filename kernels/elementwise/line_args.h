// The contract of the element-wise half of a kernel: functions of *lines*, runs of adjacent bytes.
//
// Lines may have any length and alignment. The output may be an input: elements are read before
// those at the same place are written. Numbers are int8 or uint8; in parameters, int8 numbers and
// their zero points are moved up by 128 (`flip` is 0x80 then, else 0).
#ifndef INTAGLIO_KERNELS_ELEMENTWISE_LINE_ARGS_H_
#define INTAGLIO_KERNELS_ELEMENTWISE_LINE_ARGS_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/fixedpoint/fit_double_rounding.h"
#include "intaglio/fixedpoint/requantize.h"
#include "intaglio/fixedpoint/sum_of_bytes.h"

namespace intaglio {

// What follows the arithmetic: the zero point is added, the sum clamped; not moved.
struct LineOutput {
  bool is_signed = true;
  int32_t zero_point = 0;
  int32_t clamp_min = -128;
  int32_t clamp_max = 127;

  uint8_t flip() const { return is_signed ? 0x80 : 0; }  // of inputs, which have the output's type
};

// (a - zero_a) * (b - zero_b), requantized by double rounding without a left shift.
struct ProductOfBytes {
  int32_t zero_a = 0;
  int32_t zero_b = 0;
  QuantizedMultiplier scale;
  bool fitted = false;  // by `fit`, for kernels with a fused multiply-add; else there is none
  DoubleRoundingFit fit = {};
};

// Two lines of `count` numbers; where `repeats_b`, the second is one number for all.
struct LinePair {
  const void* a;
  const void* b;
  bool repeats_b;
  void* out;
  ptrdiff_t count;
};

// Lines of adjacent windows of rows * columns taps, 1 to LineRoutines::kMostTaps. A tap is a line
// of `count` bytes, as is what becomes of a window. The output must not be an input.
struct WindowRun {
  const void* in;  // the first tap of the first window
  ptrdiff_t row_stride;
  ptrdiff_t column_stride;  // `count`, where a line has more than one window
  int rows;
  int columns;
  int step;    // columns from one window to the next
  int pixels;  // windows in a line, at least 1
  ptrdiff_t count;
  void* out;
  ptrdiff_t out_pixel;       // bytes of the output from one window to the next
  int lines = 1;             // at least 1
  int line_step = 0;         // rows from one line to the next
  ptrdiff_t out_stride = 0;  // bytes of the output from one line to the next
};

// `lines` lines of `count` bytes, `stride` bytes apart. int8 numbers have the flip 0x80.
struct LineStack {
  const uint8_t* in;
  ptrdiff_t stride;
  ptrdiff_t lines;
  ptrdiff_t count;
  uint8_t flip;
};

// `rows` rows of `depth` bytes, at least 1, one behind the other. int8 numbers are moved up by 128
// by the flip 0x80.
struct ByteRows {
  const uint8_t* bytes;
  uint8_t flip;
  ptrdiff_t rows;
  ptrdiff_t depth;
};

// Bilinear interpolation: what an output is made of, two rows or columns and their weights.
template <class W>
struct Tap {
  ptrdiff_t low = 0;
  ptrdiff_t high = 0;
  W weight_low = 0;
  W weight_high = 0;
};

// A line of `pixels` of the result, between two lines of the image of `columns` pixels each.
template <class T, class W>
struct BlendLine {
  static constexpr ptrdiff_t kMostTogether = 64;  // channels that are blended at a time
  static constexpr int kGroup = 16;               // to multiples of which they are padded

  // Numbers from one column's to the next in the scratch.
  static constexpr ptrdiff_t Stride(ptrdiff_t channels) {
    return channels < kMostTogether ? (channels + kGroup - 1) / kGroup * kGroup : kMostTogether;
  }
  static constexpr ptrdiff_t ScratchSize(ptrdiff_t columns, ptrdiff_t channels) {
    return 2 * columns * Stride(channels);
  }

  const T* upper;
  const T* lower;
  ptrdiff_t columns;
  W weight_upper;
  W weight_lower;
  const Tap<W>* taps;
  ptrdiff_t pixels;
  ptrdiff_t channels;
  T* out;
  W* scratch;  // ScratchSize(columns, channels)
};

// The same of bytes, by weights of few bits: those of the lines, which add up to 2^y, and of a
// tap's columns, which add up to 2^x, are not negative.
struct ByteBlend {
  static constexpr int kMostShift = 8;
  static constexpr int kMostLineShift = 6;  // y

  const uint8_t* upper;
  const uint8_t* lower;
  ptrdiff_t columns;
  int32_t weight_upper;
  int32_t weight_lower;
  const Tap<int32_t>* taps;
  ptrdiff_t pixels;
  ptrdiff_t channels;
  int shift;  // x + y, in [1, kMostShift]
  bool is_signed;
  uint8_t* out;
};

struct LineRoutines {
  static constexpr int kMostTaps = 1 << 8;  // of a window

  void (*add)(const SumOfBytes& sum, const LineOutput& output, const LinePair& line);
  // The same of int16 by the definition, with zero points 0 and terms of kWordShift; of the output
  // only the clamp counts.
  void (*add_words)(const SumOfBytes& sum, const LineOutput& output, const LinePair& line);
  void (*multiply)(const ProductOfBytes& product, const LineOutput& output, const LinePair& line);
  // The largest number of each window, clamped.
  void (*largest)(const WindowRun& run, const LineOutput& output);
  // The mean, to nearest, ties away from zero; clamped.
  void (*average)(const WindowRun& run, const LineOutput& output);
  // sums[i] += the sum of number i of each line.
  void (*add_lines)(const LineStack& lines, int32_t* sums);
  // places[r] = the first of the largest bytes of row r, xored with the flip.
  void (*places)(const ByteRows& rows, int32_t* places);
  // Weights of 10 fractional bits, which add up to 1, of a tap and of the lines; the sum of the
  // four products, which must fit int32, over 2^20, to nearest, ties away from zero. Products may
  // wrap.
  void (*blend_fixed)(const BlendLine<int8_t, int32_t>& line);
  // The products of columns low and high, each upper before lower, and 1/2 are added up in float32
  // in this order, and the sum loses its fraction. Factors are multiplied in the order number,
  // weight of the line, weight of the column.
  void (*blend_real)(const BlendLine<uint8_t, float>& line);
  // The sum of the four products over 2^shift, to nearest, ties away from zero.
  void (*blend_bytes)(const ByteBlend& line);
  // out[i] = in[i], which is not negative, requantized by double rounding without a left shift.
  void (*requantize)(const int32_t* in, const QuantizedMultiplier& scale, const LineOutput& output,
                     void* out, ptrdiff_t count);
  // out[i] = 1 / (1 + in[i]) for numbers in [0, 1) of 31 fraction bits.
  void (*reciprocals)(const int32_t* in, int32_t* out, ptrdiff_t count);
  // out[i] = scale * (in[i] - zero point) in float32, of numbers of this type and zero point, which
  // is within it.
  void (*dequantize)(const void* in, const LineOutput& numbers, float scale, float* out,
                     ptrdiff_t count);
  // out[i] = in[i] / scale in float32, to nearest, ties away from zero, plus the zero point,
  // saturated, which is all of the output that counts; of NaN the zero point. Scales are those of
  // IsQuantizeScale. Null where this takes as long as divisions.
  void (*quantize)(const float* in, float scale, const LineOutput& output, void* out,
                   ptrdiff_t count) = nullptr;

  // Neither reciprocals nor remainders leave the range of normal numbers.
  static constexpr bool IsQuantizeScale(float scale) {
    return scale >= 0x1p-60f && scale <= 0x1p60f;
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_ELEMENTWISE_LINE_ARGS_H_
