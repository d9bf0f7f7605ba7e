// intaglio run: one inference on given inputs.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <system_error>

#include "intaglio/nn/graph/printable.h"
#include "intaglio/tools/backend.h"
#include "intaglio/tools/classify.h"
#include "intaglio/tools/commands.h"
#include "intaglio/tools/constants.h"
#include "intaglio/tools/image.h"
#include "intaglio/tools/inputs.h"
#include "intaglio/tools/model_io.h"
#include "intaglio/tools/npy.h"

namespace intaglio::tools {
namespace {

// The shapes of the given files, for the inputs that they are for.
Result<std::vector<nn::Shape>> ShapesOfFiles(const RunOptions& options) {
  const Result<nn::Graph> signature = SignatureOf(options.model);
  if (!signature.ok()) return signature.status();
  std::vector<nn::Shape> shapes(signature->inputs.size());
  const Result<std::vector<GivenInput>> inputs = MatchInputs(*signature, "--input", options.inputs);
  if (!inputs.ok()) return inputs.status();
  for (const GivenInput& given : *inputs) {
    const Result<NpyArray> array = ReadNpy(given.value);
    if (!array.ok()) return array.status();
    nn::Shape& shape = shapes[given.index];
    for (const int64_t extent : array->shape) {
      if (extent > std::numeric_limits<int>::max()) {
        return InvalidArgument(given.value + ": holds " + Describe(*array) +
                               ", which is too large");
      }
      shape.push_back(static_cast<int>(extent));
    }
  }
  return shapes;
}

// If other shapes are given, the file's own shapes need not be valid: converters write 1 for
// dimensions that they do not know.
Result<nn::Model> Load(const RunOptions& options, const nn::PrepareOptions& prepare) {
  if (!options.resize) return LoadModel(options.model, prepare);
  const Result<std::vector<nn::Shape>> shapes = ShapesOfFiles(options);
  if (!shapes.ok()) return shapes.status();
  return LoadModel(options.model, prepare, *shapes);
}

Status FillAllFromFiles(const nn::Model& model, const RunOptions& options, Buffers& buffers) {
  const Result<std::vector<bool>> filled =
      FillFromFiles(model, options.inputs, !options.resize, buffers);
  if (!filled.ok()) return filled.status();
  for (size_t i = 0; i < filled->size(); ++i) {
    if ((*filled)[i]) continue;
    return InvalidArgument("input " + std::to_string(i) + " '" + model.input(i).name + "' (" +
                           Describe(model.input(i)) + ") is not given; add --input FILE.npy");
  }
  return {};
}

// Whether the shape is [1, H, W, C] with C = 1 or 3, or [1, H, W].
bool IsPicture(const nn::Shape& shape) {
  return (shape.size() == 3 || (shape.size() == 4 && (shape[3] == 1 || shape[3] == 3))) &&
         shape[0] == 1 && shape[1] >= 1 && shape[2] >= 1;
}

// uint8 inputs take the samples as they are. int8 inputs take the samples minus 128, which is the
// same picture. float32 inputs take (sample - mean) / std of the sample's channel.
void FillFromSamples(const Image& image, const nn::Tensor& tensor, const RunOptions& options,
                     std::vector<uint8_t>& bytes) {
  for (size_t i = 0; i < image.samples.size(); ++i) {
    if (tensor.type != Type::kFloat32) {
      bytes[i] = image.samples[i] ^ (tensor.type == Type::kInt8 ? 0x80 : 0);
      continue;
    }
    const size_t channel = i % static_cast<size_t>(image.channels);
    const double mean = options.mean[options.mean.size() == 1 ? 0 : channel];
    const double std = options.std[options.std.size() == 1 ? 0 : channel];
    const auto value = static_cast<float>((image.samples[i] - mean) / std);
    std::memcpy(&bytes[i * sizeof(value)], &value, sizeof(value));
  }
}

Status CheckImageOptions(const nn::Tensor& tensor, int channels, const RunOptions& options) {
  if (tensor.type != Type::kFloat32 && options.scales_image) {
    return InvalidArgument("--mean and --std are for inputs of float32; the model's is " +
                           Describe(tensor));
  }
  for (const std::vector<double>* const values : {&options.mean, &options.std}) {
    if (values->size() == 1 || values->size() == static_cast<size_t>(channels)) continue;
    return InvalidArgument("--mean and --std take one number, or one for each of the " +
                           std::to_string(channels) + " channels");
  }
  return {};
}

Status FillFromImage(const nn::Model& model, const RunOptions& options, Buffers& buffers) {
  if (model.input_count() != 1) {
    return InvalidArgument("--image: the model has " + std::to_string(model.input_count()) +
                           " inputs, not one");
  }
  const nn::Tensor& tensor = model.input(0);
  const nn::Shape& shape = tensor.shape;
  const bool holds_samples =
      tensor.type == Type::kUInt8 || tensor.type == Type::kInt8 || tensor.type == Type::kFloat32;
  if (!holds_samples || !IsPicture(shape)) {
    return InvalidArgument("--image: the model's input is " + Describe(tensor) +
                           ", not a picture of uint8, int8 or float32; give it with --input");
  }
  const int channels = shape.size() == 4 ? shape[3] : 1;
  INTAGLIO_RETURN_IF_ERROR(CheckImageOptions(tensor, channels, options));
  const Result<Image> read = ReadImage(options.image);
  if (!read.ok()) return read.status();
  FillFromSamples(Resize(WithChannels(*read, channels), shape[2], shape[1]), tensor, options,
                  buffers.inputs[0]);
  return {};
}

// The name of output i's file: <index>_<name>.npy, with _ for all but letters, digits, dot, - and
// _.
std::string FileName(size_t index, const std::string& name) {
  std::string safe = name;
  for (char& c : safe) {
    const bool keep = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '.' || c == '_' || c == '-';
    if (!keep) c = '_';
  }
  safe.resize(std::min<size_t>(safe.size(), 200));  // file systems end at 255
  return std::to_string(index) + "_" + safe + ".npy";
}

Status WriteOutputs(const nn::Model& model, const Buffers& buffers, const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return IoError(directory + ": cannot create: " + error.message());
  for (size_t i = 0; i < model.output_count(); ++i) {
    const nn::Tensor& tensor = model.output(i);
    const std::vector<int64_t> shape(tensor.shape.begin(), tensor.shape.end());
    const std::string path = (std::filesystem::path(directory) / FileName(i, tensor.name)).string();
    INTAGLIO_RETURN_IF_ERROR(WriteNpy(path, tensor.type, shape, buffers.outputs[i]));
    std::printf("wrote    %s\n", nn::Printable(path).c_str());
  }
  return {};
}

void PrintScores(const nn::Tensor& tensor, const std::vector<uint8_t>& bytes, int count,
                 const Labels& labels) {
  for (const Score& score : TopScores(tensor, bytes, static_cast<size_t>(count))) {
    std::printf("%8.4f  %5zu", score.score, score.index);
    if (score.index < labels.size()) std::printf("  %s", labels[score.index].c_str());
    std::printf("\n");
  }
}

void PrintSummary(const nn::Model& model, const RunOptions& options,
                  std::chrono::duration<double, std::milli> time) {
  std::printf("model    %s\n", nn::Printable(options.model.path).c_str());
  for (size_t i = 0; i < model.input_count(); ++i) {
    std::printf("input    %zu '%s' %s\n", i, model.input(i).name.c_str(),
                Describe(model.input(i)).c_str());
  }
  for (size_t i = 0; i < model.output_count(); ++i) {
    std::printf("output   %zu '%s' %s\n", i, model.output(i).name.c_str(),
                Describe(model.output(i)).c_str());
  }
  if (options.backend == "cpu") {
    std::printf("time     %.3f ms on %d %s\n", time.count(), options.threads,
                options.threads == 1 ? "thread" : "threads");
  } else {
    std::printf("time     %.3f ms on %s, copies and loading included\n", time.count(),
                options.backend.c_str());
  }
}

}  // namespace

Status Run(const RunOptions& options) {
  Labels labels;
  if (!options.labels.empty()) {
    Result<Labels> read = ReadLabels(options.labels);
    if (!read.ok()) return read.status();
    labels = std::move(*read);
  }
  nn::PrepareOptions prepare;
  prepare.threads = options.threads;
  Result<std::shared_ptr<const nn::Backend>> backend = BackendOf(options.backend);
  if (!backend.ok()) return backend.status();
  prepare.backend = *backend;
  Result<nn::Model> model = Load(options, prepare);
  if (!model.ok()) return model.status();
  Buffers buffers(*model);
  INTAGLIO_RETURN_IF_ERROR(options.image.empty() ? FillAllFromFiles(*model, options, buffers)
                                                 : FillFromImage(*model, options, buffers));
  const auto start = std::chrono::steady_clock::now();
  INTAGLIO_RETURN_IF_ERROR(buffers.Run(*model));
  PrintSummary(*model, options, std::chrono::steady_clock::now() - start);
  for (size_t i = 0; i < model->output_count(); ++i) {
    if (labels.size() == 0 && !LooksLikeClassifier(*model, i)) continue;
    std::printf("output %zu, highest of %zu:\n", i,
                buffers.outputs[i].size() / SizeOf(model->output(i).type));
    PrintScores(model->output(i), buffers.outputs[i], options.top, labels);
  }
  if (options.output.empty()) return {};
  return WriteOutputs(*model, buffers, options.output);
}

}  // namespace intaglio::tools
