// intaglio convert: a model's file in another format.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/load.h"
#include "intaglio/nn/formats/save.h"
#include "intaglio/nn/graph/printable.h"
#include "intaglio/nn/passes/expect_finite.h"
#include "intaglio/tools/commands.h"
#include "intaglio/tools/input_maker.h"
#include "intaglio/tools/inputs.h"
#include "intaglio/tools/model_io.h"
#include "intaglio/tools/new_model.h"

namespace intaglio::tools {
namespace {

constexpr int kComparedRuns = 3;  // a state first has an effect in the second run

// How the elements of an output differ, over all runs.
struct Difference {
  size_t count = 0;
  size_t elements = 0;
  double greatest = 0;  // in the numbers of the output
};

// NaN equals itself.
void Add(const nn::Tensor& tensor, const std::vector<uint8_t>& a, const std::vector<uint8_t>& b,
         Difference& difference) {
  nn::Tensor plain = tensor;
  plain.quantization = {};
  for (size_t i = 0; i * SizeOf(tensor.type) < a.size(); ++i) {
    ++difference.elements;
    const double x = RealValue(plain, a, i);
    const double y = RealValue(plain, b, i);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    ++difference.count;
    const double distance = std::isnan(x - y) ? HUGE_VAL : std::fabs(x - y);
    difference.greatest = std::fmax(difference.greatest, distance);
  }
}

// Runs both on the same inputs.
Result<std::vector<Difference>> Compare(nn::Model& model, nn::Model& converted,
                                        const std::vector<std::string>& given) {
  Buffers buffers(model);
  Buffers other(converted);
  if (other.inputs.size() != buffers.inputs.size() ||
      other.outputs.size() != buffers.outputs.size()) {
    return Unsupported("has another number of inputs or outputs");
  }
  const Result<std::vector<bool>> filled = FillFromFiles(model, given, false, buffers);
  if (!filled.ok()) return filled.status();
  InputMaker maker(model, *filled);
  std::vector<Difference> differences(buffers.outputs.size());
  for (int run = 0; run < kComparedRuns; ++run) {
    INTAGLIO_RETURN_IF_ERROR(maker.Run(static_cast<uint64_t>(run), model, buffers));
    other.inputs = buffers.inputs;
    INTAGLIO_RETURN_IF_ERROR(other.Run(converted));
    for (size_t i = 0; i < differences.size(); ++i) {
      if (other.outputs[i].size() != buffers.outputs[i].size()) {
        return Unsupported("output " + std::to_string(i) + " has another size");
      }
      Add(model.output(i), other.outputs[i], buffers.outputs[i], differences[i]);
    }
  }
  return differences;
}

std::string DescribeDifference(const nn::Tensor& tensor, const Difference& difference) {
  if (difference.count == 0) return "the same";
  char text[128];
  std::snprintf(text, sizeof(text), "differs in %zu of %zu elements, by up to %.3g",
                difference.count, difference.elements, difference.greatest);
  if (!tensor.quantization.quantized()) return text;
  return std::string(text) + (difference.greatest == 1 ? " step" : " steps");
}

// Prints how the outputs of a file differ from those of its model.
Status Verify(const ConvertOptions& options, nn::Graph graph, nn::Graph read_back) {
  nn::PrepareOptions prepare;
  prepare.limits = options.model.limits;
  Result<nn::Model> model = nn::Model::Prepare(std::move(graph), prepare);
  if (!model.ok()) return model.status();
  const auto wrap = [&](const Status& status) -> Status {
    return {status.code(), options.output + " as it is read back: " + status.message() +
                               " (nothing was written; --no-verify writes without)"};
  };
  Result<nn::Model> converted = nn::Model::Prepare(std::move(read_back), prepare);
  if (!converted.ok()) return wrap(converted.status());
  const Result<std::vector<Difference>> differences = Compare(*model, *converted, options.inputs);
  if (!differences.ok()) return wrap(differences.status());
  for (size_t i = 0; i < differences->size(); ++i) {
    const nn::Tensor& tensor = model->output(i);
    std::printf("output   %zu '%s' %s: %s in %d runs\n", i, nn::ShortName(tensor.name).c_str(),
                Describe(tensor).c_str(), DescribeDifference(tensor, (*differences)[i]).c_str(),
                kComparedRuns);
  }
  return {};
}

}  // namespace

Status Convert(const ConvertOptions& options) {
  const Result<nn::Format> format = nn::FormatByName(options.output);
  if (!format.ok()) return format.status();
  Result<nn::LoadOptions> load = LoadOptionsOf(options.model);
  if (!load.ok()) return load.status();
  nn::SaveOptions save = {.custom_operators = load->custom_operators,
                          .constants_apart = options.constants_apart};
  load->signatures = &save.signatures;
  Result<nn::Graph> graph = nn::LoadGraph(options.model.path, *load);
  if (!graph.ok()) return graph.status();
  nn::Graph written = *graph;
  if (options.finite) {
    for (nn::Layer& layer : written.layers) nn::ExpectFinite(layer.op);
  }
  const Result<NewModel> file = NewModel::Make(written, options.output, *format, save);
  if (!file.ok()) return file.status();
  Result<nn::Graph> read_back =
      file->ReadBack({.limits = load->limits, .custom_operators = load->custom_operators});
  if (!read_back.ok()) return read_back.status();
  const size_t layers = read_back->layers.size();
  if (options.verify) {
    INTAGLIO_RETURN_IF_ERROR(Verify(options, std::move(*graph), std::move(*read_back)));
  }
  INTAGLIO_RETURN_IF_ERROR(file->Write());
  std::printf("wrote    %s: %zu layers, %s\n", nn::Printable(options.output).c_str(), layers,
              FormatBytes(file->bytes()).c_str());
  return {};
}

}  // namespace intaglio::tools
