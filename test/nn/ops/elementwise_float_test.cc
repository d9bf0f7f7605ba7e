// Operators of float32, element by element, against plain loops: of tensors so large that threads
// share them, by any number of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/ops/builder.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/test/nn/raw_run.h"

namespace intaglio::nn::test {
namespace {

std::vector<float> Numbers(const std::vector<uint8_t>& bytes) {
  std::vector<float> numbers(bytes.size() / sizeof(float));
  if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

// Runs one layer of inputs of these shapes; `want` makes its output of the inputs' numbers.
void Check(const Operator& op, const std::vector<Shape>& shapes,
           const std::function<std::vector<float>(const std::vector<std::vector<float>>&)>& want) {
  Builder builder;
  std::vector<TensorId> inputs;
  for (const Shape& shape : shapes) {
    inputs.push_back(builder.Input("x", Type::kFloat32, shape, {}).id);
  }
  builder.Output(builder.Layer(op, inputs, Type::kFloat32, {}), "y");
  const Result<Graph> graph = builder.Finish();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const RawTensors in = RandomInputs(*graph, 1);
  std::vector<std::vector<float>> numbers;
  for (const auto& bytes : in) numbers.push_back(Numbers(bytes));
  const std::vector<float> expected = want(numbers);
  for (const int threads : {1, 2, 3}) {
    Result<Model> model = Model::Prepare(*graph, {.threads = threads});
    ASSERT_TRUE(model.ok()) << model.status().message();
    RawTensors out;
    ASSERT_EQ(RunRaw(*model, in, out), "");
    ASSERT_EQ(Numbers(out[0]), expected) << threads << " threads";
  }
}

// Of shapes of four dimensions, their difference.
void CheckSub(const Shape& a, const Shape& b) {
  SCOPED_TRACE(ToString(a) + " - " + ToString(b));
  Check(Sub{}, {a, b}, [&](const std::vector<std::vector<float>>& x) {
    const auto at = [](const Shape& shape, const std::vector<int>& index) {
      size_t offset = 0;
      for (size_t d = 0; d < 4; ++d) {
        offset = offset * static_cast<size_t>(shape[d]) +
                 static_cast<size_t>(shape[d] == 1 ? 0 : index[d]);
      }
      return offset;
    };
    Shape out(4);
    for (size_t d = 0; d < 4; ++d) out[d] = a[d] == 1 ? b[d] : a[d];
    std::vector<float> y;
    std::vector<int> i(4);
    for (i[0] = 0; i[0] < out[0]; ++i[0]) {
      for (i[1] = 0; i[1] < out[1]; ++i[1]) {
        for (i[2] = 0; i[2] < out[2]; ++i[2]) {
          for (i[3] = 0; i[3] < out[3]; ++i[3]) y.push_back(x[0][at(a, i)] - x[1][at(b, i)]);
        }
      }
    }
    return y;
  });
}

TEST(ElementwiseFloat, TwoTensors) {
  CheckSub({2, 19, 21, 23}, {2, 19, 21, 23});
  CheckSub({2, 19, 21, 23}, {1, 1, 1, 23});
  CheckSub({2, 19, 21, 23}, {2, 1, 1, 23});
  CheckSub({2, 1, 21, 23}, {1, 19, 1, 23});
  CheckSub({1, 1, 1, 1}, {2, 19, 21, 23});
  CheckSub({2, 19, 21, 23}, {2, 19, 21, 1});
  CheckSub({1, 1, 1, 1}, {1, 1, 1, 1});
  CheckSub({2, 19, 0, 23}, {1, 1, 1, 23});
}

TEST(ElementwiseFloat, OneTensor) {
  for (const int count : {0, 1, 16384, 50001}) {
    Check(Neg{}, {{count}}, [](const std::vector<std::vector<float>>& x) {
      std::vector<float> y = x[0];
      std::transform(y.begin(), y.end(), y.begin(), std::negate<>());
      return y;
    });
  }
}

// TFLite's reference kernel changes its formula at these numbers.
float Logistic(float x) {
  if (x > 16.619047164916992f) return 1;
  const double power = std::exp(static_cast<double>(x));
  return static_cast<float>(x < -9 ? power : power / (1 + power));
}

TEST(ElementwiseFloat, LogisticChangesItsFormula) {
  const auto above = [](float x) { return std::nextafter(x, 1000.0f); };
  const std::vector<float> x = {-104,
                                -97.5f,
                                -88,
                                -20.1f,
                                -9.5f,
                                -9,
                                -above(9),
                                above(-9),
                                -1,
                                0,
                                1,
                                16.5f,
                                16.619047164916992f,
                                above(16.619047164916992f),
                                17,
                                89};
  Builder builder;
  const Value in = builder.Input("x", Type::kFloat32, {static_cast<int>(x.size())}, {});
  builder.Output(builder.Layer(nn::Logistic{}, {in.id}, Type::kFloat32, {}), "y");
  const Result<Graph> graph = builder.Finish();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  Result<Model> model = Model::Prepare(*graph);
  ASSERT_TRUE(model.ok()) << model.status().message();
  std::vector<float> y(x.size());
  ASSERT_TRUE(model
                  ->Run(std::vector<InputBuffer>{MakeInput(std::span<const float>(x))},
                        std::vector<OutputBuffer>{MakeOutput(std::span<float>(y))})
                  .ok());
  for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(y[i], Logistic(x[i])) << x[i];
}

}  // namespace
}  // namespace intaglio::nn::test
