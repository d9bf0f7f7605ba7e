// Inside the .onnx writer: what the encoding of one layer sees and makes (write_rows.h).
#ifndef INTAGLIO_NN_FORMATS_ONNX_LAYER_WRITER_H_
#define INTAGLIO_NN_FORMATS_ONNX_LAYER_WRITER_H_

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/formats/onnx/node_writer.h"
#include "intaglio/nn/graph/layer_view.h"
#include "intaglio/nn/ops/support/activation.h"

namespace intaglio::nn::onnx {

// The order in which the file has the dimensions of a tensor: ours, or, for images,
// N C H W where ours is N H W C.
enum class Order { kOurs, kChannelsFirst };

// Where the file has one of our dimensions, of a tensor of this rank.
int AxisIn(Order order, int axis, size_t rank);

// values[i] belongs to our dimension i; the result's to those of the file.
template <class T>
std::vector<T> InOrder(Order order, const std::vector<T>& values) {
  std::vector<T> ordered = values;
  for (size_t i = 0; i < values.size(); ++i) {
    const int axis = AxisIn(order, static_cast<int>(i), values.size());
    ordered[static_cast<size_t>(axis)] = values[i];
  }
  return ordered;
}

// The values that stand for the tensors of a graph. Each may stand in either order; a form that is
// missing is made when it is asked for. Quantized tensors have a second value of real numbers.
class TensorValues {
 public:
  TensorValues(const Graph& graph, NodeWriter& nodes)
      : graph_(graph), nodes_(nodes), forms_(graph.tensors.size()) {}

  bool Has(TensorId id, Order order) const;
  // The elements as they are.
  Value Numbers(TensorId id, Order order);
  // What they stand for, as float32 if they are quantized numbers of 8 or 16 bits.
  Value Real(TensorId id, Order order);
  void Set(TensorId id, Order order, Value value);

 private:
  struct Forms {
    std::array<Value, 2> numbers = {kNoValue, kNoValue};
    std::array<Value, 2> real = {kNoValue, kNoValue};
  };
  const Tensor& At(TensorId id) const { return graph_.tensors[static_cast<size_t>(id)]; }
  Forms& FormsOf(TensorId id) { return forms_[static_cast<size_t>(id)]; }
  Value Converted(TensorId id, Value value, Order from);
  Value ConstantIn(const Tensor& tensor, Order order);

  const Graph& graph_;
  NodeWriter& nodes_;
  std::vector<Forms> forms_;
};

// The name of a tensor's value in this order.
std::string NameOfForm(const Tensor& tensor, Order order);

// Whether a tensor holds numbers of 8 or 16 bits that stand for real ones.
bool IsQuantized(const Tensor& tensor);
bool SameQuantization(const Tensor& a, const Tensor& b);

class LayerWriter {
 public:
  LayerWriter(const LayerView& layer, NodeWriter& nodes, TensorValues& values);

  const LayerView& layer() const { return layer_; }
  NodeWriter& nodes() { return nodes_; }
  const Status& status() const { return status_; }
  void Fail(const Status& status) {
    if (status_.ok()) status_ = status;
  }
  void Refuse(const std::string& why) { Fail(layer_.Unsupported(why)); }

  size_t input_count() const { return layer_.input_count(); }
  bool has(size_t i) const { return layer_.has_input(i); }
  const Tensor& input(size_t i) const { return layer_.input(i); }
  const Tensor& output(size_t i = 0) const { return layer_.output(i); }

  // The order in which a layer that works in any order spares transposes.
  Order order() const { return order_; }
  // The same for a tensor that may have fewer dimensions than the output.
  int AxisIn(int axis) const { return onnx::AxisIn(order_, axis, input(0).shape.size()); }

  Value Numbers(size_t i, Order order) { return values_.Numbers(layer_.layer().inputs[i], order); }
  Value Real(size_t i, Order order) { return values_.Real(layer_.layer().inputs[i], order); }
  Value OptionalNumbers(size_t i) { return has(i) ? Numbers(i, Order::kOurs) : kNoValue; }
  Value Numbers(size_t i) { return Numbers(i, order_); }
  Value Real(size_t i) { return Real(i, order_); }
  // All inputs.
  std::vector<Value> AllNumbers();
  std::vector<Value> AllReal();

  // An input, whose numbers stand for what the same ones of the output do.
  Value RealAsOutput(size_t i, Order order);

  // An input whose dimension i is our dimension permutation[i], as real numbers or as it is.
  Value RealPermuted(size_t i, const Permutation& permutation);
  Value NumbersPermuted(size_t i, const Permutation& permutation);

  // Appends a value's scale and zero point to the inputs of a node.
  void AppendParameters(const Tensor& tensor, std::vector<Value>& inputs);
  Value Dequantized(Value numbers, const Quantization& quantization, Type type);
  Value Quantized(Value real, const Quantization& quantization, Type type);
  // Real numbers, clamped and quantized as those of the output are.
  Value ToOutput(Value real, Activation activation = Activation::kNone, size_t output = 0);
  Value Activated(Value value, Activation activation, Type type);

  void SetNumbers(Value value, Order order, size_t output = 0) {
    values_.Set(layer_.layer().outputs[output], order, value);
  }
  void SetNumbers(Value value, size_t output = 0) { SetNumbers(value, order_, output); }
  void SetReal(Value value, Order order, Activation activation = Activation::kNone,
               size_t output = 0) {
    SetNumbers(ToOutput(value, activation, output), order, output);
  }
  void SetReal(Value value, Activation activation = Activation::kNone) {
    SetReal(value, order_, activation);
  }

 private:
  Order PreferredOrder() const;
  Value ClampedTo(Value real, const Tensor& output);

  const LayerView layer_;
  NodeWriter& nodes_;
  TensorValues& values_;
  Status status_;
  Order order_;
};

}  // namespace intaglio::nn::onnx

#endif  // INTAGLIO_NN_FORMATS_ONNX_LAYER_WRITER_H_
