// The contract of the loops over float32, in vectors as wide as the CPU has, where the compiler's
// own choice for the oldest CPU that we serve is narrower. Each is one body, compiled once per
// width; the bits do not depend on it.
//
// The words of this family:
//   loops      functions of float32 for one instruction set and one way of adding; a row of the
//              table (float_table.h)
//   line       a run of adjacent numbers; a loop takes any length
//   vector     the numbers of a register; a width is that of a vector in bytes
//   sums       how products are added: fused, or each rounded before
//   panel      kPanelVectors vectors of channels over the whole depth
//   window     the pixels under a filter at one position; its taps are those inside the image
//   frequency  of a Winograd convolution: one of the 36 numbers of a transformed tile
//   to clamp   to replace numbers beyond two bounds by these; NaN passes
#ifndef INTAGLIO_KERNELS_FLOAT32_FLOAT_LOOPS_H_
#define INTAGLIO_KERNELS_FLOAT32_FLOAT_LOOPS_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/fixedpoint/float_sums.h"
#include "intaglio/pack/float_panels.h"

namespace intaglio {

// x to int8: round(x inverse), ties away from zero, plus zero_point, then inside [low, high]; the
// three are integers. NaN gives low.
struct LineQuantizer {
  float inverse = 0;
  float zero_point = 0;
  float low = -127;
  float high = 127;
};

// x to int8 or uint8: round(x / scale), ties to even, plus zero_point, then inside [low, high]. NaN
// gives low.
struct HalfEvenLine {
  float scale = 1;
  int32_t zero_point = 0;
  int32_t low = -128;
  int32_t high = 127;
};

//  Turns lines of sums of products with int8 weights into real numbers, channel by channel:
//    clamp(float(acc - zero_point weight_sums) (scale weight_scales) + bias, low, high)
//  or, with the scales in turn,
//    clamp((float(acc - zero_point weight_sums) weight_scales) scale + bias, low, high)
struct LinesToReal {
  float scale = 1;
  bool in_turn = false;
  int32_t zero_point = 0;
  const int32_t* weight_sums = nullptr;
  const float* weight_scales = nullptr;
  const float* bias = nullptr;
  float low = 0;
  float high = 0;
  int lines = 1;
  ptrdiff_t acc_stride = 0;  // elements from line to line
  ptrdiff_t to_stride = 0;
};

// A product by a matrix [depth, channels] in panels (pack/float_panels.h).
struct PanelProduct {
  const float* panels = nullptr;
  int channels = 0;
  int depth = 0;
  const float* bias = nullptr;  // null: none
  float low = 0;
  float high = 0;
};

// The taps of a window that lie inside the image.
struct WindowPixels {
  int rows = 0;
  int columns = 0;
  const float* x = nullptr;  // under the first tap, channel 0
  ptrdiff_t x_row = 0;       // elements from one tap to the next
  ptrdiff_t x_column = 0;
  float low = 0;
  float high = 0;
};

// A window of int8 or uint8 whose mean becomes a number of 8 bits again, by the rules of ONNX
// Runtime:
//   mean = (sum over taps of scale (x - zero_point)) / divisor,
//   y = round(mean / to.scale + to.zero_point), ties to even, inside [to.low, to.high],
// each operation rounded to float32, in this order. The mean is finite.
struct WindowOfBytes {
  int rows = 0;
  int columns = 0;
  const uint8_t* x = nullptr;  // under the first tap, channel 0
  ptrdiff_t x_row = 0;         // bytes from one tap to the next
  ptrdiff_t x_column = 0;
  bool is_signed = false;
  int32_t zero_point = 0;
  float scale = 1;
  float divisor = 1;
  HalfEvenLine to;
};

enum class PoolKind : uint8_t { kAverage, kLargest, kRootMeanSquare };

// Neighbouring windows of a depthwise convolution whose taps inside the image are the same.
struct WindowTaps : WindowPixels {
  int multiplier = 1;             // output channels of each input channel
  const float* filter = nullptr;  // the first tap
  ptrdiff_t filter_row = 0;
  ptrdiff_t filter_column = 0;
  const float* bias = nullptr;
  int windows = 1;
  ptrdiff_t x_window = 0;  // elements from one window to the next
  ptrdiff_t out_window = 0;
};

// A row x becomes (x - mean) inverse scale + bias, each operation rounded in this order, where
//   mean     that of x, or 0 unless it `centers`,
//   inverse  1 / sqrt(mean of (x - mean)^2 + epsilon), computed in float64,
// both rounded to float32. Sums are built as 32 interleaved float32 sums, s[i % 32]; float64 adds
// them up: s[k] + s[k + 16], and so on by halves.
struct RowNormalizer {
  bool centers = true;
  float epsilon = 0;
  const float* scale = nullptr;  // null: none
  const float* bias = nullptr;
};

// The numbers of add_scaled.
struct ScaledSum {
  float scale_a = 1;
  float scale_b = 1;
  float offset = 0;
};

// A tile of a convolution by F(4x4, 3x3), whose products of frequencies are known.
struct WinogradTile {
  const float* products = nullptr;  // of frequency 0
  ptrdiff_t step = 0;               // elements from one of the 36 frequencies to the next
  const float* bias = nullptr;
  float low = 0;
  float high = 0;
  float* const* to = nullptr;  // 16 pixels, line by line; null where one is outside the image
};

// Products are added to sums as `sums` says. Sums start at 0.
struct FloatLoops {
  uint32_t needs;  // CpuFeature bits
  int lanes;       // float32 of a vector
  FloatSums sums;  // of multiply, multiply_row, add_taps, add_dots and add_multiple
  // The least and the greatest of the elements and 0. NaN counts as nothing.
  void (*range)(const float* x, ptrdiff_t count, float* least, float* greatest);
  void (*quantize)(const LineQuantizer& q, const float* x, ptrdiff_t count, int8_t* to);
  void (*quantize_half_even)(const HalfEvenLine& q, const float* x, ptrdiff_t count, uint8_t* to);
  // Converts to int8 or uint8: clamps to [low, high], and drops the fraction. NaN gives high.
  void (*truncate)(int32_t low, int32_t high, const float* x, ptrdiff_t count, uint8_t* to);
  // to[i] = x[i] rounded to an integer, ties to even. A negative number may become +0, as in
  // TFLite; zeros keep their sign. x may be `to`.
  void (*round_half_even)(const float* x, ptrdiff_t count, float* to);
  void (*to_real)(const LinesToReal& r, const int32_t* acc, ptrdiff_t count, float* to);
  // out[r, c] = clamp(sum over k of x[r, k] w[k, c] + bias[c], low, high), in the order of k.
  void (*multiply)(const PanelProduct& p, const float* x, ptrdiff_t x_stride, int rows, float* out,
                   ptrdiff_t out_stride);
  // out[c] = sum over k of x[k x_step] w[k, c], in the order of k.
  void (*multiply_row)(const StridedMatrix& w, const float* x, ptrdiff_t x_step, float* out);
  // out[c] = clamp(sum over taps of x[c / multiplier] filter[c] + bias[c], low, high), row by row,
  // of each window. `channels` are those of the output.
  void (*add_taps)(const WindowTaps& w, ptrdiff_t channels, float* out);
  // y[r] += sum over k of rows[r][k] x[k], in eight interleaved sums, s[k % 8], which end as
  // ((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7)).
  void (*add_dots)(const float* const* rows, ptrdiff_t count, const float* x, ptrdiff_t depth,
                   float* y);
  // y[i] += factor x[i].
  void (*add_multiple)(float factor, const float* x, ptrdiff_t count, float* y);
  // out[c] = clamp(pool of the taps' x[c], low, high): the largest, which no NaN is, their mean, or
  // the root of the mean of their squares. Sums go row by row.
  void (*pool)(PoolKind kind, const WindowPixels& w, ptrdiff_t channels, float* out);
  // Sums go row by row.
  void (*average_bytes)(const WindowOfBytes& w, ptrdiff_t channels, uint8_t* out);
  // to[i] = exp(x[i]), computed in float64 within a share of 4.2e-11 of it, then rounded. NaN
  // passes. x may be `to`.
  void (*exp)(const float* x, ptrdiff_t count, float* to);
  // to[i] = 1 / (1 + exp(-x[i])) in the same way.
  void (*sigmoid)(const float* x, ptrdiff_t count, float* to);
  // The same, but as TFLite's reference kernel computes LOGISTIC on real numbers: the result is
  // exp(x) below -9, and 1 above a limit.
  void (*logistic)(const float* x, ptrdiff_t count, float* to);
  // to[i] = x[i], or alpha (exp(x[i]) - 1) where x[i] < 0, computed in float64 with a relative
  // error of at most 1e-9, then rounded. NaN passes. x may be `to`.
  void (*elu)(float alpha, const float* x, ptrdiff_t count, float* to);
  // to[i] = log(1 + exp(x[i])), computed in float64 with a relative error of at most 1e-10, then
  // rounded. NaN passes. x may be `to`.
  void (*softplus)(const float* x, ptrdiff_t count, float* to);
  // to[i] = erf(x[i]), computed in float64 within 2.1e-9 of it, then rounded. NaN passes. x may be
  // `to`.
  void (*erf)(const float* x, ptrdiff_t count, float* to);
  // to[i] = tanh(x[i]) in the same way, within 3.7e-11 of it.
  void (*tanh)(const float* x, ptrdiff_t count, float* to);
  // to[i] = e[i] / sum of e for a row of at least one element, where e[i] = exp((x[i] - m) beta),
  // rounded, and m is the largest element, which no NaN is. The sum is built as RowNormalizer says
  // and rounded to float32. x may be `to`.
  void (*softmax)(float beta, const float* x, ptrdiff_t count, float* to);
  // to[i] = (x[i] - m) - log(sum of exp(x - m)), each operation rounded, for a row of at least one
  // element. The sum is that of softmax, whose logarithm is taken in float64. x may not be `to`.
  void (*log_softmax)(const float* x, ptrdiff_t count, float* to);
  // a[i] = a[i] scale_a + (b[i] scale_b + offset). Both products must be exact in float64, where
  // they are computed. Each sum is rounded to float32, as by a fused multiply-add. Rows of fused
  // sums have these instructions, and the same bits if the sums are exact in float64, too.
  void (*add_scaled)(const ScaledSum& sum, const float* b, ptrdiff_t count, float* a);
  // F(4x4, 3x3) of 6 lines of 6 pixels: to[f step + c] is frequency f of channel c.
  void (*transform_tile)(const float* const* pixels, ptrdiff_t channels, float* to, ptrdiff_t step);
  // The pixels of a tile: clamp(A' M A + bias, low, high), where M are the products.
  void (*finish_tile)(const WinogradTile& tile, ptrdiff_t channels);
  // A row of at least one element. x may be `to`.
  void (*normalize)(const RowNormalizer& n, const float* x, ptrdiff_t count, float* to);
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_FLOAT32_FLOAT_LOOPS_H_
