// One layer of any operator, run on tensors of any types.
#ifndef INTAGLIO_TEST_NN_OPS_ONE_LAYER_H_
#define INTAGLIO_TEST_NN_OPS_ONE_LAYER_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/test/nn/raw_run.h"

namespace intaglio::nn::test {

struct Given {
  Type type = Type::kFloat32;
  Shape shape;
  std::vector<uint8_t> bytes;
  bool present = true;
  bool constant = false;  // otherwise the model's input
  Quantization quantization = {};
};

inline Given Absent() { return {Type::kFloat32, {}, {}, false, false, {}}; }

template <class T>
Given MakeGiven(Shape shape, const std::vector<T>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return {TypeOf<T>, std::move(shape), std::move(bytes), true, false, {}};
}
inline Given AsConstant(Given given) {
  given.constant = true;
  return given;
}
inline Given MakeBools(Shape shape, std::vector<uint8_t> values) {
  return {Type::kBool, std::move(shape), std::move(values), true, false, {}};
}

struct Got {
  std::string error;  // of any step; empty: there was none
  std::vector<Shape> shapes;
  RawTensors bytes;

  template <class T>
  std::vector<T> As(size_t output = 0) const {
    if (output >= bytes.size()) return {};
    std::vector<T> values(bytes[output].size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes[output].data(), bytes[output].size());
    return values;
  }
};

inline void SetConstant(const std::vector<uint8_t>& bytes, Tensor& tensor) {
  const auto owner = std::make_shared<const std::vector<uint8_t>>(bytes);
  tensor.constant = true;
  tensor.data = owner->data();
  tensor.data_bytes = owner->size();
  tensor.owner = owner;
}

// The graph of one layer, with outputs of these types.
inline Result<Graph> GraphOf(const Operator& op, const std::vector<Given>& inputs,
                             const std::vector<Type>& types) {
  Graph graph;
  Layer layer{op, {}, {}, {}};
  const auto add = [&](Type type, const Shape& shape) {
    Tensor& tensor = graph.tensors.emplace_back();
    tensor.type = type;
    tensor.shape = shape;
    return static_cast<TensorId>(graph.tensors.size()) - 1;
  };
  for (const Given& input : inputs) {
    layer.inputs.push_back(input.present ? add(input.type, input.shape) : kNoTensor);
    if (input.constant) SetConstant(input.bytes, graph.tensors.back());
    if (input.present) graph.tensors.back().quantization = input.quantization;
    if (input.present && !input.constant) graph.inputs.push_back(layer.inputs.back());
  }
  for (const Type type : types) layer.outputs.push_back(add(type, {}));
  graph.outputs = layer.outputs;
  graph.layers.push_back(layer);
  const Result<std::vector<Shape>> shapes = InferShapes(graph, 0);
  if (!shapes.ok()) return shapes.status();
  for (size_t i = 0; i < types.size(); ++i) {
    graph.tensors[static_cast<size_t>(layer.outputs[i])].shape = shapes->at(i);
  }
  return graph;
}

inline Got RunLayer(const Operator& op, const std::vector<Given>& inputs,
                    const std::vector<Type>& types, const PrepareOptions& options = {}) {
  Got got;
  Result<Graph> graph = GraphOf(op, inputs, types);
  if (!graph.ok()) return {graph.status().message(), {}, {}};
  Result<Model> model = Model::Prepare(std::move(*graph), options);
  if (!model.ok()) return {model.status().message(), {}, {}};
  RawTensors raw;
  for (const Given& input : inputs) {
    if (input.present && !input.constant) raw.push_back(input.bytes);
  }
  got.error = RunRaw(*model, raw, got.bytes);
  for (size_t i = 0; i < model->output_count(); ++i) got.shapes.push_back(model->output(i).shape);
  return got;
}

}  // namespace intaglio::nn::test

#endif  // INTAGLIO_TEST_NN_OPS_ONE_LAYER_H_
