#include "intaglio/tools/constants.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include "intaglio/nn/formats/load.h"
#include "intaglio/tools/model_io.h"
#include "intaglio/tools/npy.h"

namespace intaglio::tools {
namespace {

const nn::Tensor& InputOf(const nn::Graph& graph, size_t i) {
  return graph.tensors[static_cast<size_t>(graph.inputs[i])];
}

Status Wrong(const std::string& argument, const std::string& what) {
  return InvalidArgument("--constant " + argument + ": " + what);
}

std::vector<std::string> SplitAtCommas(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t start = 0; !text.empty() && start != std::string::npos;) {
    const size_t comma = text.find(',', start);
    parts.push_back(text.substr(start, comma == std::string::npos ? comma : comma - start));
    start = comma == std::string::npos ? comma : comma + 1;
  }
  return parts;
}

template <class T>
std::optional<T> NumberFrom(const std::string& text) {
  T value = 0;
  const char* const end = text.data() + text.size();
  const auto [behind, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || behind != end || text.empty()) return std::nullopt;
  return value;
}

template <class T>
bool Append(const std::string& text, std::vector<uint8_t>& bytes) {
  const std::optional<T> value = NumberFrom<T>(text);
  if (!value) return false;
  const size_t before = bytes.size();
  bytes.resize(before + sizeof(T));
  std::memcpy(&bytes[before], &*value, sizeof(T));
  return true;
}

bool AppendBool(const std::string& text, std::vector<uint8_t>& bytes) {
  const bool is_true = text == "1" || text == "true";
  if (!is_true && text != "0" && text != "false") return false;
  bytes.push_back(is_true ? 1 : 0);
  return true;
}

bool Append(Type type, const std::string& text, std::vector<uint8_t>& bytes) {
  switch (type) {
    case Type::kInt8:
      return Append<int8_t>(text, bytes);
    case Type::kUInt8:
      return Append<uint8_t>(text, bytes);
    case Type::kInt16:
      return Append<int16_t>(text, bytes);
    case Type::kUInt16:
      return Append<uint16_t>(text, bytes);
    case Type::kInt32:
      return Append<int32_t>(text, bytes);
    case Type::kInt64:
      return Append<int64_t>(text, bytes);
    case Type::kFloat32:
      return Append<float>(text, bytes);
    case Type::kBool:
      return AppendBool(text, bytes);
  }
  return false;
}

// The elements, or nothing if the text is no list of numbers of this type.
std::optional<std::vector<uint8_t>> ListFrom(Type type, const std::string& text) {
  std::vector<uint8_t> bytes;
  for (const std::string& part : SplitAtCommas(text)) {
    if (!Append(type, part, bytes)) return std::nullopt;
  }
  return bytes;
}

// The shape of a list for this input. Whether it fits is found when the file is read.
nn::Shape ShapeOfList(const nn::Tensor& input, size_t count) {
  const Result<int64_t> wanted = nn::CountElements(input.shape);
  const bool fills = wanted.ok() && std::cmp_equal(*wanted, count);
  if (fills && input.shape.size() != 1) return input.shape;
  return {static_cast<int>(count)};
}

Result<nn::InputConstant> FromFile(const nn::Tensor& input, const std::string& argument,
                                   const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return Wrong(argument,
                 std::string("neither ") + NameOf(input.type) + " numbers such as 0,1 nor a file");
  }
  Result<NpyArray> array = ReadNpy(path);
  if (!array.ok()) return array.status();
  nn::Shape shape;
  for (const int64_t extent : array->shape) {
    if (!std::in_range<int>(extent)) {
      return InvalidArgument(path + ": holds " + Describe(*array) + ", which is too large");
    }
    shape.push_back(static_cast<int>(extent));
  }
  return nn::InputConstant{input.name, array->type, std::move(shape), std::move(array->data)};
}

Result<nn::InputConstant> ConstantFrom(const nn::Graph& signature, const std::string& argument) {
  for (size_t split = argument.find('='); split != std::string::npos;
       split = argument.find('=', split + 1)) {
    for (size_t i = 0; i < signature.inputs.size(); ++i) {
      const nn::Tensor& input = InputOf(signature, i);
      if (input.name != argument.substr(0, split)) continue;
      const std::string value = argument.substr(split + 1);
      std::optional<std::vector<uint8_t>> list = ListFrom(input.type, value);
      if (!list) return FromFile(input, argument, value);
      nn::Shape shape = ShapeOfList(input, list->size() / SizeOf(input.type));
      return nn::InputConstant{input.name, input.type, std::move(shape), std::move(*list)};
    }
  }
  const size_t split = argument.find('=');
  if (split == std::string::npos) return Wrong(argument, "not NAME=VALUE");
  return Wrong(argument, "the model has no input '" + argument.substr(0, split) + "'");
}

Result<nn::Graph> LoadedSignature(const ModelSource& source) {
  nn::LoadOptions options;
  options.float64_as_float32 = source.float64_as_float32;
  return nn::LoadSignature(source.path, options);
}

}  // namespace

Result<std::vector<nn::InputConstant>> ConstantsFrom(const nn::Graph& signature,
                                                     const std::vector<std::string>& arguments) {
  std::vector<nn::InputConstant> constants;
  for (const std::string& argument : arguments) {
    Result<nn::InputConstant> one = ConstantFrom(signature, argument);
    if (!one.ok()) return one.status();
    constants.push_back(std::move(*one));
  }
  return constants;
}

Result<std::vector<nn::InputConstant>> ConstantsOf(const ModelSource& source) {
  if (source.constants.empty()) return std::vector<nn::InputConstant>();
  const Result<nn::Graph> signature = LoadedSignature(source);
  if (!signature.ok()) return signature.status();
  return ConstantsFrom(*signature, source.constants);
}

Result<nn::Graph> SignatureOf(const ModelSource& source) {
  Result<nn::Graph> signature = LoadedSignature(source);
  if (!signature.ok()) return signature;
  const Result<std::vector<nn::InputConstant>> constants =
      ConstantsFrom(*signature, source.constants);
  if (!constants.ok()) return constants.status();
  std::erase_if(signature->inputs, [&](nn::TensorId id) {
    const std::string& name = signature->tensors[static_cast<size_t>(id)].name;
    return std::any_of(constants->begin(), constants->end(),
                       [&](const nn::InputConstant& one) { return one.name == name; });
  });
  return signature;
}

}  // namespace intaglio::tools
