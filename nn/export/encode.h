// Inside the .tflite writer: what an encoding of one operator sees and makes. An operator without
// parameters needs none. To add one with parameters: its options table in tflite.fbs if it has one,
// and its Encode function here and in one of the encode_*.cc.
#ifndef INTAGLIO_NN_EXPORT_ENCODE_H_
#define INTAGLIO_NN_EXPORT_ENCODE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph.h"
#include "intaglio/nn/import/tflite_generated.h"
#include "intaglio/nn/layer.h"

namespace intaglio::nn {

// A layer on its way into a file. Its tensors start out as the graph's; what the format keeps in
// constant tensors becomes new ones, whose ids follow those of the graph.
class Encoding {
 public:
  Encoding(const LayerView& layer, size_t graph_tensors, flatbuffers::FlatBufferBuilder& builder,
           std::vector<Tensor>& new_tensors)
      : layer_(layer),
        builder_(builder),
        inputs_(layer.layer().inputs),
        graph_tensors_(graph_tensors),
        new_tensors_(new_tensors) {}

  const LayerView& layer() const { return layer_; }
  flatbuffers::FlatBufferBuilder& builder() { return builder_; }
  const std::vector<TensorId>& inputs() const { return inputs_; }
  tflite::BuiltinOptions options_type() const { return options_type_; }
  flatbuffers::Offset<void> options() const { return options_; }
  // The name of the operator in the format, where it is not the layer's.
  const char* code_name() const { return code_name_; }
  void set_code_name(const char* name) { code_name_ = name; }

  void SwapFirstInputs() { std::swap(inputs_[0], inputs_[1]); }
  void InsertInput(size_t at, TensorId id) {
    inputs_.insert(inputs_.begin() + static_cast<ptrdiff_t>(at), id);
  }
  void AppendInput(TensorId id) { inputs_.push_back(id); }

  // A new int32 constant; `what` ends its name.
  TensorId Ints(const char* what, std::vector<int32_t> values, Shape shape);
  TensorId Ints(const char* what, std::vector<int32_t> values) {
    const Shape shape = {static_cast<int>(values.size())};
    return Ints(what, std::move(values), shape);
  }
  TensorId Int(const char* what, int32_t value) { return Ints(what, {value}, {}); }
  // A new [n, 2] one.
  TensorId Pairs(const char* what, const std::vector<std::pair<int, int>>& pairs);
  // A new constant of one number, with the type and quantization of a tensor of the layer.
  TensorId NumberLike(const char* what, const Tensor& like,
                      const std::variant<double, int64_t>& value);

  template <class Options>
  void SetOptions(flatbuffers::Offset<Options> options) {
    options_type_ = tflite::BuiltinOptionsTraits<Options>::enum_value;
    options_ = options.Union();
  }

 private:
  TensorId Add(Tensor tensor, const char* what);

  LayerView layer_;
  flatbuffers::FlatBufferBuilder& builder_;
  std::vector<TensorId> inputs_;
  size_t graph_tensors_;
  std::vector<Tensor>& new_tensors_;
  const char* code_name_ = nullptr;
  tflite::BuiltinOptions options_type_ = tflite::BuiltinOptions::NONE;
  flatbuffers::Offset<void> options_ = 0;
};

tflite::ActivationFunctionType ToTflite(Activation activation);
Result<tflite::Padding> ToTflite(const LayerView& layer, const Padding& padding);
tflite::TensorType ToTflite(Type type);

// Operators without parameters: their name is all. But a file's options say which LSTM it is, and
// its variables stand behind handles.
template <class Op>
inline constexpr bool kIsItsName =
    std::is_empty_v<Op> && !std::is_same_v<Op, BasicLstm> && !std::is_same_v<Op, ReadVariable> &&
    !std::is_same_v<Op, AssignVariable>;

// Operators with parameters need a function below.
template <class Op>
Status Encode(const Op&, Encoding& e) {
  if constexpr (kIsItsName<Op>) return {};
  return e.layer().Unsupported("the writer of .tflite files does not know this operator");
}

Status Encode(const Conv2D& op, Encoding& e);
Status Encode(const DepthwiseConv2D& op, Encoding& e);
Status Encode(const FullyConnected& op, Encoding& e);
Status Encode(const TransposeConv& op, Encoding& e);
Status Encode(const BatchMatMul& op, Encoding& e);
Status Encode(const AveragePool2D& op, Encoding& e);
Status Encode(const MaxPool2D& op, Encoding& e);
Status Encode(const L2Pool2D& op, Encoding& e);
Status Encode(const LocalResponseNormalization& op, Encoding& e);

Status Encode(const Add& op, Encoding& e);
Status Encode(const Sub& op, Encoding& e);
Status Encode(const Mul& op, Encoding& e);
Status Encode(const Div& op, Encoding& e);
Status Encode(const Concatenation& op, Encoding& e);
Status Encode(const Softmax& op, Encoding& e);
Status Encode(const L2Normalization& op, Encoding& e);
Status Encode(const LeakyRelu& op, Encoding& e);
Status Encode(const Gelu& op, Encoding& e);
Status Encode(const Mean& op, Encoding& e);
Status Encode(const Sum& op, Encoding& e);
Status Encode(const ReduceMax& op, Encoding& e);
Status Encode(const ReduceMin& op, Encoding& e);
Status Encode(const ReduceProd& op, Encoding& e);
Status Encode(const ReduceAny& op, Encoding& e);
Status Encode(const ReduceAll& op, Encoding& e);

Status Encode(const Pad& op, Encoding& e);
Status Encode(const MirrorPad& op, Encoding& e);
Status Encode(const Reshape& op, Encoding& e);
Status Encode(const Squeeze& op, Encoding& e);
Status Encode(const ExpandDims& op, Encoding& e);
Status Encode(const Transpose& op, Encoding& e);
Status Encode(const Split& op, Encoding& e);
Status Encode(const SplitV& op, Encoding& e);
Status Encode(const Pack& op, Encoding& e);
Status Encode(const Unpack& op, Encoding& e);
Status Encode(const Slice& op, Encoding& e);
Status Encode(const DynamicUpdateSlice& op, Encoding& e);
Status Encode(const ScatterNd& op, Encoding& e);
Status Encode(const StridedSlice& op, Encoding& e);
Status Encode(const Gather& op, Encoding& e);
Status Encode(const Tile& op, Encoding& e);
Status Encode(const BroadcastTo& op, Encoding& e);
Status Encode(const Fill& op, Encoding& e);
Status Encode(const ShapeOf& op, Encoding& e);
Status Encode(const OneHot& op, Encoding& e);
Status Encode(const TopK& op, Encoding& e);
Status Encode(const ResizeBilinear& op, Encoding& e);
Status Encode(const ResizeNearestNeighbor& op, Encoding& e);
Status Encode(const SpaceToDepth& op, Encoding& e);
Status Encode(const DepthToSpace& op, Encoding& e);
Status Encode(const SpaceToBatch& op, Encoding& e);
Status Encode(const BatchToSpace& op, Encoding& e);
Status Encode(const Reverse& op, Encoding& e);
Status Encode(const ArgMax& op, Encoding& e);
Status Encode(const ArgMin& op, Encoding& e);
Status Encode(const Cumsum& op, Encoding& e);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_EXPORT_ENCODE_H_
