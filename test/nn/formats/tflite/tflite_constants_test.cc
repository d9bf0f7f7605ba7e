// Inputs of .tflite files that get values when they are read.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/tflite/reader.h"
#include "intaglio/nn/passes/infer_shapes.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/test/nn/formats/tflite/crafted_models.h"

namespace intaglio::nn {
namespace {

using Code = tflite::BuiltinOperator;

// y = SUM(x, axes) of float32 x [2, 3]
test::ModelSpec Sum() {
  test::ModelSpec spec;
  const auto add = [&](const char* name, tflite::TensorType type, const std::vector<int>& shape) {
    test::TensorSpec& tensor = spec.tensors.emplace_back();
    tensor.name = name;
    tensor.type = type;
    tensor.shape = shape;
    tensor.scales.clear();
    tensor.zero_points.clear();
  };
  add("axes", tflite::TensorType::INT32, {1});
  add("x", tflite::TensorType::FLOAT32, {2, 3});
  add("y", tflite::TensorType::FLOAT32, {2});
  test::OperatorSpec& op = spec.operators.emplace_back();
  op.code = Code::SUM;
  op.inputs = {1, 0};
  op.outputs = {2};
  op.options = test::ReducerOptions(false);
  spec.inputs = {0, 1};
  spec.outputs = {2};
  spec.signatures = {{"serve", {{"the_axes", 0}, {"the_x", 1}}, {{"the_y", 2}}}};
  return spec;
}

Result<Graph> Import(const test::ModelSpec& spec, std::vector<InputConstant> constants,
                     ImportOptions options = {}) {
  options.constants = std::move(constants);
  const auto bytes = std::make_shared<const std::vector<uint8_t>>(test::Build(spec));
  return ImportTflite(*bytes, bytes, "m", options);
}

std::string WhyNot(const test::ModelSpec& spec, std::vector<InputConstant> constants) {
  return Import(spec, std::move(constants)).status().message();
}

InputConstant Axes(int32_t axis) { return MakeInputConstant<int32_t>("axes", {1}, {axis}); }

std::vector<float> ResultsOf(Model& model, const std::vector<float>& x) {
  std::vector<float> y(static_cast<size_t>(*CountElements(model.output(0).shape)));
  const InputBuffer in[] = {MakeInput(x)};
  const OutputBuffer out[] = {MakeOutput(y)};
  const Status status = model.Run(in, out);
  EXPECT_TRUE(status.ok()) << status.message();
  return y;
}

TEST(TfliteConstants, DecideShapes) {
  std::vector<Signature> signatures;
  Result<Graph> graph = Import(Sum(), {Axes(1)}, {.signatures = &signatures});
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_EQ(graph->inputs.size(), 1u);
  ASSERT_EQ(signatures.size(), 1u);
  ASSERT_EQ(signatures[0].inputs.size(), 1u);
  EXPECT_EQ(signatures[0].inputs[0].name, "the_x");
  EXPECT_EQ(signatures[0].inputs[0].position, 0u);
  Result<Model> model = Model::Prepare(std::move(*graph));
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(ResultsOf(*model, {1, 2, 3, 4, 5, 6}), (std::vector<float>{6, 15}));
  ASSERT_TRUE(model->Resize({{1, 2}}).ok());
  EXPECT_EQ(ResultsOf(*model, {1, 2}), (std::vector<float>{3}));
}

TEST(TfliteConstants, HaveNoPlaceAmongTheShapes) {
  Result<Graph> graph = Import(Sum(), {Axes(0)}, {.input_shapes = {{1, 2}}});
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->tensors[2].shape, (Shape{2}));
}

TEST(TfliteConstants, MayBeAllInputsAndOutputs) {
  test::ModelSpec spec = Sum();
  spec.outputs = {2, 1};
  Result<Graph> graph =
      Import(spec, {Axes(1), MakeInputConstant<float>("x", {2, 3}, {1, 2, 3, 4, 5, 6})});
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_TRUE(graph->inputs.empty());
  Result<Model> model = Model::Prepare(std::move(*graph));
  ASSERT_TRUE(model.ok()) << model.status().message();
  std::vector<float> y(2), x(6);
  const OutputBuffer out[] = {MakeOutput(y), MakeOutput(x)};
  ASSERT_TRUE(model->Run({}, out).ok());
  EXPECT_EQ(y, (std::vector<float>{6, 15}));
  EXPECT_EQ(x, (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST(TfliteConstants, AreRefusedWhereTheyDoNotFit) {
  EXPECT_EQ(WhyNot(Sum(), {MakeInputConstant<int32_t>("axis", {1}, {1})}),
            "m: the model has no input 'axis' that a value could be given to (its inputs are "
            "'axes', 'x')");
  EXPECT_EQ(WhyNot(Sum(), {MakeInputConstant<int64_t>("axes", {1}, {1})}),
            "m: the value of input 'axes' is int64 [1]; the input is int32 [1]");
  EXPECT_EQ(WhyNot(Sum(), {MakeInputConstant<int32_t>("axes", {2}, {0, 1})}),
            "m: the value of input 'axes' is int32 [2]; the input is int32 [1]");
  EXPECT_EQ(WhyNot(Sum(), {Axes(0), Axes(1)}), "m: the value of input 'axes' is given twice");
  EXPECT_EQ(WhyNot(Sum(), {{"axes", Type::kInt32, {1}, {}}}),
            "m: the value of input 'axes' has 0 bytes; int32 [1] has 4");
  test::ModelSpec twins = Sum();
  twins.tensors[1].name = "axes";
  EXPECT_EQ(WhyNot(twins, {Axes(0)}),
            "m: the model has 2 inputs 'axes', so none of them can be given a value");
}

test::TensorSpec Plain(const std::string& name, tflite::TensorType type,
                       const std::vector<int>& shape) {
  test::TensorSpec tensor;
  tensor.name = name;
  tensor.type = type;
  tensor.shape = shape;
  tensor.scales.clear();
  tensor.zero_points.clear();
  return tensor;
}

test::TensorSpec Constant(test::TensorSpec tensor, const std::vector<int32_t>& values) {
  tensor.data.assign(reinterpret_cast<const uint8_t*>(values.data()),
                     reinterpret_cast<const uint8_t*>(values.data() + values.size()));
  return tensor;
}

// y = one operator of x [2, 3] and further tensors, of which `input` is one of the model's.
test::ModelSpec OfX(Code code, std::vector<test::TensorSpec> more, int input,
                    const std::vector<int>& shape) {
  test::ModelSpec spec;
  spec.tensors = std::move(more);
  const int x = static_cast<int>(spec.tensors.size());
  test::OperatorSpec& op = spec.operators.emplace_back();
  op.code = code;
  op.inputs = {x};
  for (int i = 0; i < x; ++i) op.inputs.push_back(i);
  op.outputs = {x + 1};
  spec.tensors.push_back(Plain("x", tflite::TensorType::FLOAT32, {2, 3}));
  spec.tensors.push_back(Plain("y", tflite::TensorType::FLOAT32, shape));
  spec.inputs = {x, input};
  spec.outputs = {x + 1};
  return spec;
}

// Without a mask, so both dimensions keep a range.
test::ModelSpec Strided() {
  constexpr auto kInt = tflite::TensorType::INT32;
  test::ModelSpec spec = OfX(Code::STRIDED_SLICE,
                             {Plain("begin", kInt, {2}), Constant(Plain("end", kInt, {2}), {2, 3}),
                              Constant(Plain("strides", kInt, {2}), {1, 1})},
                             0, {1, 2});
  spec.operators[0].options = test::StridedSliceOptions();
  return spec;
}

test::ModelSpec PadBy() {
  return OfX(Code::PADV2,
             {Constant(Plain("paddings", tflite::TensorType::INT32, {2, 2}), {0, 0, 1, 0}),
              Plain("value", tflite::TensorType::FLOAT32, {})},
             1, {2, 4});
}

TEST(TfliteConstants, AreNamedWherePlacesAndPaddingFollowFromThem) {
  EXPECT_NE(WhyNot(Strided(), {}).find("; give input 'begin' a value with the option constants"),
            std::string::npos)
      << WhyNot(Strided(), {});
  EXPECT_NE(WhyNot(PadBy(), {}).find("; give input 'value' a value with the option constants"),
            std::string::npos)
      << WhyNot(PadBy(), {});
  EXPECT_EQ(WhyNot(Strided(), {MakeInputConstant<int32_t>("begin", {2}, {1, 1})}), "");
  EXPECT_EQ(WhyNot(PadBy(), {MakeInputConstant<float>("value", {}, {7})}), "");
}

TEST(TfliteConstants, AreNamedWhereTheyAreMissing) {
  EXPECT_NE(WhyNot(Sum(), {}).find(
                "; give input 'axes' a value with the option constants (--constant axes=VALUE)"),
            std::string::npos)
      << WhyNot(Sum(), {});
}

}  // namespace
}  // namespace intaglio::nn
