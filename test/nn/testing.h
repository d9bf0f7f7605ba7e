// What the tests of nn share: tensors as plain ints, models of one layer, and the arithmetic of
// TFLite's reference kernels once more, from its definition and in wide integers.
#ifndef INTAGLIO_TEST_NN_TESTING_H_
#define INTAGLIO_TEST_NN_TESTING_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/ops/builder.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/test/fixedpoint/wide.h"

namespace intaglio::nn {

inline int LowestOf(Type type) {
  return type == Type::kInt8 ? -128 : type == Type::kInt16 ? -32768 : 0;
}
inline int HighestOf(Type type) {
  return type == Type::kInt8     ? 127
         : type == Type::kInt16  ? 32767
         : type == Type::kUInt16 ? 65535
                                 : 255;
}

// A quantized tensor whose numbers are ints, whatever the type.
struct Q {
  Type type = Type::kInt8;
  Shape shape;
  float scale = 1;
  int zero_point = 0;
  std::vector<int> values;

  Quantization quantization() const { return PerTensor(scale, zero_point); }
  size_t Offset(const std::vector<int>& index) const {
    size_t offset = 0;
    for (size_t i = 0; i < index.size(); ++i) {
      offset = offset * static_cast<size_t>(shape[i]) + static_cast<size_t>(index[i]);
    }
    return offset;
  }
  int At(const std::vector<int>& index) const { return values[Offset(index)]; }
};

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}

  int Int(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }
  bool Flip() { return Int(0, 1) == 1; }
  float Scale(double low, double high) {
    return static_cast<float>(
        std::exp(std::uniform_real_distribution<double>(std::log(low), std::log(high))(engine_)));
  }
  // An input scale for which some element lies next to a tie of `out_scale`, closer than 2^-19.
  float ScaleNearTie(float out_scale) {
    const int halves = 2 * Int(0, 60) + 1;
    const double distance = Int(-1000, 1000) * 2e-9;
    return static_cast<float>(static_cast<double>(out_scale) * (halves + distance) /
                              (2.0 * Int(40, 127)));
  }
  template <class T>
  T Of(const std::vector<T>& values) {
    return values[static_cast<size_t>(Int(0, static_cast<int>(values.size()) - 1))];
  }
  // Extremes come often.
  int Element(Type type) {
    const int dice = Int(0, 9);
    if (dice == 0) return LowestOf(type);
    if (dice == 1) return HighestOf(type);
    return Int(LowestOf(type), HighestOf(type));
  }
  Q Tensor(Type type, Shape shape, float scale, int zero_point) {
    Q q{type, std::move(shape), scale, zero_point, {}};
    const auto count = static_cast<size_t>(*CountElements(q.shape));
    while (q.values.size() < count) q.values.push_back(Element(type));
    return q;
  }
  Q Tensor(Type type, Shape shape) {
    return Tensor(type, std::move(shape), Scale(0.01, 0.2), Int(LowestOf(type), HighestOf(type)));
  }

 private:
  std::mt19937 engine_;
};

template <class T>
std::vector<T> As(const std::vector<int>& values) {
  std::vector<T> result;
  for (const int v : values) result.push_back(static_cast<T>(v));
  return result;
}

inline std::vector<std::byte> Bytes(Type type, const std::vector<int>& values) {
  std::vector<std::byte> bytes(values.size() * SizeOf(type));
  const auto copy = [&](const auto& typed) {
    if (!typed.empty()) std::memcpy(bytes.data(), typed.data(), bytes.size());
  };
  switch (type) {
    case Type::kInt8:
      copy(As<int8_t>(values));
      break;
    case Type::kUInt8:
      copy(As<uint8_t>(values));
      break;
    case Type::kInt16:
      copy(As<int16_t>(values));
      break;
    case Type::kUInt16:
      copy(As<uint16_t>(values));
      break;
    default:
      copy(As<int32_t>(values));
  }
  return bytes;
}

template <class T>
std::vector<int> IntsAs(const std::vector<std::byte>& bytes) {
  std::vector<T> typed(bytes.size() / sizeof(T));
  if (!typed.empty()) std::memcpy(typed.data(), bytes.data(), bytes.size());
  return {typed.begin(), typed.end()};
}

inline std::vector<int> Ints(Type type, const std::vector<std::byte>& bytes) {
  switch (type) {
    case Type::kInt8:
      return IntsAs<int8_t>(bytes);
    case Type::kUInt8:
      return IntsAs<uint8_t>(bytes);
    case Type::kInt16:
      return IntsAs<int16_t>(bytes);
    case Type::kUInt16:
      return IntsAs<uint16_t>(bytes);
    default:
      return IntsAs<int32_t>(bytes);
  }
}

inline Value Input(Builder& b, const Q& q, std::string name = "x") {
  return b.Input(std::move(name), q.type, q.shape, q.quantization());
}

inline Constant Const(Builder& b, const Q& q, Quantization quantization,
                      std::string name = "weights") {
  if (q.type == Type::kInt8) {
    return b.Const<int8_t>(std::move(name), As<int8_t>(q.values), q.shape, std::move(quantization));
  }
  return b.Const<uint8_t>(std::move(name), As<uint8_t>(q.values), q.shape, std::move(quantization));
}

// Runs a model of one output.
inline std::vector<int> RunModel(Model& model, const std::vector<Q>& inputs) {
  std::vector<std::vector<std::byte>> bytes;
  std::vector<InputBuffer> in;
  for (const Q& q : inputs) bytes.push_back(Bytes(q.type, q.values));
  for (size_t i = 0; i < inputs.size(); ++i) {
    in.push_back({bytes[i].data(), bytes[i].size(), inputs[i].type});
  }
  const Tensor& output = model.output(0);
  std::vector<std::byte> result(*CountBytes(output.shape, output.type));
  const OutputBuffer out[] = {{result.data(), result.size(), output.type}};
  const Status status = model.Run(in, out);
  EXPECT_TRUE(status.ok()) << status.message();
  return Ints(output.type, result);
}

// Finishes a graph whose output is y, prepares it and runs it.
inline std::vector<int> RunGraph(Builder& b, Value y, const std::vector<Q>& inputs,
                                 Shape* shape = nullptr, int threads = 1) {
  b.Output(y, "y");
  Result<Graph> graph = b.Finish();
  if (!graph.ok()) {
    ADD_FAILURE() << graph.status().message();
    return {};
  }
  PrepareOptions options;
  options.threads = threads;
  Result<Model> model = Model::Prepare(std::move(*graph), options);
  if (!model.ok()) {
    ADD_FAILURE() << model.status().message();
    return {};
  }
  if (shape != nullptr) *shape = model->output(0).shape;
  return RunModel(*model, inputs);
}

// The message of the error that finishing or preparing the graph gives.
inline std::string ErrorOf(Builder& b, Value y) {
  b.Output(y, "y");
  Result<Graph> graph = b.Finish();
  if (!graph.ok()) return graph.status().message();
  const Result<Model> model = Model::Prepare(std::move(*graph));
  return model.ok() ? "ok" : model.status().message();
}

// The oracle of requantization: x times a real number, by a 31-bit mantissa, rounded twice.
using intaglio::test::Wide;

struct Multiplier {
  int64_t mantissa = 0;
  int exponent = 0;

  explicit Multiplier(double real) {
    const double fraction = std::frexp(real, &exponent);
    mantissa = std::llround(std::ldexp(fraction, 31));
  }
  Multiplier(int64_t m, int e) : mantissa(m), exponent(e) {}
};

inline int64_t FloorDivide(Wide a, int64_t b) {
  const Wide quotient = a / b;
  return static_cast<int64_t>(quotient * b > a ? quotient - 1 : quotient);
}
// a / b to nearest, ties away from zero, for b > 0.
inline int64_t RoundDivide(Wide a, int64_t b) {
  const Wide magnitude = ((a < 0 ? -a : a) * 2 + b) / (Wide{2} * b);
  return static_cast<int64_t>(a < 0 ? -magnitude : magnitude);
}

// (a b) / 2^31 to nearest, ties upwards.
inline int64_t HighMul(int64_t a, int64_t b) {
  return FloorDivide(Wide{a} * b + (Wide{1} << 30), int64_t{1} << 31);
}

inline int64_t Scaled(int64_t x, const Multiplier& m) {
  const int left = std::max(m.exponent, 0);
  const int right = std::max(-m.exponent, 0);
  const int64_t high = HighMul(x * (int64_t{1} << left), m.mantissa);
  return RoundDivide(high, int64_t{1} << right);
}

inline int Clamp(int64_t x, int64_t low, int64_t high) {
  return static_cast<int>(std::clamp(x, low, high));
}

// The clamp of an output with an activation.
inline std::pair<int, int> Clamps(Type type, const Q& out, Activation activation) {
  const auto quantized = [&](float v) {
    return Clamp(out.zero_point + std::llround(std::round(v / out.scale)), LowestOf(type),
                 HighestOf(type));
  };
  switch (activation) {
    case Activation::kRelu:
      return {quantized(0), HighestOf(type)};
    case Activation::kRelu6:
      return {quantized(0), quantized(6)};
    case Activation::kReluN1To1:
      return {quantized(-1), quantized(1)};
    default:
      return {LowestOf(type), HighestOf(type)};
  }
}

inline const std::vector<Type> kEightBit = {Type::kInt8, Type::kUInt8};
inline const std::vector<Activation> kActivations = {Activation::kNone, Activation::kRelu,
                                                     Activation::kRelu6, Activation::kReluN1To1};

// Every index of a shape, in row-major order.
template <class Body>
void ForEachIndex(const Shape& shape, const Body& body) {
  if (std::count(shape.begin(), shape.end(), 0) > 0) return;
  std::vector<int> index(shape.size(), 0);
  while (true) {
    body(index);
    size_t i = shape.size();
    while (i > 0 && ++index[i - 1] == shape[i - 1]) index[--i] = 0;
    if (i == 0) return;
  }
}

}  // namespace intaglio::nn

#endif  // INTAGLIO_TEST_NN_TESTING_H_
