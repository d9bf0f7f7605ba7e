// One product with all that it needs, in plain arrays, for every contender to take its own way.
#ifndef INTAGLIO_BENCH_GEMM_PROBLEM_H_
#define INTAGLIO_BENCH_GEMM_PROBLEM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "intaglio/bench/gemm/shapes.h"
#include "intaglio/bench/harness/aligned.h"
#include "intaglio/fixedpoint/type.h"

namespace intaglio::bench {

// How accumulators become results.
enum class Arithmetic {
  kHalfEven,  // the three requantization modes
  kDouble,
  kSingle,
  kInteger,  // int32 output: the accumulators with their bias
  kReal,     // float32 output
};
const char* NameOf(Arithmetic arithmetic);

enum class OutputKind { kByte, kInt32, kFloat };  // a byte has the activations' type
const char* NameOf(OutputKind output);

// result[n][m] = finish(sum over k of (activations[n][k] - activation_zero) * (weights[m][k] -
// weight_zero) + bias[m]), where finish is, for bytes, saturate(round(scale[m] * x) + output_zero).
struct Problem {
  Shape shape;
  Type activation_type;  // int8 or uint8
  Type weight_type;
  OutputKind output;
  int threads;
  bool seven_bits = false;  // weights in [-64, 63]

  int32_t activation_zero = 0;
  int32_t weight_zero = 0;
  int32_t output_zero = 0;
  AlignedVector<uint8_t> activations;  // n x k, row-major, the bytes of their type
  AlignedVector<uint8_t> weights;      // m x k, row-major
  std::vector<int32_t> bias;           // m
  std::vector<float> scale;            // m, positive, below 1
  std::vector<int32_t> mantissa;       // m, the same multipliers in fixed point:
  std::vector<int32_t> exponent;       // mantissa * 2^(exponent - 31)

  int m() const { return shape.m; }
  int n() const { return shape.n; }
  int k() const { return shape.k; }
  bool zero_points() const { return weight_zero != 0; }
  Type output_type() const;
  std::string types() const;  // "u8s8": activations, weights

  int32_t Activation(int row, int depth) const;  // as numbers, zero points not taken off
  int32_t Weight(int channel, int depth) const;
};

// Random activations and weights over all of their types (int8 weights: -127 .. 127), scales of
// random mantissas around 1 / (150 sqrt(k)), so that results fill their range and some saturate.
// uint8 weights come with zero points on both sides and, as in the models that have them, one scale
// for all channels; all other problems have no zero points but the output's. int32 output has no
// bias. Always the same for the same arguments.
Problem MakeProblem(const Shape& shape, Type activations, Type weights, OutputKind output,
                    int threads);

// Halves int8 weights, as they are where a product of 7 bits by 8 was planned for.
void UseSevenBits(Problem& problem);

// The definition, element by element.
double Expected(const Problem& problem, Arithmetic arithmetic, int row, int channel);

}  // namespace intaglio::bench

#endif  // INTAGLIO_BENCH_GEMM_PROBLEM_H_
