// What the tests of the quantizer share: graphs of float32, and runs of them.
#ifndef INTAGLIO_TEST_NN_QUANTIZE_NETWORK_H_
#define INTAGLIO_TEST_NN_QUANTIZE_NETWORK_H_

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/quantize/calibrate.h"
#include "intaglio/nn/quantize/quantize_graph.h"
#include "intaglio/nn/runtime/model.h"

namespace intaglio::nn::quantize {

using Reals = std::vector<float>;

template <class T>
std::vector<std::byte> ToBytes(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <class T>
std::vector<T> FromBytes(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

inline std::vector<double> Numbers(const Tensor& tensor, const std::vector<std::byte>& bytes) {
  const auto convert = [](const auto& v) { return std::vector<double>(v.begin(), v.end()); };
  switch (tensor.type) {
    case Type::kInt8:
      return convert(FromBytes<int8_t>(bytes));
    case Type::kUInt8:
      return convert(FromBytes<uint8_t>(bytes));
    case Type::kInt16:
      return convert(FromBytes<int16_t>(bytes));
    case Type::kUInt16:
      return convert(FromBytes<uint16_t>(bytes));
    case Type::kInt32:
      return convert(FromBytes<int32_t>(bytes));
    case Type::kInt64:
      return convert(FromBytes<int64_t>(bytes));
    default:
      return convert(FromBytes<float>(bytes));
  }
}

// Samples from a list.
inline NextSample From(const std::vector<InputBytes>& samples) {
  return [&samples, i = size_t{0}](InputBytes& inputs) mutable -> Result<bool> {
    if (i == samples.size()) return false;
    inputs = samples[i++];
    return true;
  };
}

inline OpenSamples Open(const std::vector<InputBytes>& samples) {
  return [&samples]() -> Result<NextSample> { return From(samples); };
}

// The outputs of a graph on one sample.
inline std::vector<std::vector<double>> OutputsOf(const Graph& graph, const InputBytes& inputs) {
  Result<Model> model = Model::Prepare(graph);
  if (!model.ok()) {
    ADD_FAILURE() << model.status().message();
    return {};
  }
  InputBytes outputs;
  const Status status = RunOn(*model, inputs, outputs);
  EXPECT_TRUE(status.ok()) << status.message();
  std::vector<std::vector<double>> numbers;
  for (size_t i = 0; i < outputs.size(); ++i) {
    numbers.push_back(Numbers(model->output(i), outputs[i]));
  }
  return numbers;
}

inline size_t CountLayers(const Graph& graph, const std::string& op) {
  size_t count = 0;
  for (const Layer& layer : graph.layers) count += NameOf(layer.op) == op ? 1 : 0;
  return count;
}

inline const Layer* FindLayer(const Graph& graph, const std::string& op) {
  for (const Layer& layer : graph.layers) {
    if (NameOf(layer.op) == op) return &layer;
  }
  return nullptr;
}

inline const Tensor& TensorAt(const Graph& graph, TensorId id) {
  return graph.tensors[static_cast<size_t>(id)];
}

}  // namespace intaglio::nn::quantize

#endif  // INTAGLIO_TEST_NN_QUANTIZE_NETWORK_H_
