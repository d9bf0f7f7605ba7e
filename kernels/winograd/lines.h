// F(outputs, taps) along one line, in integers: of pixels d and taps w,
//   y = A ((G w) * (B d)) / scale
// where * multiplies the elements. G and B are exact in int16, all else is modulo 2^32.
//
// They are the transposed algorithm of Toom and Cook for the points a / b of kPoints: 1 / 0 is the
// one at infinity. G holds the powers a^i b^(taps - 1 - i), A those of the outputs times what makes
// the quotient the same for all points.
#ifndef INTAGLIO_KERNELS_WINOGRAD_LINES_H_
#define INTAGLIO_KERNELS_WINOGRAD_LINES_H_

#include <cstdint>

namespace intaglio {

// Seven taps in two blocks: 18 multiplications for 6 outputs, in place of 42.
struct Line6x4 {
  static constexpr int kOutputs = 6;
  static constexpr int kTaps = 4;
  static constexpr int kPoints = 9;
  static constexpr int kScale = 12600;
  static constexpr int kG[kPoints][kTaps] = {{-1, 0, 0, 0},  {-1, -1, -1, -1},  {-1, 1, -1, 1},
                                             {1, 2, 4, 8},   {1, -2, 4, -8},    {8, 4, 2, 1},
                                             {8, -4, 2, -1}, {-1, -3, -9, -27}, {0, 0, 0, 1}};
  static constexpr int kB[kPoints][kPoints] = {
      {-12, 4, 63, -21, -63, 21, 12, -4, 0}, {0, 12, 8, -55, -34, 29, 8, -4, 0},
      {0, -12, 16, 47, -68, 5, 16, -4, 0},   {0, 6, 1, -31, -5, 29, 4, -4, 0},
      {0, -6, 5, 29, -25, -19, 20, -4, 0},   {0, 12, 20, -23, -25, 13, 5, -2, 0},
      {0, -12, 28, 7, -35, 7, 7, -2, 0},     {0, 4, 0, -21, 0, 21, 0, -4, 0},
      {0, 12, -4, -63, 21, 63, -21, -12, 4}};
  static constexpr int kA[kOutputs][kPoints] = {
      {1050, 350, 175, 35, 7, 224, 160, 3, 0}, {0, 350, -175, 70, -14, 112, -80, 9, 0},
      {0, 350, 175, 140, 28, 56, 40, 27, 0},   {0, 350, -175, 280, -56, 28, -20, 81, 0},
      {0, 350, 175, 560, 112, 14, 10, 243, 0}, {0, 350, -175, 1120, -224, 7, -5, 729, 3150}};
};

// Five taps: 8 multiplications for 4 outputs, in place of 20.
struct Line4x5 {
  static constexpr int kOutputs = 4;
  static constexpr int kTaps = 5;
  static constexpr int kPoints = 8;
  static constexpr int kScale = 360;
  static constexpr int kG[kPoints][kTaps] = {
      {1, 0, 0, 0, 0},     {1, 1, 1, 1, 1},       {1, -1, 1, -1, 1},   {-1, -2, -4, -8, -16},
      {-1, 2, -4, 8, -16}, {-16, -8, -4, -2, -1}, {-16, 8, -4, 2, -1}, {0, 0, 0, 0, 1}};
  static constexpr int kB[kPoints][kPoints] = {
      {4, 0, -21, 0, 21, 0, -4, 0},  {0, -4, -4, 17, 17, -4, -4, 0}, {0, 4, -4, -17, 17, 4, -4, 0},
      {0, -2, -1, 10, 5, -8, -4, 0}, {0, 2, -1, -10, 5, 8, -4, 0},   {0, -4, -8, 5, 10, -1, -2, 0},
      {0, 4, -8, -5, 10, 1, -2, 0},  {0, -4, 0, 21, 0, -21, 0, 4}};
  static constexpr int kA[kOutputs][kPoints] = {{90, 20, 20, 1, 1, 8, 8, 0},
                                                {0, 20, -20, 2, -2, 4, -4, 0},
                                                {0, 20, 20, 4, 4, 2, 2, 0},
                                                {0, 20, -20, 8, -8, 1, -1, 90}};
};

// Three taps: 6 multiplications for 4 outputs, in place of 12.
struct Line4x3 {
  static constexpr int kOutputs = 4;
  static constexpr int kTaps = 3;
  static constexpr int kPoints = 6;
  static constexpr int kScale = 24;
  static constexpr int kG[kPoints][kTaps] = {{-1, 0, 0},   {1, 1, 1},   {1, -1, 1},
                                             {-1, -2, -4}, {-1, 2, -4}, {0, 0, 1}};
  static constexpr int kB[kPoints][kPoints] = {{-4, 0, 5, 0, -1, 0}, {0, 4, 4, -1, -1, 0},
                                               {0, -4, 4, 1, -1, 0}, {0, 2, 1, -2, -1, 0},
                                               {0, -2, 1, 2, -1, 0}, {0, 4, 0, -5, 0, 1}};
  static constexpr int kA[kOutputs][kPoints] = {
      {6, 4, 4, 1, 1, 0}, {0, 4, -4, 2, -2, 0}, {0, 4, 4, 4, 4, 0}, {0, 4, -4, 8, -8, 24}};
};

// The scale is 2^3 times an odd number: times its inverse, A's sums are 2^3 times the accumulator,
// modulo 2^32, so that results are exact if accumulators lie within [-2^28, 2^28).
inline constexpr int kLineShift = 3;

// The most that a row of a matrix adds up to, of numbers of magnitude `most`.
template <int kRows, int kColumns>
constexpr int LargestSum(const int (&matrix)[kRows][kColumns], int most) {
  int largest = 0;
  for (const auto& row : matrix) {
    int sum = 0;
    for (const int a : row) sum += (a < 0 ? -a : a) * most;
    largest = sum > largest ? sum : largest;
  }
  return largest;
}

// Whether y[i] is the sum over k of d[i + k] w[k] for all numbers, and B and G leave no int16.
template <class L>
constexpr bool IsExactLine() {
  for (int i = 0; i < L::kOutputs; ++i) {
    for (int k = 0; k < L::kTaps; ++k) {
      for (int j = 0; j < L::kPoints; ++j) {
        int sum = 0;
        for (int f = 0; f < L::kPoints; ++f) sum += L::kA[i][f] * L::kG[f][k] * L::kB[f][j];
        if (sum != (j == i + k ? L::kScale : 0)) return false;
      }
    }
  }
  return LargestSum(L::kB, 128) < 1 << 15 && LargestSum(L::kG, 255) < 1 << 15 &&
         L::kScale % (1 << kLineShift) == 0 && L::kScale % (2 << kLineShift) != 0;
}
static_assert(IsExactLine<Line6x4>() && IsExactLine<Line4x5>() && IsExactLine<Line4x3>());

// The inverse of an odd number modulo 2^32. Each step doubles the bits that are right.
constexpr uint32_t InverseOf(uint32_t odd) {
  uint32_t inverse = odd;
  for (int i = 0; i < 4; ++i) inverse *= 2 - odd * inverse;
  return inverse;
}
static_assert(45 * InverseOf(45) == 1 && 1575 * InverseOf(1575) == 1 && 3 * InverseOf(3) == 1);

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_WINOGRAD_LINES_H_
