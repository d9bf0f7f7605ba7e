#include "intaglio/tools/inputs.h"

#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "intaglio/tools/npy.h"

namespace intaglio::tools {
namespace {

const nn::Tensor& InputOf(const nn::Graph& graph, size_t i) {
  return graph.tensors[static_cast<size_t>(graph.inputs[i])];
}

Result<GivenInput> Match(const nn::Graph& graph, const std::string& option,
                         const std::string& argument, size_t& next) {
  for (size_t split = argument.find('='); split != std::string::npos;
       split = argument.find('=', split + 1)) {
    for (size_t i = 0; i < graph.inputs.size(); ++i) {
      if (InputOf(graph, i).name == argument.substr(0, split)) {
        return GivenInput{i, argument.substr(split + 1)};
      }
    }
  }
  const size_t split = argument.find('=');
  std::error_code ignored;
  if (split != std::string::npos && !std::filesystem::exists(argument, ignored)) {
    return InvalidArgument(option + " " + argument + ": the model has no input '" +
                           argument.substr(0, split) + "'");
  }
  if (next >= graph.inputs.size()) {
    return InvalidArgument(option + " " + argument + ": the model has only " +
                           std::to_string(graph.inputs.size()) + " inputs");
  }
  return GivenInput{next++, argument};
}

// "1x3x224x224"
std::optional<nn::Shape> ShapeFrom(const std::string& text) {
  nn::Shape shape;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    int extent = 0;
    const auto [behind, error] = std::from_chars(at, end, extent);
    if (error != std::errc() || extent < 0) return std::nullopt;
    shape.push_back(extent);
    if (behind == end) return shape;
    if (*behind != 'x') return std::nullopt;
    at = behind + 1;
  }
}

Status FillFromNpy(const nn::Model& model, const GivenInput& given, bool resizable,
                   Buffers& buffers) {
  Result<NpyArray> array = ReadNpy(given.value);
  if (!array.ok()) return array.status();
  const nn::Tensor& tensor = model.input(given.index);
  const std::vector<int64_t> shape(tensor.shape.begin(), tensor.shape.end());
  if (array->type == tensor.type && array->shape == shape) {
    buffers.inputs[given.index] = std::move(array->data);
    return {};
  }
  const bool advise = resizable && array->type == tensor.type;
  return InvalidArgument(given.value + ": holds " + Describe(*array) + ", but input " +
                         std::to_string(given.index) + " '" + tensor.name + "' is " +
                         Describe(tensor) +
                         (advise ? "; --resize gives the model the shapes of its files" : ""));
}

}  // namespace

Result<std::vector<GivenInput>> MatchInputs(const nn::Graph& graph, const std::string& option,
                                            const std::vector<std::string>& arguments) {
  std::vector<GivenInput> given;
  std::vector<bool> seen(graph.inputs.size());
  size_t next = 0;
  for (const std::string& argument : arguments) {
    Result<GivenInput> one = Match(graph, option, argument, next);
    if (!one.ok()) return one.status();
    if (seen[one->index]) {
      return InvalidArgument(option + " " + argument + ": input '" +
                             InputOf(graph, one->index).name + "' is given twice");
    }
    seen[one->index] = true;
    given.push_back(std::move(*one));
  }
  return given;
}

Result<std::vector<nn::Shape>> ShapesFrom(const nn::Graph& signature,
                                          const std::vector<std::string>& arguments) {
  const Result<std::vector<GivenInput>> given = MatchInputs(signature, "--shape", arguments);
  if (!given.ok()) return given.status();
  std::vector<nn::Shape> shapes(signature.inputs.size());
  for (const GivenInput& one : *given) {
    const std::optional<nn::Shape> shape = ShapeFrom(one.value);
    if (!shape)
      return InvalidArgument("--shape " + one.value + ": not numbers such as 1x3x224x224");
    shapes[one.index] = *shape;
  }
  return shapes;
}

Result<std::vector<bool>> FillFromFiles(const nn::Model& model,
                                        const std::vector<std::string>& arguments, bool resizable,
                                        Buffers& buffers) {
  const Result<std::vector<GivenInput>> given = MatchInputs(model.graph(), "--input", arguments);
  if (!given.ok()) return given.status();
  std::vector<bool> filled(model.input_count());
  for (const GivenInput& one : *given) {
    INTAGLIO_RETURN_IF_ERROR(FillFromNpy(model, one, resizable, buffers));
    filled[one.index] = true;
  }
  return filled;
}

}  // namespace intaglio::tools
