#include "intaglio/nn/formats/onnx/narrow_float64.h"

#include <cstring>
#include <string>

namespace intaglio::nn::onnx {
namespace {

void NarrowTensor(TensorProto& tensor) {
  if (tensor.data_type() != TensorProto::DOUBLE) return;
  const bool is_cut = tensor.raw_data().size() % sizeof(double) != 0;
  if (tensor.data_location() == TensorProto::EXTERNAL || is_cut) return;
  tensor.set_data_type(TensorProto::FLOAT);
  for (const double value : tensor.double_data()) tensor.add_float_data(static_cast<float>(value));
  tensor.clear_double_data();
  if (!tensor.has_raw_data()) return;
  std::string& raw = *tensor.mutable_raw_data();
  const size_t count = raw.size() / sizeof(double);
  for (size_t i = 0; i < count; ++i) {  // in place: each result lies before what is read next
    double value = 0;
    std::memcpy(&value, raw.data() + i * sizeof(double), sizeof(double));
    const auto narrow = static_cast<float>(value);
    std::memcpy(raw.data() + i * sizeof(float), &narrow, sizeof(float));
  }
  raw.resize(count * sizeof(float));
}

void NarrowType(ValueInfoProto& value) {
  if (!value.has_type() || !value.type().has_tensor_type()) return;
  auto& type = *value.mutable_type()->mutable_tensor_type();
  if (type.elem_type() == TensorProto::DOUBLE) type.set_elem_type(TensorProto::FLOAT);
}

void NarrowGraph(GraphProto& graph);

template <class Nodes>
void NarrowNodes(Nodes& nodes) {
  for (NodeProto& node : nodes) {
    for (AttributeProto& attribute : *node.mutable_attribute()) {
      const std::string& name = attribute.name();
      const bool names_type = name == "to" || name == "dtype" || name == "output_dtype";
      if (names_type && attribute.i() == TensorProto::DOUBLE) attribute.set_i(TensorProto::FLOAT);
      if (attribute.has_t()) NarrowTensor(*attribute.mutable_t());
      if (attribute.has_g()) NarrowGraph(*attribute.mutable_g());
    }
  }
}

// Messages lie no deeper inside each other than Parse allows.
void NarrowGraph(GraphProto& graph) {
  for (TensorProto& tensor : *graph.mutable_initializer()) NarrowTensor(tensor);
  for (ValueInfoProto& value : *graph.mutable_input()) NarrowType(value);
  for (ValueInfoProto& value : *graph.mutable_output()) NarrowType(value);
  for (ValueInfoProto& value : *graph.mutable_value_info()) NarrowType(value);
  NarrowNodes(*graph.mutable_node());
}

}  // namespace

void NarrowFloat64(ModelProto& model) {
  NarrowGraph(*model.mutable_graph());
  for (FunctionProto& function : *model.mutable_functions()) NarrowNodes(*function.mutable_node());
}

}  // namespace intaglio::nn::onnx
