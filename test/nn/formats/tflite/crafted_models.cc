#include "intaglio/test/nn/formats/tflite/crafted_models.h"

#include <algorithm>

namespace intaglio::nn::test {
namespace {

using Code = tflite::BuiltinOperator;
using tflite::TensorType;

template <class T>
flatbuffers::Offset<flatbuffers::Vector<T>> OptionalVector(Builder& b, const std::vector<T>& v) {
  return v.empty() ? flatbuffers::Offset<flatbuffers::Vector<T>>() : b.CreateVector(v);
}

flatbuffers::Offset<tflite::QuantizationParameters> BuildQuantization(Builder& b,
                                                                      const TensorSpec& spec) {
  const auto scales = OptionalVector(b, spec.scales);
  const auto zero_points = OptionalVector(b, spec.zero_points);
  const auto opaque =
      spec.blockwise ? tflite::CreateOpaque(b) : flatbuffers::Offset<tflite::Opaque>();
  return tflite::CreateQuantizationParameters(
      b, 0, 0, scales, zero_points,
      spec.blockwise ? tflite::QuantizationDetails::Blockwise : tflite::QuantizationDetails::NONE,
      opaque.Union(), spec.quantized_dimension);
}

flatbuffers::Offset<tflite::Tensor> BuildTensor(Builder& b, const TensorSpec& spec,
                                                uint32_t buffer) {
  const auto shape = b.CreateVector(spec.shape);
  const auto name = b.CreateString(spec.name);
  const auto quantization = BuildQuantization(b, spec);
  const auto sparsity =
      spec.sparse ? tflite::CreateOpaque(b) : flatbuffers::Offset<tflite::Opaque>();
  return tflite::CreateTensor(b, shape, spec.type, buffer, name, quantization, spec.variable,
                              sparsity, 0, true, 0, spec.external_buffer);
}

flatbuffers::Offset<tflite::Operator> BuildOperator(Builder& b, const OperatorSpec& spec,
                                                    uint32_t code_index) {
  const auto inputs = b.CreateVector(spec.inputs);
  const auto outputs = b.CreateVector(spec.outputs);
  Options options = {tflite::BuiltinOptions::NONE, 0};
  if (spec.options) options = spec.options(b);
  const auto custom = b.CreateVector(spec.custom_options);
  return tflite::CreateOperator(b, spec.code_index.value_or(code_index), inputs, outputs,
                                options.first, options.second, custom);
}

flatbuffers::Offset<tflite::OperatorCode> BuildCode(Builder& b, const OperatorSpec& spec,
                                                    bool deprecated) {
  const auto custom = b.CreateString(spec.custom_code);
  const auto byte = static_cast<int8_t>(std::min(static_cast<int>(spec.code), 127));
  return tflite::CreateOperatorCode(b, byte, custom, spec.version,
                                    deprecated ? Code::ADD : spec.code);
}

flatbuffers::Offset<tflite::SubGraph> BuildSubGraph(Builder& b, const ModelSpec& spec,
                                                    const std::vector<uint32_t>& buffers) {
  std::vector<flatbuffers::Offset<tflite::Tensor>> tensors;
  for (size_t i = 0; i < spec.tensors.size(); ++i) {
    tensors.push_back(BuildTensor(b, spec.tensors[i], buffers[i]));
  }
  std::vector<flatbuffers::Offset<tflite::Operator>> operators;
  for (size_t i = 0; i < spec.operators.size(); ++i) {
    operators.push_back(BuildOperator(b, spec.operators[i], static_cast<uint32_t>(i)));
  }
  return tflite::CreateSubGraph(b, b.CreateVector(tensors), b.CreateVector(spec.inputs),
                                b.CreateVector(spec.outputs), b.CreateVector(operators));
}

flatbuffers::Offset<flatbuffers::String> OptionalString(Builder& b,
                                                        const std::optional<std::string>& text) {
  return text ? b.CreateString(*text) : flatbuffers::Offset<flatbuffers::String>();
}

flatbuffers::Offset<tflite::SignatureDef> BuildSignature(Builder& b, const SignatureSpec& spec) {
  const auto maps = [&](const auto& entries) {
    std::vector<flatbuffers::Offset<tflite::TensorMap>> offsets;
    for (const auto& [name, tensor] : entries) {
      offsets.push_back(tflite::CreateTensorMap(b, OptionalString(b, name), tensor));
    }
    return b.CreateVector(offsets);
  };
  const auto inputs = maps(spec.inputs);
  const auto outputs = maps(spec.outputs);
  return tflite::CreateSignatureDef(b, inputs, outputs, OptionalString(b, spec.key), 0,
                                    spec.subgraph);
}

template <class T, class... Arguments>
Options Pack(tflite::BuiltinOptions type, flatbuffers::Offset<T> offset) {
  return {type, offset.Union()};
}

}  // namespace

std::vector<uint8_t> Build(const ModelSpec& spec) {
  Builder b;
  std::vector<flatbuffers::Offset<tflite::Buffer>> buffers = {tflite::CreateBuffer(b)};
  for (const BufferSpec& far : spec.far_buffers) {
    buffers.push_back(tflite::CreateBuffer(b, 0, far.offset, far.size));
  }
  std::vector<uint32_t> buffer_of;
  for (const TensorSpec& tensor : spec.tensors) {
    uint32_t index = 0;
    if (!tensor.data.empty()) {
      index = static_cast<uint32_t>(buffers.size());
      b.ForceVectorAlignment(tensor.data.size(), 1, 16);
      buffers.push_back(tflite::CreateBuffer(b, b.CreateVector(tensor.data)));
    }
    buffer_of.push_back(tensor.buffer.value_or(index));
  }
  std::vector<flatbuffers::Offset<tflite::OperatorCode>> codes;
  for (const OperatorSpec& op : spec.operators) {
    codes.push_back(BuildCode(b, op, spec.deprecated_codes));
  }
  std::vector<flatbuffers::Offset<tflite::SubGraph>> subgraphs;
  for (int i = 0; i < spec.subgraphs; ++i) subgraphs.push_back(BuildSubGraph(b, spec, buffer_of));
  std::vector<flatbuffers::Offset<tflite::SignatureDef>> signatures;
  for (const SignatureSpec& signature : spec.signatures) {
    signatures.push_back(BuildSignature(b, signature));
  }
  const auto model = tflite::CreateModel(
      b, spec.version, b.CreateVector(codes), b.CreateVector(subgraphs), b.CreateString("crafted"),
      b.CreateVector(buffers), 0, 0, OptionalVector(b, signatures));
  b.Finish(model, spec.identifier);
  return {b.GetBufferPointer(), b.GetBufferPointer() + b.GetSize()};
}

MakeOptions ConvOptions(const Window& w) {
  return [w](Builder& b) {
    return Pack(tflite::BuiltinOptions::Conv2DOptions,
                tflite::CreateConv2DOptions(b, w.padding, w.stride_width, w.stride_height,
                                            w.activation, w.dilation_width, w.dilation_height));
  };
}

MakeOptions DepthwiseOptions(const Window& w) {
  return [w](Builder& b) {
    return Pack(
        tflite::BuiltinOptions::DepthwiseConv2DOptions,
        tflite::CreateDepthwiseConv2DOptions(b, w.padding, w.stride_width, w.stride_height, 1,
                                             w.activation, w.dilation_width, w.dilation_height));
  };
}

MakeOptions PoolOptions(const Window& w) {
  return [w](Builder& b) {
    return Pack(tflite::BuiltinOptions::Pool2DOptions,
                tflite::CreatePool2DOptions(b, w.padding, w.stride_width, w.stride_height,
                                            w.filter_width, w.filter_height, w.activation));
  };
}

MakeOptions FullyConnectedOptions(tflite::ActivationFunctionType activation) {
  return [activation](Builder& b) {
    return Pack(tflite::BuiltinOptions::FullyConnectedOptions,
                tflite::CreateFullyConnectedOptions(b, activation));
  };
}

MakeOptions SoftmaxOptions(float beta) {
  return [beta](Builder& b) {
    return Pack(tflite::BuiltinOptions::SoftmaxOptions, tflite::CreateSoftmaxOptions(b, beta));
  };
}

MakeOptions ConcatenationOptions(int axis) {
  return [axis](Builder& b) {
    return Pack(tflite::BuiltinOptions::ConcatenationOptions,
                tflite::CreateConcatenationOptions(b, axis));
  };
}

MakeOptions AddOptions() {
  return [](Builder& b) {
    return Pack(tflite::BuiltinOptions::AddOptions, tflite::CreateAddOptions(b));
  };
}

MakeOptions ReshapeOptions(const std::vector<int>& shape) {
  return [shape](Builder& b) {
    return Pack(tflite::BuiltinOptions::ReshapeOptions,
                tflite::CreateReshapeOptions(b, b.CreateVector(shape)));
  };
}

MakeOptions ReducerOptions(bool keep_dims) {
  return [keep_dims](Builder& b) {
    return Pack(tflite::BuiltinOptions::ReducerOptions, tflite::CreateReducerOptions(b, keep_dims));
  };
}

MakeOptions StridedSliceOptions() {
  return [](Builder& b) {
    return Pack(tflite::BuiltinOptions::StridedSliceOptions, tflite::CreateStridedSliceOptions(b));
  };
}

MakeOptions SvdfOptions(int rank) {
  return [rank](Builder& b) {
    return Pack(tflite::BuiltinOptions::SVDFOptions,
                tflite::CreateSVDFOptions(b, rank, tflite::ActivationFunctionType::RELU));
  };
}

MakeOptions BatchMatMulOptions(bool adjoint_a, bool adjoint_b) {
  return [=](Builder& b) {
    return Pack(tflite::BuiltinOptions::BatchMatMulOptions,
                tflite::CreateBatchMatMulOptions(b, adjoint_a, adjoint_b));
  };
}

namespace {

// Constants with some variety in them, the same in every run.
std::vector<uint8_t> Weights(size_t count) {
  std::vector<uint8_t> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>(37 * i + 11);
  return bytes;
}

TensorSpec Activation(const std::string& name, const std::vector<int>& shape, float scale = 0.5f,
                      int64_t zero_point = 0, TensorType type = TensorType::INT8) {
  TensorSpec tensor;
  tensor.name = name;
  tensor.type = type;
  tensor.shape = shape;
  tensor.scales = {scale};
  tensor.zero_points = {zero_point};
  return tensor;
}

TensorSpec Constant(const std::string& name, const std::vector<int>& shape,
                    const std::vector<uint8_t>& data, TensorType type = TensorType::INT8) {
  TensorSpec tensor = Activation(name, shape, 0.25f, 0, type);
  tensor.data = data;
  return tensor;
}

TensorSpec Unquantized(TensorSpec tensor) {
  tensor.scales.clear();
  tensor.zero_points.clear();
  return tensor;
}

TensorSpec PerChannel(TensorSpec tensor, std::vector<float> scales, int dimension) {
  tensor.zero_points.assign(scales.size(), 0);
  tensor.scales = std::move(scales);
  tensor.quantized_dimension = dimension;
  return tensor;
}

}  // namespace

ModelSpec SmallNetwork() {
  ModelSpec m;
  m.tensors = {
      Activation("x", {1, 4, 4, 2}, 0.05f, -3),
      PerChannel(Constant("conv_filter", {4, 3, 3, 2}, Weights(72)), {0.01f, 0.02f, 0.03f, 0.04f},
                 0),
      Unquantized(Constant("conv_bias", {4}, Bytes<int32_t>({100, -200, 0, 7}), TensorType::INT32)),
      Activation("conv", {1, 4, 4, 4}, 0.1f, 5),
      PerChannel(Constant("dw_filter", {1, 3, 3, 4}, Weights(36)), {0.01f, 0.02f, 0.03f, 0.04f}, 3),
      Unquantized(Constant("dw_bias", {4}, Bytes<int32_t>({1, 2, 3, 4}), TensorType::INT32)),
      Activation("dw", {1, 4, 4, 4}, 0.1f, 5),
      Activation("pooled", {1, 4, 4, 4}, 0.1f, 5),
      Activation("sum", {1, 4, 4, 4}, 0.2f, -1),
      Activation("mean", {1, 2, 2, 4}, 0.2f, -1),
      Unquantized(Constant("new_shape", {2}, Bytes<int32_t>({1, -1}), TensorType::INT32)),
      Activation("flat", {1, 16}, 0.2f, -1),
      Constant("fc_weights", {3, 16}, Weights(48)),
      Unquantized(Constant("fc_bias", {3}, Bytes<int32_t>({9, -9, 0}), TensorType::INT32)),
      Activation("logits", {1, 3}, 0.5f, 2),
      Activation("scores", {1, 3}, 1.0f / 256, -128),
  };
  Window pool;
  pool.padding = tflite::Padding::VALID;
  pool.stride_height = pool.stride_width = 2;
  Window conv;
  conv.activation = tflite::ActivationFunctionType::RELU6;
  m.operators = {
      {Code::CONV_2D, {0, 1, 2}, {3}, ConvOptions(conv), 3, "", {}},
      {Code::DEPTHWISE_CONV_2D, {3, 4, 5}, {6}, DepthwiseOptions(), 3, "", {}},
      {Code::MAX_POOL_2D, {6}, {7}, PoolOptions(), 2, "", {}},
      {Code::ADD, {3, 7}, {8}, AddOptions(), 2, "", {}},
      {Code::AVERAGE_POOL_2D, {8}, {9}, PoolOptions(pool), 2, "", {}},
      {Code::RESHAPE, {9, 10}, {11}, nullptr, 1, "", {}},
      {Code::FULLY_CONNECTED, {11, 12, 13}, {14}, FullyConnectedOptions(), 4, "", {}},
      {Code::SOFTMAX, {14}, {15}, SoftmaxOptions(), 2, "", {}},
  };
  m.inputs = {0};
  m.outputs = {15};
  return m;
}

ModelSpec SmallElementwise() {
  ModelSpec m;
  m.tensors = {
      Unquantized(Activation("x", {1, 4}, 1, 0, TensorType::FLOAT32)),
      Activation("q", {1, 4}, 0.1f, 3),
      Unquantized(Constant("paddings", {2, 2}, Bytes<int32_t>({0, 0, 1, 2}), TensorType::INT32)),
      Activation("padded", {1, 7}, 0.1f, 3),
      Activation("logistic", {1, 7}, 1.0f / 256, -128),
      Activation("joined", {1, 14}, 1.0f / 256, -128),
      Unquantized(Constant("axes", {1}, Bytes<int32_t>({-1}), TensorType::INT32)),
      Activation("mean", {1, 1}, 1.0f / 128, -10),
      Activation("relu", {1, 1}, 1.0f / 128, -10),
      Activation("tanh", {1, 1}, 1.0f / 128, 0),
      Unquantized(Activation("y", {1, 1}, 1, 0, TensorType::FLOAT32)),
  };
  m.operators = {
      {Code::QUANTIZE, {0}, {1}, nullptr, 1, "", {}},
      {Code::PAD, {1, 2}, {3}, nullptr, 2, "", {}},
      {Code::LOGISTIC, {3}, {4}, nullptr, 2, "", {}},
      {Code::CONCATENATION, {4, 4}, {5}, ConcatenationOptions(-1), 2, "", {}},
      {Code::MEAN, {5, 6}, {7}, ReducerOptions(true), 2, "", {}},
      {Code::RELU, {7}, {8}, nullptr, 2, "", {}},
      {Code::TANH, {8}, {9}, nullptr, 2, "", {}},
      {Code::DEQUANTIZE, {9}, {10}, nullptr, 2, "", {}},
  };
  m.inputs = {0};
  m.outputs = {10};
  return m;
}

ModelSpec SmallUint8() {
  const TensorType u8 = TensorType::UINT8;
  ModelSpec m;
  m.tensors = {
      Activation("x", {1, 3, 3, 1}, 0.05f, 128, u8),
      Constant("filter", {2, 2, 2, 1}, Weights(8), u8),
      Unquantized(Constant("bias", {2}, Bytes<int32_t>({5, -5}), TensorType::INT32)),
      Activation("conv", {1, 3, 3, 2}, 0.1f, 100, u8),
      Constant("weights", {2, 18}, Weights(36), u8),
      Activation("y", {1, 2}, 0.5f, 90, u8),
  };
  m.tensors[1].zero_points = {120};
  m.tensors[2].scales = {0.05f * 0.25f};
  m.tensors[2].zero_points = {0};
  m.tensors[4].zero_points = {3};
  m.operators = {
      {Code::CONV_2D, {0, 1, 2}, {3}, ConvOptions(), 1, "", {}},
      {Code::FULLY_CONNECTED, {3, 4, -1}, {5}, FullyConnectedOptions(), 1, "", {}},
  };
  m.inputs = {0};
  m.outputs = {5};
  m.deprecated_codes = true;
  return m;
}

ModelSpec SmallStateful() {
  const TensorType i16 = TensorType::INT16;
  ModelSpec m;
  m.tensors = {
      Activation("x", {1, 4}, 0.1f, 3),
      Constant("feature", {4, 4}, Weights(16)),
      Constant("time", {4, 3}, Weights(12)),
      Unquantized(Constant("bias", {2}, Bytes<int32_t>({5, -5}), TensorType::INT32)),
      Activation("state", {1, 12}, 0.1f, -2),
      Activation("filtered", {1, 2}, 0.2f, -7),
      Unquantized(Constant("axes", {1}, Bytes<int32_t>({-1}), TensorType::INT32)),
      Activation("y", {1, 1}, 0.3f, 1),
      Activation("a", {2, 1, 4}, 0.1f, 0, i16),
      Activation("b", {1, 4, 3}, 0.1f, 0, i16),
      Activation("product", {2, 1, 3}, 0.2f, 0, i16),
  };
  m.tensors[4].variable = true;
  m.operators = {
      {Code::SVDF, {0, 1, 2, 3, 4}, {5}, SvdfOptions(2), 3, "", {}},
      {Code::REDUCE_PROD, {5, 6}, {7}, ReducerOptions(true), 2, "", {}},
      {Code::BATCH_MATMUL, {8, 9}, {10}, BatchMatMulOptions(false, false), 3, "", {}},
  };
  m.inputs = {0, 8, 9};
  m.outputs = {7, 10};
  return m;
}

namespace {

TensorSpec Integers(const std::string& name, const std::vector<int>& shape,
                    const std::vector<int32_t>& values = {}) {
  return Unquantized(Constant(name, shape, Bytes(values), TensorType::INT32));
}

Options FirstOnly(Builder& b) {  // x[0]
  return {tflite::BuiltinOptions::StridedSliceOptions,
          tflite::CreateStridedSliceOptions(b, 0, 0, 0, 0, 1).Union()};
}

Options PackTwo(Builder& b) {
  return {tflite::BuiltinOptions::PackOptions, tflite::CreatePackOptions(b, 2, 0).Union()};
}

}  // namespace

ModelSpec Flattening() {
  ModelSpec m;
  m.tensors = {
      Activation("x", {2, 3, 4}), Integers("shape", {3}),   Integers("zero", {1}, {0}),
      Integers("one", {1}, {1}),  Integers("batch", {}),    Integers("rest", {}, {-1}),
      Integers("new_shape", {2}), Activation("y", {2, 12}),
  };
  m.operators = {
      {Code::SHAPE, {0}, {1}, nullptr, 1, "", {}},
      {Code::STRIDED_SLICE, {1, 2, 3, 3}, {4}, FirstOnly, 1, "", {}},
      {Code::PACK, {4, 5}, {6}, PackTwo, 1, "", {}},
      {Code::RESHAPE, {0, 6}, {7}, nullptr, 1, "", {}},
  };
  m.inputs = {0};
  m.outputs = {7};
  return m;
}

}  // namespace intaglio::nn::test
