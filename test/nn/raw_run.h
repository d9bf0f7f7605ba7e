// Runs models on bytes, whatever their types.
#ifndef INTAGLIO_TEST_NN_RAW_RUN_H_
#define INTAGLIO_TEST_NN_RAW_RUN_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/runtime/model.h"

namespace intaglio::nn::test {

using RawTensors = std::vector<std::vector<uint8_t>>;

// 8-bit numbers of any value, small wider ones, floats in [-4, 4).
inline std::vector<uint8_t> RandomBytes(const Tensor& tensor, std::mt19937& random) {
  std::vector<uint8_t> bytes(*CountBytes(tensor.shape, tensor.type));
  const size_t size = SizeOf(tensor.type);
  for (size_t i = 0; i + size <= bytes.size(); i += size) {
    if (tensor.type == Type::kFloat32) {
      const float value = std::uniform_real_distribution<float>(-4, 4)(random);
      std::memcpy(bytes.data() + i, &value, size);
    } else {
      bytes[i] = static_cast<uint8_t>(random());
      if (tensor.type == Type::kBool) bytes[i] &= 1;
      if (tensor.type == Type::kInt32 || tensor.type == Type::kInt64) bytes[i] &= 3;
    }
  }
  return bytes;
}

inline RawTensors RandomInputs(const Graph& graph, unsigned seed) {
  std::mt19937 random(seed);
  RawTensors inputs;
  for (const TensorId id : graph.inputs) {
    inputs.push_back(RandomBytes(graph.tensors[static_cast<size_t>(id)], random));
  }
  return inputs;
}

// Status messages instead of outputs where the run fails.
inline std::string RunRaw(Model& model, const RawTensors& inputs, RawTensors& outputs) {
  std::vector<InputBuffer> in;
  std::vector<OutputBuffer> out;
  for (size_t i = 0; i < inputs.size(); ++i) {
    in.push_back({inputs[i].data(), inputs[i].size(), model.input(i).type});
  }
  outputs.clear();
  for (size_t i = 0; i < model.output_count(); ++i) {
    outputs.emplace_back(*CountBytes(model.output(i).shape, model.output(i).type));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    out.push_back({outputs[i].data(), outputs[i].size(), model.output(i).type});
  }
  return model.Run(in, out).message();
}

// Prepares a graph and runs it; failures are the test's.
inline RawTensors RunGraph(const Graph& graph, const RawTensors& inputs,
                           const PrepareOptions& options = {}) {
  RawTensors outputs;
  Result<Model> model = Model::Prepare(graph, options);
  if (!model.ok()) {
    ADD_FAILURE() << model.status().message();
    return outputs;
  }
  EXPECT_EQ(RunRaw(*model, inputs, outputs), "");
  return outputs;
}

}  // namespace intaglio::nn::test

#endif  // INTAGLIO_TEST_NN_RAW_RUN_H_
