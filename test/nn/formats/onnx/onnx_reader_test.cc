// Files that nobody should trust, and what the reader makes of single nodes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "intaglio/nn/ops/operators.h"
#include "intaglio/test/nn/formats/onnx/small_models.h"

namespace intaglio::nn::test {
namespace {

TEST(OnnxReader, RefusesWhatIsNoModel) {
  EXPECT_EQ(ImportOnnx({}, "m").status().message(), "m: the file is empty");
  const std::vector<uint8_t> noise(100, 0xff);
  EXPECT_EQ(ImportOnnx(noise, "m").status().message(),
            "m: not an .onnx file, or damaged or cut short");
  EXPECT_EQ(WhyNot(ModelProto()), "m: the file is empty");
  ModelProto no_graph;
  no_graph.set_ir_version(10);
  EXPECT_EQ(WhyNot(no_graph), "m: not an .onnx file: it has no graph");
}

TEST(OnnxReader, SurvivesEveryTruncation) {
  const ModelProto model = AddConstant([](TensorProto& c) {
    for (int i = 0; i < 4; ++i) c.add_float_data(1);
  });
  const std::string bytes = model.SerializeAsString();
  for (size_t size = 0; size < bytes.size(); ++size) {
    (void)ImportOnnx({reinterpret_cast<const uint8_t*>(bytes.data()), size}, "m");
  }
  EXPECT_TRUE(Import(model).ok());
}

TEST(OnnxReader, NamesTheNodeThatItCannotRead) {
  ModelProto model = Model1();
  AddNode(model.mutable_graph()->mutable_node(), "Sorcery", {"x"}, "y");
  EXPECT_EQ(WhyNot(model), "m: Sorcery 'y': not supported in opset 20");
  model.mutable_opset_import(0)->set_version(6);
  EXPECT_EQ(WhyNot(model), "m: opset 6 is not supported (7 and newer ones are)");
}

TEST(OnnxReader, ValuesAreMadeOnceAndBeforeTheyAreRead) {
  ModelProto model = Model1();
  auto* const nodes = model.mutable_graph()->mutable_node();
  AddNode(nodes, "Relu", {"z"}, "y");
  AddNode(nodes, "Relu", {"y"}, "z");
  EXPECT_EQ(WhyNot(model), "m: Relu 'y': input 'z' is made by no node before it");
  model = Model1();
  AddNode(model.mutable_graph()->mutable_node(), "Relu", {"x"}, "y");
  AddNode(model.mutable_graph()->mutable_node(), "Abs", {"x"}, "y");
  EXPECT_EQ(WhyNot(model), "m: Abs 'y': output 'y' is defined twice");
  model = Model1();
  EXPECT_EQ(WhyNot(model), "m: output 'y' is made by no node");
}

TEST(OnnxReader, ConstantsAreAsLongAsTheirShapesSay) {
  const auto fails = [](const auto& fill) { return WhyNot(AddConstant(fill)); };
  EXPECT_EQ(fails([](TensorProto& c) { c.set_raw_data("123"); }),
            "m: constant 'c' has 3 bytes; its type and shape [4] need 16");
  EXPECT_EQ(fails([](TensorProto& c) { c.add_float_data(1); }),
            "m: constant 'c' has 1 elements; its shape [4] needs 4");
  EXPECT_EQ(fails([](TensorProto& c) { c.set_dims(0, -4); }),
            "m: constant 'c' has a dimension of -4");
  EXPECT_EQ(fails([](TensorProto& c) { c.set_dims(0, int64_t{1} << 40); }),
            "m: constant 'c' has a dimension of 1099511627776");
  EXPECT_EQ(fails([](TensorProto& c) {
              c.set_raw_data(std::string(16, '\0'));
              c.add_float_data(1);
            }),
            "m: constant 'c' its elements are stored in more than one field");
  EXPECT_EQ(fails([](TensorProto& c) { c.set_data_type(TensorProto::FLOAT16); }),
            "m: constant 'c' float16 elements are not supported");
  EXPECT_EQ(fails([](TensorProto& c) {
              c.set_data_type(TensorProto::INT8);
              for (int i = 0; i < 4; ++i) c.add_int32_data(128);
            }),
            "m: constant 'c' has the element 128, which is no int8");
  for (const int beyond : {-1, 65536}) {
    EXPECT_EQ(fails([=](TensorProto& c) {
                c.set_data_type(TensorProto::UINT16);
                for (int i = 0; i < 4; ++i) c.add_int32_data(beyond);
              }),
              "m: constant 'c' has the element " + std::to_string(beyond) + ", which is no uint16");
  }
  // A product of dimensions beyond 64 bits.
  EXPECT_FALSE(fails([](TensorProto& c) {
                 for (int i = 0; i < 10; ++i) c.add_dims(1 << 30);
               }).empty());
}

TEST(OnnxReader, ReadsUInt16) {
  for (const bool is_raw : {false, true}) {
    ModelProto model = AddConstant([=](TensorProto& c) {
      c.set_name("whole");
      c.set_data_type(TensorProto::UINT16);
      if (is_raw) return c.set_raw_data(std::string("\1\0\0\200\377\377\0\0", 8));
      for (const int element : {1, 32768, 65535, 0}) c.add_int32_data(element);
    });
    AttributeProto* const to =
        AddNode(model.mutable_graph()->mutable_node(), "Cast", {"whole"}, "c")->add_attribute();
    to->set_name("to");
    to->set_type(AttributeProto::INT);
    to->set_i(TensorProto::FLOAT);
    model.mutable_graph()->mutable_node()->SwapElements(0, 1);
    const Result<Graph> graph = Import(model);
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    EXPECT_EQ(ResultsOf(*graph, {0, 0, 0, 0}), (std::vector<float>{1, 32768, 65535, 0}));
  }
}

// Elements of 4 bits lie in pairs, the first one lower. An odd count leaves half a byte.
TEST(OnnxReader, UnpacksNarrowIntegers) {
  ModelProto model = Model1();
  TensorProto* const c = model.mutable_graph()->add_initializer();
  c->set_name("c");
  c->add_dims(3);
  c->set_data_type(TensorProto::INT4);
  c->set_raw_data(std::string("\x8f\x07", 2));
  AddNode(model.mutable_graph()->mutable_node(), "Cast", {"c"}, "y")->add_attribute();
  AttributeProto* const to = model.mutable_graph()->mutable_node(0)->mutable_attribute(0);
  to->set_name("to");
  to->set_i(TensorProto::FLOAT);
  to->set_type(AttributeProto::INT);
  const Result<Graph> graph = Import(model);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(ResultsOf(*graph, {0, 0, 0, 0}), (std::vector<float>{-1, -8, 7}));
}

// Sizes that a file of a few bytes names are refused before anything is allocated.
TEST(OnnxReader, HugeTensorsAreRefused) {
  ModelProto model = Model1();
  TensorProto* const shape = model.mutable_graph()->add_initializer();
  shape->set_name("shape");
  shape->set_data_type(TensorProto::INT64);
  shape->add_dims(3);
  for (int i = 0; i < 3; ++i) shape->add_int64_data(1 << 20);
  AddNode(model.mutable_graph()->mutable_node(), "ConstantOfShape", {"shape"}, "c");
  AddNode(model.mutable_graph()->mutable_node(), "ReduceSum", {"c"}, "y");
  const Result<Graph> graph = Import(model);
  EXPECT_FALSE(graph.ok() && Model::Prepare(*graph).ok());
}

TEST(OnnxReader, SquaresAndCubesAreProducts) {
  for (const float exponent : {2.0f, 3.0f, 0.5f}) {
    ModelProto model = Model1();
    TensorProto* const tensor = model.mutable_graph()->add_initializer();
    tensor->set_name("e");
    tensor->set_data_type(TensorProto::FLOAT);
    tensor->add_float_data(exponent);
    AddNode(model.mutable_graph()->mutable_node(), "Pow", {"x", "e"}, "y");
    const Result<Graph> graph = Import(model);
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    const bool power = exponent == 0.5f;
    EXPECT_EQ(graph->layers.size(), exponent == 3 ? 2u : 1u);
    EXPECT_EQ(graph->layers[0].op.Is<Pow>(), power);
    const std::vector<float> x = {1.1f, 0.3f, 7.7f, 1e30f};
    const std::vector<float> y = ResultsOf(*graph, x);
    ASSERT_EQ(y.size(), x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const float expected = power           ? std::pow(x[i], exponent)
                             : exponent == 2 ? x[i] * x[i]
                                             : x[i] * x[i] * x[i];
      EXPECT_EQ(y[i], expected) << x[i];
    }
  }
}

}  // namespace
}  // namespace intaglio::nn::test
