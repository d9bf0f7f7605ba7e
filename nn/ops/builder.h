// Writes a graph by hand, one call per layer:
//
//   Builder b("tiny");
//   Value x = b.Input("x", Type::kInt8, {1, 8, 8, 1}, PerTensor(0.02f, -1));
//   Constant filter = b.Const<int8_t>("filter", weights, {4, 3, 3, 1}, PerAxis(scales, 0));
//   Value y = b.Conv2D(x, filter, kNoBias, {.padding = Padding::Same()}, PerTensor(0.05f, 3));
//   b.Output(y, "y");
//   Result<Graph> graph = b.Finish();
//
// Shapes follow from the operators. The first error sticks: later calls do nothing, and Finish
// gives it.
#ifndef INTAGLIO_NN_OPS_BUILDER_H_
#define INTAGLIO_NN_OPS_BUILDER_H_

#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/ops/operators.h"

namespace intaglio::nn {

// What a run computes: an input or the result of a layer. Belongs to the builder that made it.
struct Value {
  TensorId id = kNoTensor;
};

// What is known beforehand: weights and biases.
struct Constant {
  TensorId id = kNoTensor;
};
inline constexpr Constant kNoBias{};

class Builder {
 public:
  explicit Builder(std::string name = {}) { graph_.name = std::move(name); }

  Value Input(std::string name, Type type, Shape shape, Quantization quantization = {});

  // The builder keeps the values, of type T; or it refers to the caller's, which must outlive the
  // models made of the graph.
  template <class T>
  Constant Const(std::string name, std::vector<std::type_identity_t<T>> values, Shape shape,
                 Quantization quantization = {}) {
    auto owned = std::make_shared<const std::vector<T>>(std::move(values));
    const size_t bytes = owned->size() * sizeof(T);
    return AddConstant(std::move(name), TypeOf<T>, std::move(shape), std::move(quantization),
                       owned->data(), bytes, owned);
  }
  template <class T>
  Constant ConstView(std::string name, std::span<const std::type_identity_t<T>> values, Shape shape,
                     Quantization quantization = {}) {
    return AddConstant(std::move(name), TypeOf<T>, std::move(shape), std::move(quantization),
                       values.data(), values.size_bytes(), nullptr);
  }

  // Layers. `out` is the quantization of the result, whose type is that of x; where it is missing,
  // it is that of x.
  Value Conv2D(Value x, Constant filter, Constant bias, const nn::Conv2D& op, Quantization out);
  Value DepthwiseConv2D(Value x, Constant filter, Constant bias, const nn::DepthwiseConv2D& op,
                        Quantization out);
  Value FullyConnected(Value x, Constant weights, Constant bias, const nn::FullyConnected& op,
                       Quantization out);
  Value Add(Value a, Value b, const nn::Add& op, Quantization out);
  Value AveragePool2D(Value x, const nn::AveragePool2D& op);
  Value MaxPool2D(Value x, const nn::MaxPool2D& op);
  Value Pad(Value x, const nn::Pad& op);
  Value Reshape(Value x, Shape shape);
  Value Softmax(Value x, float beta = 1.0f);  // to 1/256 steps
  Value Logistic(Value x);                    // to 1/256 steps
  Value Tanh(Value x);                        // to 1/128 steps
  Value Relu(Value x, Quantization out);
  Value Relu6(Value x, Quantization out);
  Value Mean(Value x, const nn::Mean& op, Quantization out);
  Value Concatenation(std::span<const Value> values, const nn::Concatenation& op, Quantization out);
  Value Quantize(Value x, Type type, Quantization out);
  Value Dequantize(Value x);

  // Any layer of one output.
  Value Layer(Operator op, std::vector<TensorId> inputs, Type type, Quantization out);

  // Makes a value an output of the graph, and names it.
  void Output(Value value, std::string name);

  // Returns the validated graph, which must have an output. The builder is empty afterwards.
  Result<Graph> Finish();

 private:
  Constant AddConstant(std::string name, Type type, Shape shape, Quantization quantization,
                       const void* data, size_t bytes, std::shared_ptr<const void> owner);
  TensorId AddTensor(Tensor tensor);
  Value SameType(Operator op, Value x, Quantization out);
  const Tensor* Find(TensorId id) const;  // null where there is none

  Graph graph_;
  Status status_;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_BUILDER_H_
