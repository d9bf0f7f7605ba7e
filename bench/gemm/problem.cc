#include "intaglio/bench/gemm/problem.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "intaglio/fixedpoint/quantize_multiplier.h"
#include "intaglio/fixedpoint/requantize.h"

namespace intaglio::bench {
namespace {

size_t Size(int a, int b) { return static_cast<size_t>(a) * static_cast<size_t>(b); }

int32_t Number(uint8_t byte, Type type) {
  return type == Type::kInt8 ? static_cast<int8_t>(byte) : byte;
}

void FillBytes(AlignedVector<uint8_t>& bytes, std::mt19937& random) {
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random() >> 24);
}

RequantMode ModeOf(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::kDouble   ? RequantMode::kDoubleRounding
         : arithmetic == Arithmetic::kSingle ? RequantMode::kSingleRounding
                                             : RequantMode::kFloatHalfEven;
}

}  // namespace

const char* NameOf(Arithmetic arithmetic) {
  static constexpr const char* kNames[] = {"halfeven", "double", "single", "integer", "real"};
  return kNames[static_cast<int>(arithmetic)];
}

const char* NameOf(OutputKind output) {
  static constexpr const char* kNames[] = {"byte", "int32", "float"};
  return kNames[static_cast<int>(output)];
}

Type Problem::output_type() const {
  if (output == OutputKind::kInt32) return Type::kInt32;
  return output == OutputKind::kFloat ? Type::kFloat32 : activation_type;
}

std::string Problem::types() const {
  const auto name = [](Type type) { return std::string(type == Type::kInt8 ? "s8" : "u8"); };
  return name(activation_type) + (seven_bits ? "s7" : name(weight_type));
}

int32_t Problem::Activation(int row, int depth) const {
  return Number(activations[Size(row, k()) + static_cast<size_t>(depth)], activation_type);
}

int32_t Problem::Weight(int channel, int depth) const {
  return Number(weights[Size(channel, k()) + static_cast<size_t>(depth)], weight_type);
}

Problem MakeProblem(const Shape& shape, Type activations, Type weights, OutputKind output,
                    int threads) {
  Problem p{shape, activations, weights, output, threads, false, 0, 0, 0, {}, {}, {}, {}, {}, {}};
  std::mt19937 random(1234);
  p.activations.resize(Size(p.n(), p.k()));
  p.weights.resize(Size(p.m(), p.k()));
  FillBytes(p.activations, random);
  FillBytes(p.weights, random);
  if (weights == Type::kInt8) {
    std::replace(p.weights.begin(), p.weights.end(), uint8_t{0x80}, uint8_t{0x81});
  } else {
    p.activation_zero = activations == Type::kInt8 ? -7 : 121;
    p.weight_zero = 133;
  }
  p.output_zero = activations == Type::kInt8 ? 0 : 128;
  std::uniform_real_distribution<double> factor(0.5, 1.5);
  const double common = factor(random);
  for (int m = 0; m < p.m(); ++m) {
    const auto bias = static_cast<int32_t>(random() % 20001) - 10000;
    p.bias.push_back(output == OutputKind::kInt32 ? 0 : bias);
    const double channel = weights == Type::kUInt8 ? common : factor(random);
    const double real = channel / (150 * std::sqrt(p.k()));
    p.scale.push_back(static_cast<float>(real));
    const auto multiplier = QuantizeMultiplier(real);
    p.mantissa.push_back(multiplier->mantissa);
    p.exponent.push_back(multiplier->exponent);
  }
  return p;
}

void UseSevenBits(Problem& problem) {
  problem.seven_bits = true;
  for (uint8_t& byte : problem.weights) {
    byte = static_cast<uint8_t>(static_cast<int8_t>(byte) >> 1);
  }
}

double Expected(const Problem& p, Arithmetic arithmetic, int row, int channel) {
  const auto c = static_cast<size_t>(channel);
  int32_t acc = p.bias[c];
  for (int k = 0; k < p.k(); ++k) {
    acc += (p.Activation(row, k) - p.activation_zero) * (p.Weight(channel, k) - p.weight_zero);
  }
  if (arithmetic == Arithmetic::kInteger) return acc;
  if (arithmetic == Arithmetic::kReal) return static_cast<float>(acc) * p.scale[c];
  const int32_t scaled =
      RequantizeScalar(ModeOf(arithmetic), acc, {p.mantissa[c], p.exponent[c]}, p.scale[c]);
  const bool is_signed = p.output_type() == Type::kInt8;
  return std::clamp<double>(static_cast<double>(scaled) + p.output_zero, is_signed ? -128 : 0,
                            is_signed ? 127 : 255);
}

}  // namespace intaglio::bench
