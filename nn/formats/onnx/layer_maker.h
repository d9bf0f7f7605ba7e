// Inside the .onnx reader: adds layers to a graph, one call for each.
#ifndef INTAGLIO_NN_FORMATS_ONNX_LAYER_MAKER_H_
#define INTAGLIO_NN_FORMATS_ONNX_LAYER_MAKER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/graph/ledger.h"
#include "intaglio/nn/passes/fold_constants.h"

namespace intaglio::nn::onnx {

// Ends the translation of a node. LayerMaker::status() says why.
struct TranslationFailed {};

// Shapes follow from the operators. Layers whose inputs are constants become constants when someone
// asks for their values. Every function throws TranslationFailed after an error, which GraphReader
// catches, so that nobody goes on with shapes that are not there.
class LayerMaker {
 public:
  LayerMaker(Graph& graph, FoldBudget& folding, Ledger& ledger)
      : graph_(graph), ledger_(ledger), folder_(graph, folding) {
    folder_.KeepDequantize();  // for FuseQuantization
  }

  const Status& status() const { return status_; }
  // Throws if the status is an error.
  void Fail(const Status& status) {
    if (status.ok()) return;
    status_ = status;
    throw TranslationFailed{};
  }

  // Refuses tensors that are not known beforehand. The message ends with what `advice`
  // (GraphReader) says of them.
  void FailUnknown(const std::vector<TensorId>& unknown, const std::string& what) {
    Fail(Unsupported(what + (advice_ == nullptr ? "" : advice_(unknown))));
  }
  using Advice = std::function<std::string(const std::vector<TensorId>& unknown)>;
  void SetAdvice(Advice advice) { advice_ = std::move(advice); }

  // Names the layers and tensors of the following calls.
  void SetLabel(std::string label) { label_ = std::move(label); }

  // A copy, because the next layer moves all tensors. Empty for kNoTensor.
  Tensor At(TensorId id) const;
  Shape ShapeOf(TensorId id) const { return At(id).shape; }
  int RankOf(TensorId id) const { return static_cast<int>(ShapeOf(id).size()); }

  // Adds a layer with one output of this type.
  TensorId Add(Operator op, std::vector<TensorId> inputs, Type type, Quantization quantization = {},
               std::optional<Numerics> numerics = std::nullopt);
  // The output has the type and the quantization of input 0.
  TensorId AddLike(Operator op, std::vector<TensorId> inputs);
  // One output for each type.
  std::vector<TensorId> AddMany(Operator op, std::vector<TensorId> inputs,
                                const std::vector<Type>& types);

  // Call it before a constant of so many bytes is made. The constant is charged when it is added.
  void CheckMemory(size_t bytes);

  // A constant of these values, of type T.
  template <class T>
  TensorId Constant(std::vector<T> values, Shape shape, Quantization quantization = {}) {
    Charge(values.size() * sizeof(T));
    auto owner = std::make_shared<const std::vector<T>>(std::move(values));
    Tensor tensor;
    tensor.type = TypeOf<T>;
    tensor.shape = std::move(shape);
    tensor.quantization = std::move(quantization);
    tensor.constant = true;
    tensor.data = owner->empty() ? nullptr : owner->data();
    tensor.data_bytes = owner->size() * sizeof(T);
    tensor.owner = std::move(owner);
    return AddTensor(std::move(tensor));
  }
  template <class T>
  TensorId Scalar(T value) {
    return Constant<T>({value}, {});
  }
  TensorId AddTensor(Tensor tensor);

  // A tensor with the elements of another, whose type is as long, and another meaning of them. The
  // layer that makes it moves nothing if it is planned well.
  TensorId Requantized(TensorId id, Quantization quantization);
  // The tensor as plain numbers.
  TensorId Unquantized(TensorId id) { return Requantized(id, {}); }

  // Elements of 4 or 2 bits lie in 8, int8 or uint8. Other tensors have 0 bits here.
  void SetNarrow(TensorId id, int bits) {
    if (bits < 8) narrow_[id] = bits;
  }
  int NarrowBits(TensorId id) const {
    const auto found = narrow_.find(id);
    return found == narrow_.end() ? 0 : found->second;
  }

  // These add no layer where nothing would change.
  TensorId Transposed(TensorId id, std::vector<int> permutation);
  TensorId Reshaped(TensorId id, Shape shape);
  TensorId CastTo(TensorId id, Type type);

  // Whether a tensor is a constant or follows from constants. In the second case it becomes one.
  bool IsConstant(TensorId id);
  // The constant that a DEQUANTIZE by ONNX's rules makes this tensor of; kNoTensor if none does.
  TensorId DequantizedConstant(TensorId id);
  // The elements of a constant. `what` names it in the error for others.
  std::vector<int64_t> Ints(TensorId id, const char* what);
  std::vector<float> Floats(TensorId id, const char* what);

  // Computes what else follows from constants. Call it last.
  void Finish();

 private:
  void Charge(size_t bytes);
  void AddLayer(Operator op, std::vector<TensorId> inputs, std::vector<TensorId> outputs,
                std::optional<Numerics> numerics);

  Graph& graph_;
  Ledger& ledger_;
  ConstantFolder folder_;
  std::map<TensorId, TensorId> dequantized_;  // outputs of DEQUANTIZE layers, and their inputs
  std::map<TensorId, int> narrow_;
  std::string label_;
  Status status_;
  Advice advice_;
};

// The axis counted from the front. Fails if there is none such.
int Axis(LayerMaker& make, int64_t axis, int rank);
// The permutation that undoes another.
std::vector<int> Inverse(const std::vector<int>& permutation);
// The permutation that moves the axis to the end, and leaves the others in order.
std::vector<int> AxisLast(int axis, int rank);
int64_t Count(const Shape& shape);  // elements; 0 for what does not fit

}  // namespace intaglio::nn::onnx

#endif  // INTAGLIO_NN_FORMATS_ONNX_LAYER_MAKER_H_
