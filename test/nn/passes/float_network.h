// Graphs of float32, and what they compute.
#ifndef INTAGLIO_TEST_NN_PASSES_FLOAT_NETWORK_H_
#define INTAGLIO_TEST_NN_PASSES_FLOAT_NETWORK_H_

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/ops/builder.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/test/nn/testing.h"

namespace intaglio::nn {

class FloatNetwork {
 public:
  explicit FloatNetwork(unsigned seed) : random_(seed) {}

  TensorId Input(Shape shape) {
    return b_.Input("x" + std::to_string(inputs_++), Type::kFloat32, std::move(shape)).id;
  }
  TensorId Constant(Shape shape) {
    std::vector<float> values(static_cast<size_t>(*CountElements(shape)));
    for (float& value : values) value = random_.Scale(0.05, 2) * (random_.Flip() ? 1.0f : -1.0f);
    return Constant(std::move(values), std::move(shape));
  }
  TensorId Constant(std::vector<float> values, Shape shape) {
    return b_.Const<float>("c", std::move(values), std::move(shape)).id;
  }
  TensorId Then(Operator op, std::vector<TensorId> from) {
    return b_.Layer(std::move(op), std::move(from), Type::kFloat32, {}).id;
  }
  Graph Finish(const std::vector<TensorId>& outputs) {
    int i = 0;
    for (const TensorId id : outputs) b_.Output({id}, "y" + std::to_string(i++));
    Result<Graph> graph = b_.Finish();
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    return graph.ok() ? *graph : Graph{};
  }
  Builder& builder() { return b_; }
  Random& random() { return random_; }

 private:
  Builder b_;
  Random random_;
  int inputs_ = 0;
};

// All outputs of a run on these numbers, which are repeated to fill the inputs.
inline std::vector<float> RunFloats(const Graph& graph, const std::vector<float>& numbers) {
  const Status valid = Validate(graph);
  EXPECT_TRUE(valid.ok()) << valid.message();
  Result<Model> model = Model::Prepare(graph);
  EXPECT_TRUE(model.ok()) << model.status().message();
  if (!model.ok()) return {};
  std::vector<std::vector<float>> in;
  std::vector<std::vector<float>> out;
  size_t next = 0;
  for (size_t i = 0; i < model->input_count(); ++i) {
    in.emplace_back(static_cast<size_t>(*CountElements(model->input(i).shape)));
    for (float& value : in.back()) value = numbers[next++ % numbers.size()];
  }
  for (size_t i = 0; i < model->output_count(); ++i) {
    out.emplace_back(static_cast<size_t>(*CountElements(model->output(i).shape)));
  }
  std::vector<InputBuffer> inputs;
  std::vector<OutputBuffer> outputs;
  for (std::vector<float>& values : in) inputs.push_back(MakeInput(values));
  for (std::vector<float>& values : out) outputs.push_back(MakeOutput(values));
  const Status status = model->Run(inputs, outputs);
  EXPECT_TRUE(status.ok()) << status.message();
  std::vector<float> all;
  for (const std::vector<float>& values : out) all.insert(all.end(), values.begin(), values.end());
  return all;
}

inline std::vector<float> RunFloats(const Graph& graph) {
  std::vector<float> numbers;
  for (int i = 0; i < 101; ++i) numbers.push_back(static_cast<float>(i * 37 % 101) / 16.3f - 3.0f);
  return RunFloats(graph, numbers);
}

// All NaN are one.
inline std::vector<uint32_t> BitsOf(const std::vector<float>& values) {
  std::vector<uint32_t> bits;
  for (const float value : values) {
    bits.push_back(value != value ? ~0u : std::bit_cast<uint32_t>(value));
  }
  return bits;
}

}  // namespace intaglio::nn

#endif  // INTAGLIO_TEST_NN_PASSES_FLOAT_NETWORK_H_
