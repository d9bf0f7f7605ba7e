// Small models for tests of the .onnx reader, and what it makes of them.
#ifndef INTAGLIO_TEST_NN_FORMATS_ONNX_SMALL_MODELS_H_
#define INTAGLIO_TEST_NN_FORMATS_ONNX_SMALL_MODELS_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "intaglio/nn/formats/onnx/onnx.pb.h"
#include "intaglio/nn/formats/onnx/reader.h"
#include "intaglio/nn/runtime/model.h"

namespace intaglio::nn::test {

using onnx::AttributeProto;
using onnx::ModelProto;
using onnx::NodeProto;
using onnx::TensorProto;
using onnx::ValueInfoProto;

inline void SetFloats(ValueInfoProto* value, const std::string& name,
                      const std::vector<int64_t>& shape) {
  value->set_name(name);
  auto* const type = value->mutable_type()->mutable_tensor_type();
  type->set_elem_type(TensorProto::FLOAT);
  type->mutable_shape();
  for (const int64_t extent : shape) type->mutable_shape()->add_dim()->set_dim_value(extent);
}

inline NodeProto* AddNode(google::protobuf::RepeatedPtrField<NodeProto>* to,
                          const std::string& type, const std::vector<std::string>& inputs,
                          const std::string& output) {
  NodeProto* const node = to->Add();
  node->set_op_type(type);
  for (const std::string& input : inputs) node->add_input(input);
  node->add_output(output);
  return node;
}

// x [4] -> y
inline ModelProto Model1() {
  ModelProto model;
  model.set_ir_version(10);
  model.add_opset_import()->set_version(20);
  SetFloats(model.mutable_graph()->add_input(), "x", {4});
  SetFloats(model.mutable_graph()->add_output(), "y", {4});
  return model;
}

inline Result<Graph> Import(const ModelProto& model, const OnnxOptions& options = {}) {
  const std::string bytes = model.SerializeAsString();
  return ImportOnnx({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "m", options);
}

inline std::string WhyNot(const ModelProto& model, const OnnxOptions& options = {}) {
  return Import(model, options).status().message();
}

inline std::vector<float> ResultsOf(const Graph& graph, const std::vector<float>& x) {
  Result<Model> model = Model::Prepare(graph);
  EXPECT_TRUE(model.ok()) << model.status().message();
  if (!model.ok()) return {};
  std::vector<float> y(static_cast<size_t>(*CountElements(model->output(0).shape)));
  const InputBuffer inputs[] = {MakeInput(x)};
  const OutputBuffer outputs[] = {MakeOutput(y)};
  EXPECT_TRUE(model->Run(inputs, outputs).ok());
  return y;
}

// y = x + c, where c is the tensor that `fill` makes.
template <class Fill>
ModelProto AddConstant(const Fill& fill) {
  ModelProto model = Model1();
  TensorProto* const tensor = model.mutable_graph()->add_initializer();
  tensor->set_name("c");
  tensor->add_dims(4);
  tensor->set_data_type(TensorProto::FLOAT);
  fill(*tensor);
  AddNode(model.mutable_graph()->mutable_node(), "Add", {"x", "c"}, "y");
  return model;
}

}  // namespace intaglio::nn::test

#endif  // INTAGLIO_TEST_NN_FORMATS_ONNX_SMALL_MODELS_H_
