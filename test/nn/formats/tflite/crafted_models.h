// Makes .tflite files, right and wrong ones, from a plain description. For tests only: it shares
// nothing with the writer in nn/formats/tflite, which makes no wrong ones.
#ifndef INTAGLIO_TEST_NN_FORMATS_TFLITE_CRAFTED_MODELS_H_
#define INTAGLIO_TEST_NN_FORMATS_TFLITE_CRAFTED_MODELS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/tflite/schema_generated.h"

namespace intaglio::nn::test {

struct TensorSpec {
  std::string name;
  tflite::TensorType type = tflite::TensorType::INT8;
  std::vector<int> shape;
  std::vector<float> scales = {0.5f};
  std::vector<int64_t> zero_points = {0};
  int quantized_dimension = 0;
  std::vector<uint8_t> data;       // not empty: a constant, in a buffer of its own
  std::optional<uint32_t> buffer;  // instead of that buffer, whether it exists or not
  bool variable = false;
  bool sparse = false;
  bool blockwise = false;
  uint32_t external_buffer = 0;
};

using Builder = flatbuffers::FlatBufferBuilder;
using Options = std::pair<tflite::BuiltinOptions, flatbuffers::Offset<void>>;
using MakeOptions = std::function<Options(Builder&)>;

struct OperatorSpec {
  tflite::BuiltinOperator code = tflite::BuiltinOperator::ADD;
  std::vector<int> inputs;
  std::vector<int> outputs;
  MakeOptions options;  // may be null
  int version = 1;
  std::string custom_code;
  std::optional<uint32_t> code_index;  // instead of that of an entry made for this operator
  std::vector<uint8_t> custom_options = {};
};

struct BufferSpec {  // a buffer whose data lies outside of the FlatBuffer
  uint64_t offset = 0;
  uint64_t size = 0;
};

struct SignatureSpec {
  std::optional<std::string> key = "serving_default";
  std::vector<std::pair<std::optional<std::string>, uint32_t>> inputs;  // a name and a tensor
  std::vector<std::pair<std::optional<std::string>, uint32_t>> outputs;
  uint32_t subgraph = 0;
};

struct ModelSpec {
  std::vector<TensorSpec> tensors;
  std::vector<OperatorSpec> operators;
  std::vector<int> inputs;
  std::vector<int> outputs;
  std::vector<BufferSpec> far_buffers;  // buffers 1, 2, ...; those of the tensors follow
  uint32_t version = 3;
  const char* identifier = "TFL3";
  int subgraphs = 1;              // 0: none; more: copies of the first
  bool deprecated_codes = false;  // operator codes in the old byte only
  std::vector<SignatureSpec> signatures = {};
};

std::vector<uint8_t> Build(const ModelSpec& spec);

// Little-endian bytes of values, for the data of a constant.
template <class T>
std::vector<uint8_t> Bytes(const std::vector<T>& values) {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(values.data());
  return {bytes, bytes + values.size() * sizeof(T)};
}

struct Window {
  tflite::Padding padding = tflite::Padding::SAME;
  int stride_height = 1;
  int stride_width = 1;
  int filter_height = 2;  // of pools
  int filter_width = 2;
  int dilation_height = 1;  // of convolutions
  int dilation_width = 1;
  tflite::ActivationFunctionType activation = tflite::ActivationFunctionType::NONE;
};
MakeOptions ConvOptions(const Window& window = {});
MakeOptions DepthwiseOptions(const Window& window = {});
MakeOptions PoolOptions(const Window& window = {});
MakeOptions FullyConnectedOptions(
    tflite::ActivationFunctionType activation = tflite::ActivationFunctionType::NONE);
MakeOptions SoftmaxOptions(float beta = 1.0f);
MakeOptions ConcatenationOptions(int axis);
MakeOptions AddOptions();
MakeOptions ReshapeOptions(const std::vector<int>& shape);
MakeOptions ReducerOptions(bool keep_dims);
MakeOptions StridedSliceOptions();  // without masks
MakeOptions SvdfOptions(int rank);  // with RELU
MakeOptions BatchMatMulOptions(bool adjoint_a, bool adjoint_b);

// Small models that are right.

// int8 [1,4,4,2] -> CONV_2D, DEPTHWISE_CONV_2D, MAX_POOL_2D, ADD, AVERAGE_POOL_2D, RESHAPE,
// FULLY_CONNECTED, SOFTMAX -> int8 [1,3]. Per-channel weights.
ModelSpec SmallNetwork();
// float32 [1,4] -> QUANTIZE, PAD, LOGISTIC, CONCATENATION (with itself), MEAN, RELU, TANH,
// DEQUANTIZE.
ModelSpec SmallElementwise();
// uint8, with zero points, one CONV_2D and one FULLY_CONNECTED.
ModelSpec SmallUint8();
// int8 [1,4] -> SVDF with a state of int8 -> REDUCE_PROD -> int8 [1,1]; int16 [2,1,4] and [1,4,3]
// -> BATCH_MATMUL -> int16 [2,1,3].
ModelSpec SmallStateful();
// int8 [2,3,4] -> RESHAPE to [its first extent, the rest], a shape that SHAPE, STRIDED_SLICE and
// PACK compute -> int8 [2,12].
ModelSpec Flattening();

}  // namespace intaglio::nn::test

#endif  // INTAGLIO_TEST_NN_FORMATS_TFLITE_CRAFTED_MODELS_H_
