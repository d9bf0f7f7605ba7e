// Inside the .tflite writer: what an encoding of one operator sees and makes. An operator without
// parameters needs none. To add one with parameters: its options table in tflite.fbs if it has one,
// and its Encode function here and in one of the encode_*.cc.
#ifndef INTAGLIO_NN_EXPORT_ENCODE_H_
#define INTAGLIO_NN_EXPORT_ENCODE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/export/subgraphs.h"
#include "intaglio/nn/graph.h"
#include "intaglio/nn/import/tflite_generated.h"
#include "intaglio/nn/layer.h"

namespace intaglio::nn {

// An operator that is about to be written.
struct EncodedOperator {
  const char* name = nullptr;  // as the format names it, or a custom operator's name
  int version = 1;
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  std::vector<TensorId> intermediates;
  tflite::BuiltinOptions options_type = tflite::BuiltinOptions::NONE;
  flatbuffers::Offset<void> options = 0;
  flatbuffers::Offset<flatbuffers::Vector<uint8_t>> custom_options = 0;
};

// What the encodings of a graph's layers share. The ids of new tensors follow those of the graph.
struct EncodingParts {
  flatbuffers::FlatBufferBuilder& builder;
  Subgraphs& subgraphs;
  size_t graph_tensors = 0;
  std::vector<Tensor> new_tensors;
  std::map<TensorId, TensorId> handles;  // for variables that are resources
  std::set<TensorId> open;               // new tensors whose dimensions only a run knows
};

// A layer that is about to be written. Its tensors start out as the graph's. What the format keeps
// in constant tensors becomes new ones.
class Encoding {
 public:
  Encoding(const LayerView& layer, EncodingParts& parts) : layer_(layer), parts_(parts) {
    operator_.inputs = layer.layer().inputs;
    operator_.outputs = layer.layer().outputs;
  }

  const LayerView& layer() const { return layer_; }
  flatbuffers::FlatBufferBuilder& builder() { return parts_.builder; }
  const std::vector<TensorId>& inputs() const { return operator_.inputs; }
  void set_inputs(std::vector<TensorId> inputs) { operator_.inputs = std::move(inputs); }
  // The name of the operator in the format, where it is not the layer's.
  void set_code_name(const char* name) { operator_.name = name; }

  void InsertInput(size_t at, TensorId id) {
    operator_.inputs.insert(operator_.inputs.begin() + static_cast<ptrdiff_t>(at), id);
  }
  void AppendInput(TensorId id) { operator_.inputs.push_back(id); }

  // A new int32 constant; `what` ends its name.
  TensorId Ints(const char* what, std::vector<int32_t> values, Shape shape);
  TensorId Ints(const char* what, std::vector<int32_t> values) {
    const Shape shape = {static_cast<int>(values.size())};
    return Ints(what, std::move(values), shape);
  }
  TensorId Int(const char* what, int32_t value) { return Ints(what, {value}, {}); }
  // A new vector of the type int32 or int64.
  TensorId IntsOf(Type type, const char* what, const std::vector<int32_t>& values);
  // A new [n, 2] one.
  TensorId Pairs(const char* what, const std::vector<std::pair<int, int>>& pairs);
  // A new constant of one number, with the type and quantization of a tensor of the layer.
  TensorId NumberLike(const char* what, const Tensor& like,
                      const std::variant<double, int64_t>& value);
  // Adds a tensor without data.
  TensorId Add(const char* what, Type type, Shape shape, Quantization quantization = {});
  // Adds a tensor whose dimensions only a run knows.
  TensorId AddOpen(const char* what, Type type, Shape shape, Quantization quantization) {
    const TensorId id = Add(what, type, std::move(shape), std::move(quantization));
    parts_.open.insert(id);
    return id;
  }

  // Adds a tensor without data, which the operator names for its quantization.
  void AddIntermediate(TensorId id) { operator_.intermediates.push_back(id); }
  // Adds an operator that runs before this one and makes one tensor.
  template <class Options>
  void RunBefore(const char* name, std::vector<TensorId> inputs, TensorId output,
                 flatbuffers::Offset<Options> options) {
    before_.push_back({name, 1, std::move(inputs), {output}, {}, kTagOf<Options>, options.Union()});
  }
  void RunBefore(const char* name, std::vector<TensorId> inputs, TensorId output) {
    before_.push_back({name, 1, std::move(inputs), {output}, {}});
  }

  // The handle of a variable that is a resource.
  TensorId HandleOf(TensorId variable) const { return parts_.handles.at(variable); }
  // The number of a graph that the operator runs.
  int32_t IndexOf(const Graph& graph) { return parts_.subgraphs.IndexOf(graph); }

  template <class Options>
  void SetOptions(flatbuffers::Offset<Options> options) {
    operator_.options_type = kTagOf<Options>;
    operator_.options = options.Union();
  }
  void SetCustomOptions(const std::vector<uint8_t>& bytes) {
    operator_.custom_options = builder().CreateVector(bytes);
  }

  // Returns the layer's operators in the order in which they run.
  std::vector<EncodedOperator> Finish();

 private:
  template <class Options>
  static constexpr tflite::BuiltinOptions kTagOf =
      tflite::BuiltinOptionsTraits<Options>::enum_value;

  TensorId AddConstant(Tensor tensor, const char* what);
  TensorId AddTensor(Tensor tensor, const char* what);

  LayerView layer_;
  EncodingParts& parts_;
  EncodedOperator operator_;
  std::vector<EncodedOperator> before_;
};

tflite::ActivationFunctionType ToTflite(Activation activation);
Result<tflite::Padding> ToTflite(const LayerView& layer, const Padding& padding);
tflite::TensorType ToTflite(Type type);

// Operators without parameters need only their name.
template <class Op>
requires(std::is_empty_v<Op>) Status Encode(const Op&, Encoding&) { return {}; }

// Operators with parameters need a function.

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
Status Encode(const DynamicSlice& op, Encoding& e);

// The options of the operator in a file say which LSTM it is.
Status Encode(const Lstm& op, Encoding& e);
Status Encode(const BasicLstm& op, Encoding& e);
Status Encode(const UnidirectionalSequenceLstm& op, Encoding& e);
Status Encode(const Rnn& op, Encoding& e);
Status Encode(const UnidirectionalSequenceRnn& op, Encoding& e);
Status Encode(const Svdf& op, Encoding& e);
// The format refers to variables by handles.
Status Encode(const ReadVariable& op, Encoding& e);
Status Encode(const AssignVariable& op, Encoding& e);

Status Encode(const While& op, Encoding& e);
Status Encode(const If& op, Encoding& e);
Status Encode(const DetectionPostProcess& op, Encoding& e);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_EXPORT_ENCODE_H_
