#include "intaglio/nn/formats/tflite/tensors.h"

#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include "intaglio/nn/formats/tflite/widen_small_constants.h"
#include "intaglio/nn/ops/support/quantization.h"

namespace intaglio::nn {
namespace {

constexpr size_t kMaxRank = 8;  // TFLite's kernels know no more

std::optional<Type> TypeFrom(tflite::TensorType type) {
  switch (type) {
    case tflite::TensorType::INT8:
      return Type::kInt8;
    case tflite::TensorType::UINT8:
      return Type::kUInt8;
    case tflite::TensorType::INT16:
      return Type::kInt16;
    case tflite::TensorType::UINT16:
      return Type::kUInt16;
    case tflite::TensorType::INT32:
      return Type::kInt32;
    case tflite::TensorType::INT64:
      return Type::kInt64;
    case tflite::TensorType::FLOAT32:
      return Type::kFloat32;
    case tflite::TensorType::BOOL:
      return Type::kBool;
    default:
      break;
  }
  const NarrowType* const narrow = FindNarrow(type);
  return narrow == nullptr ? std::nullopt : std::optional(narrow->widened);
}

std::string NameOf(tflite::TensorType type) {
  const char* const name = tflite::EnumNameTensorType(type);
  return *name != '\0' ? name : "number " + std::to_string(static_cast<int>(type));
}

Status ReadShape(const tflite::Tensor& from, Budget& budget, Tensor& tensor) {
  const size_t rank = Length(from.shape());
  if (rank > kMaxRank) {
    return InvalidArgument("has " + std::to_string(rank) + " dimensions, more than " +
                           std::to_string(kMaxRank));
  }
  INTAGLIO_RETURN_IF_ERROR(budget.Charge(rank, sizeof(int)));
  for (size_t i = 0; i < rank; ++i) {
    tensor.shape.push_back(from.shape()->Get(static_cast<uint32_t>(i)));
  }
  const Result<size_t> bytes = CountBytes(tensor.shape, tensor.type);
  return bytes.ok() ? Status() : bytes.status();
}

// Biases carry per-channel scales that no integer kernel reads, and converters have written axes
// into them that do not exist there: a vector's only axis is 0.
int QuantizedAxis(const tflite::QuantizationParameters& from, const Tensor& tensor) {
  if (tensor.type == Type::kInt32 && tensor.shape.size() == 1) return 0;
  return from.quantized_dimension();
}

Status CheckAxis(size_t scales, int axis, const Shape& shape) {
  if (axis < 0 || static_cast<size_t>(axis) >= shape.size()) {
    return InvalidArgument("quantized dimension " + std::to_string(axis) + " is not one of shape " +
                           ToString(shape));
  }
  const int length = shape[static_cast<size_t>(axis)];
  if (std::cmp_not_equal(length, scales)) {
    return InvalidArgument("has " + std::to_string(scales) + " scales, but dimension " +
                           std::to_string(axis) + " has length " + std::to_string(length));
  }
  return {};
}

// Element i. The FlatBuffers verifier makes sure of the alignment of a vector's length, which is 4
// bytes, not of elements of 8.
int64_t ZeroPointAt(const flatbuffers::Vector<int64_t>& zero_points, uint32_t i) {
  int64_t zero_point = 0;
  std::memcpy(&zero_point, zero_points.Data() + i * sizeof(zero_point), sizeof(zero_point));
  return zero_point;
}

Status ReadQuantization(const tflite::Tensor& from, Budget& budget, Tensor& tensor) {
  const tflite::QuantizationParameters* const parameters = from.quantization();
  if (parameters == nullptr) return {};
  if (parameters->details_type() != tflite::QuantizationDetails::NONE) {
    return Unsupported("has a quantization scheme other than affine");
  }
  const auto count = static_cast<uint32_t>(Length(parameters->scale()));
  if (count == 0 || tensor.type == Type::kFloat32 || tensor.type == Type::kBool) return {};
  const size_t zero_points = Length(parameters->zero_point());
  if (zero_points != count && zero_points != 1) {
    return InvalidArgument("has " + std::to_string(count) + " scales, but " +
                           std::to_string(zero_points) + " zero points");
  }
  INTAGLIO_RETURN_IF_ERROR(budget.Charge(count, sizeof(float) + sizeof(int32_t)));
  Quantization& to = tensor.quantization;
  if (count > 1) {
    to.axis = QuantizedAxis(*parameters, tensor);
    INTAGLIO_RETURN_IF_ERROR(CheckAxis(count, to.axis, tensor.shape));
  }
  const Range range = RangeOf(tensor.type);  // wider integers keep 32-bit zero points
  for (uint32_t i = 0; i < count; ++i) {
    const float scale = parameters->scale()->Get(i);
    const int64_t zero_point = ZeroPointAt(*parameters->zero_point(), zero_points == 1 ? 0 : i);
    if (!std::isfinite(scale) || scale < 0) {
      return InvalidArgument("scale " + std::to_string(i) + " is " + std::to_string(scale) +
                             "; scales are finite and not negative");
    }
    if (zero_point < range.min || zero_point > range.max) {
      return InvalidArgument("zero point " + std::to_string(zero_point) + " is not in " +
                             NameOf(tensor.type));
    }
    to.scales.push_back(scale);
    to.zero_points.push_back(static_cast<int32_t>(zero_point));
  }
  return {};
}

// The data of a tensor's buffer: inside the FlatBuffer, or, in files over 2 GB, behind it.
Result<std::span<const uint8_t>> FindData(const TfliteFile& file, uint32_t buffer_index) {
  const size_t buffers = Length(file.model->buffers());
  if (buffer_index == 0) return std::span<const uint8_t>();
  if (buffer_index >= buffers) {
    return InvalidArgument("buffer " + std::to_string(buffer_index) +
                           " does not exist (there are " + std::to_string(buffers) + ")");
  }
  const tflite::Buffer& buffer = *file.model->buffers()->Get(buffer_index);
  if (buffer.offset() > 1) {
    if (buffer.offset() > file.bytes.size() ||
        buffer.size() > file.bytes.size() - buffer.offset()) {
      return InvalidArgument("buffer " + std::to_string(buffer_index) + " (offset " +
                             std::to_string(buffer.offset()) + ", size " +
                             std::to_string(buffer.size()) + ") is not inside the file");
    }
    return file.bytes.subspan(static_cast<size_t>(buffer.offset()),
                              static_cast<size_t>(buffer.size()));
  }
  if (Length(buffer.data()) == 0) return std::span<const uint8_t>();
  return std::span<const uint8_t>(buffer.data()->data(), buffer.data()->size());
}

Status ReadData(const TfliteFile& file, const tflite::Tensor& from, Budget& budget,
                Tensor& tensor) {
  if (from.external_buffer() != 0) return Unsupported("its data is in another file");
  const Result<std::span<const uint8_t>> data = FindData(file, from.buffer());
  if (!data.ok()) return data.status();
  const NarrowType* const narrow = FindNarrow(from.type());
  if (data->empty() && narrow != nullptr) {
    return Unsupported(std::string(narrow->name) + " is supported for constants only");
  }
  if (data->empty()) return {};
  if (tensor.variable) return Unsupported("is a variable with data of its own");
  const Result<int64_t> elements = CountElements(tensor.shape);
  if (!elements.ok()) return elements.status();
  const auto count = static_cast<size_t>(*elements);
  const size_t needed =
      narrow != nullptr ? CountBytes(*narrow, count) : count * SizeOf(tensor.type);
  if (data->size() != needed) {
    return InvalidArgument("its buffer holds " + std::to_string(data->size()) + " bytes, " +
                           (narrow != nullptr ? narrow->name : intaglio::NameOf(tensor.type)) +
                           " " + ToString(tensor.shape) + " needs " + std::to_string(needed));
  }
  if (narrow != nullptr) return Widen(*narrow, *data, budget, tensor);
  tensor.constant = true;
  tensor.data = data->data();
  tensor.data_bytes = data->size();
  tensor.owner = file.owner;
  return {};
}

Status ReadTensor(const TfliteFile& file, const tflite::Tensor& from, Budget& budget,
                  Tensor& tensor) {
  if (from.type() == tflite::TensorType::RESOURCE) return {};
  const std::optional<Type> type = TypeFrom(from.type());
  if (!type) return Unsupported("type " + NameOf(from.type()) + " is not supported");
  tensor.type = *type;
  tensor.variable = from.is_variable();
  if (from.sparsity() != nullptr) return Unsupported("sparse tensors are not supported");
  INTAGLIO_RETURN_IF_ERROR(ReadShape(from, budget, tensor));
  INTAGLIO_RETURN_IF_ERROR(ReadQuantization(from, budget, tensor));
  return ReadData(file, from, budget, tensor);
}

void Mark(const flatbuffers::Vector<int32_t>* ids, std::vector<bool>& marks) {
  if (ids == nullptr) return;
  for (const int32_t id : *ids) {
    if (id >= 0 && static_cast<size_t>(id) < marks.size()) marks[static_cast<size_t>(id)] = true;
  }
}

// A shape of no dimensions is a constant without elements, hence without data.
void MarkEmptyConstants(const tflite::SubGraph& subgraph, Graph& graph) {
  std::vector<bool> written(graph.tensors.size());
  Mark(subgraph.inputs(), written);
  for (uint32_t i = 0; i < Length(subgraph.operators()); ++i) {
    Mark(subgraph.operators()->Get(i)->outputs(), written);
  }
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    Tensor& tensor = graph.tensors[i];
    const Result<int64_t> elements = CountElements(tensor.shape);
    if (tensor.variable || written[i]) continue;
    if (elements.ok() && *elements == 0) tensor.constant = true;
  }
}

Status MakeTensors(const tflite::SubGraph& subgraph, Budget& budget, Graph& graph) {
  const size_t count = Length(subgraph.tensors());
  INTAGLIO_RETURN_IF_ERROR(budget.Charge(count, sizeof(Tensor)));
  graph.tensors.resize(count);
  return {};
}

Status ReadNamed(const TfliteFile& file, const tflite::SubGraph& subgraph, size_t i, Budget& budget,
                 Graph& graph) {
  const tflite::Tensor& from = *subgraph.tensors()->Get(static_cast<uint32_t>(i));
  INTAGLIO_RETURN_IF_ERROR(ReadName(from.name(), budget, graph.tensors[i].name));
  return ReadTensor(file, from, budget, graph.tensors[i]);
}

}  // namespace

Status ReadTensors(const TfliteFile& file, const tflite::SubGraph& subgraph, Budget& budget,
                   Graph& graph) {
  INTAGLIO_RETURN_IF_ERROR(MakeTensors(subgraph, budget, graph));
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    const Status status = ReadNamed(file, subgraph, i, budget, graph);
    if (status.ok()) continue;
    return {status.code(), "tensor #" + std::to_string(i) + " '" + graph.tensors[i].name +
                               "': " + status.message()};
  }
  MarkEmptyConstants(subgraph, graph);
  return {};
}

Result<std::vector<Status>> SurveyTensors(const TfliteFile& file, const tflite::SubGraph& subgraph,
                                          Budget& budget, Graph& graph) {
  INTAGLIO_RETURN_IF_ERROR(MakeTensors(subgraph, budget, graph));
  std::vector<Status> statuses;
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    statuses.push_back(ReadNamed(file, subgraph, i, budget, graph));
  }
  MarkEmptyConstants(subgraph, graph);
  return statuses;
}

}  // namespace intaglio::nn
