// Inside the .tflite writer: what the encoding of one operator sees and makes (rows.h).
#ifndef INTAGLIO_NN_FORMATS_TFLITE_WRITE_H_
#define INTAGLIO_NN_FORMATS_TFLITE_WRITE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/formats/tflite/schema_generated.h"
#include "intaglio/nn/formats/tflite/subgraphs.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/graph/layer_view.h"
#include "intaglio/nn/ops/operators.h"

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

// An error if a parameter is set that says that the operator keeps such numbers: the format has
// none.
Status CheckUnset(bool parameter, const char* what, const Encoding& e);

// Appends an input, as the whole of an encoding.
Status Append(Encoding& e, TensorId constant);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_TFLITE_WRITE_H_
