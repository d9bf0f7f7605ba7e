#include "intaglio/test/fuzz/tflite_mutator.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <utility>

#include "intaglio/test/fuzz/mutable_tflite_generated.h"
#include "intaglio/test/fuzz/random_values.h"

namespace intaglio::fuzz {
namespace {

using Tensors = std::vector<std::unique_ptr<tflite::TensorT>>;
using Ints = std::vector<int32_t>;

// Changes one element, or the number of elements.
void MutateInts(Ints& values, const std::function<int32_t()>& make, Random& random) {
  const size_t choice = Below(8, random);
  if (values.empty() || choice == 0) {
    values.insert(values.begin() + static_cast<ptrdiff_t>(Below(values.size() + 1, random)),
                  make());
  } else if (choice == 1) {
    values.erase(values.begin() + static_cast<ptrdiff_t>(Below(values.size(), random)));
  } else if (choice == 2) {
    std::swap(OneOf(values, random), OneOf(values, random));
  } else {
    OneOf(values, random) = make();
  }
}

void MutateQuantization(tflite::TensorT& tensor, Random& random) {
  if (tensor.quantization == nullptr) {
    tensor.quantization = std::make_unique<tflite::QuantizationParametersT>();
  }
  tflite::QuantizationParametersT& q = *tensor.quantization;
  switch (Below(6, random)) {
    case 0:
      q.scale.assign(Below(9, random), InterestingFloat(random));
      q.zero_point.assign(q.scale.size(), 0);
      break;
    case 1:
      q.quantized_dimension = InterestingInt(random);
      break;
    case 2:
      if (!q.zero_point.empty()) OneOf(q.zero_point, random) = InterestingInt(random);
      break;
    case 3:
      if (!q.scale.empty()) {
        float& scale = OneOf(q.scale, random);
        scale = std::nextafter(scale, 1e30f);
      }
      break;
    default:
      if (!q.scale.empty()) OneOf(q.scale, random) = InterestingFloat(random);
  }
}

void MutateTensor(tflite::TensorT& tensor, Random& random) {
  static constexpr tflite::TensorType kTypes[] = {
      tflite::TensorType::FLOAT32, tflite::TensorType::INT8,    tflite::TensorType::UINT8,
      tflite::TensorType::INT16,   tflite::TensorType::INT32,   tflite::TensorType::INT64,
      tflite::TensorType::BOOL,    tflite::TensorType::FLOAT16, tflite::TensorType::INT4};
  switch (Below(8, random)) {
    case 0:
      tensor.type = OneIn(8, random) ? static_cast<tflite::TensorType>(Below(24, random))
                                     : OneOf(kTypes, random);
      break;
    case 1:
      tensor.is_variable = !tensor.is_variable;
      break;
    case 2:
    case 3:
    case 4:
      MutateQuantization(tensor, random);
      break;
    default:
      MutateInts(
          tensor.shape, [&] { return InterestingInt(random); }, random);
  }
}

// Elements of constants that are shapes, axes or indices are numbers of 32 bits.
void MutateConstant(std::vector<uint8_t>& data, Random& random) {
  switch (Below(6, random)) {
    case 0:
      data.resize(Below(data.size() + 17, random));
      break;
    case 1:
      if (!data.empty()) OneOf(data, random) = static_cast<uint8_t>(random());
      break;
    default: {
      if (data.size() < sizeof(int32_t)) break;
      std::byte* const at = reinterpret_cast<std::byte*>(data.data()) +
                            Below(data.size() / sizeof(int32_t), random) * sizeof(int32_t);
      const int32_t integer = InterestingInt(random);
      const float real = InterestingFloat(random);
      std::memcpy(at, OneIn(4, random) ? static_cast<const void*>(&real) : &integer,
                  sizeof(int32_t));
    }
  }
}

int32_t AnyTensor(const Tensors& tensors, Random& random) {
  if (OneIn(16, random)) return -1;
  if (OneIn(64, random)) return InterestingInt(random);
  return tensors.empty() ? 0 : static_cast<int32_t>(Below(tensors.size(), random));
}

void MutateOperator(tflite::ModelT& model, tflite::SubGraphT& graph, Random& random) {
  if (graph.operators.empty()) return;
  const auto tensor = [&] { return AnyTensor(graph.tensors, random); };
  tflite::OperatorT& op = *OneOf(graph.operators, random);
  switch (Below(8, random)) {
    case 0:
      op.opcode_index = static_cast<uint32_t>(Below(model.operator_codes.size() + 1, random));
      break;
    case 1: {
      auto again = std::make_unique<tflite::OperatorT>(op);
      graph.operators.insert(
          graph.operators.begin() + static_cast<ptrdiff_t>(Below(graph.operators.size(), random)),
          std::move(again));
      break;
    }
    case 2:
      graph.operators.erase(graph.operators.begin() +
                            static_cast<ptrdiff_t>(Below(graph.operators.size(), random)));
      break;
    case 3:
      MutateInts(op.outputs, tensor, random);
      break;
    case 4:
      std::swap(OneOf(graph.operators, random), OneOf(graph.operators, random));
      break;
    default:
      MutateInts(op.inputs, tensor, random);
  }
}

void MutateCode(tflite::ModelT& model, Random& random) {
  if (model.operator_codes.empty()) return;
  tflite::OperatorCodeT& code = *OneOf(model.operator_codes, random);
  if (OneIn(4, random)) {
    code.version = InterestingInt(random);
    return;
  }
  code.builtin_code = static_cast<tflite::BuiltinOperator>(Below(160, random));
  code.deprecated_builtin_code =
      static_cast<int8_t>(std::min(static_cast<int>(code.builtin_code), 127));
}

void MutateOnce(tflite::ModelT& model, Random& random) {
  if (model.subgraphs.empty() || model.subgraphs[0] == nullptr) return;
  tflite::SubGraphT& graph = *OneOf(model.subgraphs, random);
  const auto tensor = [&] { return AnyTensor(graph.tensors, random); };
  switch (Below(10, random)) {
    case 0:
      MutateInts(OneIn(2, random) ? graph.inputs : graph.outputs, tensor, random);
      break;
    case 1:
      MutateCode(model, random);
      break;
    case 2:
    case 3:
      MutateOperator(model, graph, random);
      break;
    case 4:
    case 5:
      if (!model.buffers.empty()) MutateConstant(OneOf(model.buffers, random)->data, random);
      break;
    case 6: {
      if (graph.tensors.empty()) break;
      tflite::TensorT& any = *OneOf(graph.tensors, random);
      any.buffer = static_cast<uint32_t>(Below(model.buffers.size() + 1, random));
      break;
    }
    default:
      if (!graph.tensors.empty()) MutateTensor(*OneOf(graph.tensors, random), random);
  }
}

// Changes one scalar of an operator's options in the finished file. This works for every kind of
// options.
void MutateOptions(uint8_t* table, Random& random) {
  const auto* const fields = reinterpret_cast<const flatbuffers::Table*>(table)->GetVTable();
  const auto entry = [&](size_t i) {
    return flatbuffers::ReadScalar<flatbuffers::voffset_t>(fields + i * sizeof(uint16_t));
  };
  const size_t count = entry(0) / sizeof(uint16_t) - 2;
  if (count == 0) return;
  const size_t begin = entry(2 + Below(count, random));
  if (begin == 0) return;
  size_t end = entry(1);  // the end of the table
  for (size_t i = 0; i < count; ++i) {
    if (entry(2 + i) > begin) end = std::min<size_t>(end, entry(2 + i));
  }
  const int32_t integer = InterestingInt(random);
  const float real = InterestingFloat(random);
  const bool is_real = OneIn(4, random) && end - begin >= sizeof(float);
  std::memcpy(table + begin, is_real ? static_cast<const void*>(&real) : &integer,
              std::min(end - begin, sizeof(int32_t)));
}

void MutateSomeOptions(std::vector<uint8_t>& file, Random& random) {
  const tflite::Model* const model = tflite::GetModel(file.data());
  if (model->subgraphs() == nullptr) return;
  for (const tflite::SubGraph* graph : *model->subgraphs()) {
    if (graph->operators() == nullptr) continue;
    for (const tflite::Operator* op : *graph->operators()) {
      const auto* const options = static_cast<const uint8_t*>(op->builtin_options());
      if (options == nullptr || !OneIn(4, random)) continue;
      MutateOptions(file.data() + (options - file.data()), random);
    }
  }
}

// FlatBuffers' verifier does not check where a vector's elements lie, and UnPack reads them as they
// are. Zero points are the only elements of the schema that are larger than a vector's length.
bool ZeroPointsAreAligned(const tflite::Model& model) {
  if (model.subgraphs() == nullptr) return true;
  for (const tflite::SubGraph* const graph : *model.subgraphs()) {
    if (graph->tensors() == nullptr) continue;
    for (const tflite::Tensor* const tensor : *graph->tensors()) {
      const auto* const parameters = tensor->quantization();
      if (parameters == nullptr || parameters->zero_point() == nullptr) continue;
      if (reinterpret_cast<uintptr_t>(parameters->zero_point()->Data()) % sizeof(int64_t) != 0) {
        return false;
      }
    }
  }
  return true;
}

std::unique_ptr<tflite::ModelT> Unpack(std::span<const uint8_t> bytes) {
  flatbuffers::Verifier verifier(bytes.data(), bytes.size());
  if (!tflite::VerifyModelBuffer(verifier)) return nullptr;
  if (!ZeroPointsAreAligned(*tflite::GetModel(bytes.data()))) return nullptr;
  std::unique_ptr<tflite::ModelT> model(tflite::GetModel(bytes.data())->UnPack());
  // A file may name the kind of options that it does not have.
  for (const auto& graph : model->subgraphs) {
    for (const auto& op : graph->operators) {
      if (op->builtin_options.value == nullptr) op->builtin_options.Reset();
    }
  }
  return model;
}

std::vector<uint8_t> Pack(const tflite::ModelT& model) {
  flatbuffers::FlatBufferBuilder builder;
  builder.ForceDefaults(true);  // fields that are left out could not be mutated
  tflite::FinishModelBuffer(builder, tflite::Model::Pack(builder, &model));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

// Appends one vector of pointers to another.
template <class T>
void MoveInto(std::vector<std::unique_ptr<T>>& to, std::vector<std::unique_ptr<T>>& from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

// Ids are of any size in a file that has been mutated. The largest stay what they are.
void Shift(Ints& ids, int32_t by) {
  for (int32_t& id : ids) {
    if (id >= 0 && id <= std::numeric_limits<int32_t>::max() - by) id += by;
  }
}

// Finds a tensor of `graph` before `end` that has the type and, if possible, the shape of `like`.
int32_t Alike(const tflite::SubGraphT& graph, size_t end, const tflite::TensorT& like) {
  int32_t found = -1;
  for (size_t i = 0; i < end; ++i) {
    const tflite::TensorT& tensor = *graph.tensors[i];
    if (tensor.type != like.type) continue;
    found = static_cast<int32_t>(i);
    if (tensor.shape == like.shape) break;
  }
  return found;
}

}  // namespace

std::vector<uint8_t> MutateTflite(std::span<const uint8_t> bytes, uint32_t seed) {
  Random random(seed);
  const std::unique_ptr<tflite::ModelT> model = Unpack(bytes);
  if (model == nullptr) return {};
  const bool only_options = OneIn(4, random);
  if (!only_options) {
    for (size_t i = Below(4, random) + 1; i > 0; --i) MutateOnce(*model, random);
  }
  std::vector<uint8_t> file = Pack(*model);
  if (only_options || OneIn(8, random)) MutateSomeOptions(file, random);
  return file;
}

std::vector<uint8_t> ChainTflite(std::span<const uint8_t> first, std::span<const uint8_t> second,
                                 uint32_t seed) {
  Random random(seed);
  const std::unique_ptr<tflite::ModelT> to = Unpack(first);
  const std::unique_ptr<tflite::ModelT> from = Unpack(second);
  if (to == nullptr || from == nullptr || to->subgraphs.empty() || from->subgraphs.empty())
    return {};
  tflite::SubGraphT& graph = *to->subgraphs[0];
  tflite::SubGraphT& behind = *from->subgraphs[0];
  const size_t tensors = graph.tensors.size();
  for (const auto& tensor : behind.tensors) {
    if (tensor->buffer != 0) tensor->buffer += static_cast<uint32_t>(to->buffers.size());
  }
  for (const auto& op : behind.operators) {
    op->opcode_index += static_cast<uint32_t>(to->operator_codes.size());
    Shift(op->inputs, static_cast<int32_t>(tensors));
    Shift(op->outputs, static_cast<int32_t>(tensors));
  }
  Shift(behind.outputs, static_cast<int32_t>(tensors));
  for (const int32_t input : behind.inputs) {
    if (input < 0 || static_cast<size_t>(input) >= behind.tensors.size()) return {};
    const int32_t alike = Alike(graph, tensors, *behind.tensors[static_cast<size_t>(input)]);
    const int32_t own = input + static_cast<int32_t>(tensors);
    if (alike < 0) graph.inputs.push_back(own);
    for (const auto& op : behind.operators) {
      if (alike >= 0) std::replace(op->inputs.begin(), op->inputs.end(), own, alike);
    }
  }
  MoveInto(graph.tensors, behind.tensors);
  MoveInto(graph.operators, behind.operators);
  MoveInto(to->operator_codes, from->operator_codes);
  MoveInto(to->buffers, from->buffers);
  if (OneIn(2, random)) graph.outputs.clear();
  graph.outputs.insert(graph.outputs.end(), behind.outputs.begin(), behind.outputs.end());
  return Pack(*to);
}

}  // namespace intaglio::fuzz
