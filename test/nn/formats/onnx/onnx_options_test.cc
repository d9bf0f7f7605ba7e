// Options of the reader.
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/test/nn/formats/onnx/small_models.h"

namespace intaglio::nn::test {
namespace {

TEST(OnnxReader, LeavesOutPasses) {
  ModelProto model = Model1();
  AddNode(model.mutable_graph()->mutable_node(), "Relu", {"x"}, "y");
  std::vector<PassReport> reports;
  OnnxOptions options;
  options.without_passes = {"fuse-quantization"};
  options.pass_reports = &reports;
  const Result<Graph> graph = Import(model, options);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_GE(reports.size(), 2u);
  for (const PassReport& report : reports) {
    EXPECT_EQ(report.ran, report.name != "fuse-quantization") << report.name;
  }
  options.without_passes = {"nothing"};
  EXPECT_EQ(WhyNot(model, options).find("m: there is no pass 'nothing'"), 0u);
}

TEST(OnnxReader, TakesOtherShapes) {
  ModelProto model = Model1();
  AddNode(model.mutable_graph()->mutable_node(), "Relu", {"x"}, "y");
  model.mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_param("batch");
  Result<Graph> graph = Import(model);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->tensors[static_cast<size_t>(graph->outputs[0])].shape, (Shape{1}));
  OnnxOptions options;
  options.input_shapes = {{2, 3}};
  graph = Import(model, options);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->tensors[static_cast<size_t>(graph->outputs[0])].shape, (Shape{2, 3}));
  options.input_shapes = {{2}, {3}};
  EXPECT_EQ(WhyNot(model, options), "m: there are shapes for 2 inputs; the model has 1");
}

// x [1, 2, 3, 4] -> y, its maxima over the channels
ModelProto ChannelMaxima() {
  ModelProto model = Model1();
  model.mutable_graph()->clear_input();
  model.mutable_graph()->clear_output();
  SetFloats(model.mutable_graph()->add_input(), "x", {1, 2, 3, 4});
  SetFloats(model.mutable_graph()->add_output(), "y", {1, 1, 3, 4});
  model.mutable_opset_import(0)->set_version(17);
  NodeProto* const node = AddNode(model.mutable_graph()->mutable_node(), "ReduceMax", {"x"}, "y");
  AttributeProto* const axes = node->add_attribute();
  axes->set_name("axes");
  axes->set_type(AttributeProto::INTS);
  axes->add_ints(1);
  return model;
}

std::vector<float> RunOnRamp(Result<Graph> graph) {
  Result<Model> model = Model::Prepare(std::move(*graph));
  std::vector<float> x(24);
  std::vector<float> y(12);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  const std::vector<InputBuffer> inputs = {MakeInput(x)};
  const std::vector<OutputBuffer> outputs = {MakeOutput(y)};
  EXPECT_TRUE(model->Run(inputs, outputs).ok());
  return y;
}

TEST(OnnxReader, TakesImagesWithTheChannelsLast) {
  const Result<Graph> graph = Import(ChannelMaxima(), {.nhwc_inputs = true});
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->tensors[static_cast<size_t>(graph->inputs[0])].shape, (Shape{1, 3, 4, 2}));
  const std::vector<float> y = RunOnRamp(graph);
  for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], static_cast<float>(2 * i + 1));
  EXPECT_EQ(RunOnRamp(Import(ChannelMaxima()))[0], 12.0f);
  const Result<Graph> wide =
      Import(ChannelMaxima(), {.input_shapes = {{1, 5, 4, 2}}, .nhwc_inputs = true});
  ASSERT_TRUE(wide.ok()) << wide.status().message();
  EXPECT_EQ(wide->tensors[static_cast<size_t>(wide->outputs[0])].shape, (Shape{1, 1, 5, 4}));
  EXPECT_FALSE(Import(ChannelMaxima(), {.input_shapes = {{1, 5}}, .nhwc_inputs = true}).ok());
}

// y = x + double(0.1)
ModelProto AddsDouble(bool raw) {
  ModelProto model = Model1();
  TensorProto* const constant = model.mutable_graph()->add_initializer();
  constant->set_name("c");
  constant->set_data_type(TensorProto::DOUBLE);
  constant->add_dims(1);
  const double value = 0.1;
  if (raw) {
    constant->set_raw_data(std::string(reinterpret_cast<const char*>(&value), sizeof(value)));
  } else {
    constant->add_double_data(value);
  }
  AddNode(model.mutable_graph()->mutable_node(), "Add", {"x", "c"}, "y");
  return model;
}

TEST(OnnxReader, ReadsFloat64AsFloat32IfAsked) {
  for (const bool raw : {false, true}) {
    EXPECT_NE(WhyNot(AddsDouble(raw)).find("unless they are read as float32"), std::string::npos);
    const Result<Graph> graph = Import(AddsDouble(raw), {.float64_as_float32 = true});
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    bool found = false;
    for (const Tensor& tensor : graph->tensors) {
      found = found || (tensor.constant && tensor.data_bytes == sizeof(float) &&
                        *static_cast<const float*>(tensor.data) == 0.1f);
    }
    EXPECT_TRUE(found);
  }
  ModelProto cut = AddsDouble(true);
  cut.mutable_graph()->mutable_initializer(0)->mutable_raw_data()->resize(7);
  EXPECT_FALSE(Import(cut, {.float64_as_float32 = true}).ok());
}

// Inputs of float64 have a signature only if they are read as float32.
TEST(OnnxReader, SignaturesHaveFloat64AsFloat32IfAsked) {
  ModelProto model = Model1();
  model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
      TensorProto::DOUBLE);
  const std::string bytes = model.SerializeAsString();
  const std::span<const uint8_t> span(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  EXPECT_FALSE(ImportOnnxSignature(span, "m").ok());
  const Result<Graph> graph = ImportOnnxSignature(span, "m", {.float64_as_float32 = true});
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->tensors[static_cast<size_t>(graph->inputs[0])].type, Type::kFloat32);
}

}  // namespace
}  // namespace intaglio::nn::test
