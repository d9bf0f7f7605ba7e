#include "intaglio/tools/samples.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "intaglio/nn/graph/printable.h"
#include "intaglio/tools/image.h"
#include "intaglio/tools/inputs.h"
#include "intaglio/tools/model_io.h"

namespace intaglio::tools {
namespace {

bool IsArray(const std::string& path) { return path.ends_with(".npy"); }

bool IsSample(const std::string& path) {
  return IsArray(path) || path.ends_with(".bmp") || path.ends_with(".pgm") ||
         path.ends_with(".ppm");
}

Result<std::vector<std::string>> FilesOf(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::exists(path, error)) return IoError(path + ": there is no such file or folder");
  if (!fs::is_directory(path, error)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  fs::directory_iterator entry(path, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (IsSample(entry->path().string())) files.push_back(entry->path().string());
  }
  if (error) return IoError(path + ": " + error.message());
  if (files.empty()) return InvalidArgument(path + ": no .npy, .bmp, .pgm or .ppm file in it");
  std::sort(files.begin(), files.end());
  return files;
}

Result<NpyArray> ReadImageFor(const nn::Tensor& tensor, const std::string& path) {
  if (!IsSample(path)) {
    return InvalidArgument(path + ": its name ends in none of .npy, .bmp, .pgm and .ppm");
  }
  const bool fits = tensor.shape.size() == 4 && tensor.shape[0] == 1 &&
                    (tensor.shape[3] == 1 || tensor.shape[3] == 3);
  if (!fits) {
    return InvalidArgument(path + ": an image, but the input is " + Describe(tensor) +
                           "; [1, height, width, 1 or 3] takes images");
  }
  const Result<Image> image = ReadImage(path);
  if (!image.ok()) return image.status();
  const Image sized =
      WithChannels(Resize(*image, tensor.shape[2], tensor.shape[1]), tensor.shape[3]);
  NpyArray array;
  array.type = Type::kUInt8;
  array.shape.assign(tensor.shape.begin(), tensor.shape.end());
  array.data = sized.samples;
  return array;
}

// The number of samples that an array holds; 0 if it does not fit.
size_t PartsOf(const NpyArray& array, const nn::Shape& shape) {
  const std::vector<int64_t> input(shape.begin(), shape.end());
  if (array.shape == input) return 1;
  const bool one = !input.empty() && input[0] == 1;
  if (one && array.shape == std::vector<int64_t>(input.begin() + 1, input.end())) return 1;
  if (array.shape.empty()) return 0;
  const std::vector<int64_t> tail(array.shape.begin() + 1, array.shape.end());
  if (tail == input) return static_cast<size_t>(array.shape[0]);
  const bool same = !input.empty() && input[0] > 0 &&
                    tail == std::vector<int64_t>(input.begin() + 1, input.end());
  return same && array.shape[0] % input[0] == 0 ? static_cast<size_t>(array.shape[0] / input[0])
                                                : 0;
}

}  // namespace

Result<Samples> Samples::Open(const nn::Graph& graph, const std::vector<std::string>& data,
                              const SampleScale& scale) {
  const Result<std::vector<GivenInput>> given = MatchInputs(graph, "--data", data);
  if (!given.ok()) return given.status();
  Samples samples;
  samples.scale_ = scale;
  samples.sources_.resize(graph.inputs.size());
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    samples.sources_[i].tensor = graph.tensors[static_cast<size_t>(graph.inputs[i])];
  }
  for (const GivenInput& input : *given) {
    Result<std::vector<std::string>> files = FilesOf(input.value);
    if (!files.ok()) return files.status();
    samples.sources_[input.index].files = std::move(*files);
  }
  for (const Source& source : samples.sources_) {
    if (!source.files.empty()) continue;
    return InvalidArgument("--data: input '" + nn::ShortName(source.tensor.name) + "' " +
                           Describe(source.tensor) + " has no samples");
  }
  return samples;
}

void Samples::Rewind() {
  for (Source& source : sources_) source.next = source.taken = source.parts = 0;
}

Status Samples::Load(Source& source) {
  const std::string& path = source.files[source.next++];
  source.file.reset();
  if (IsArray(path)) {
    Result<NpyFile> file = NpyFile::Open(path);
    if (!file.ok()) return file.status();
    source.file = std::move(*file);
  }
  Result<NpyArray> array =
      source.file.has_value() ? source.file->array() : ReadImageFor(source.tensor, path);
  if (!array.ok()) return array.status();
  const Type type = source.tensor.type;
  const bool scaled = array->type == Type::kUInt8 && type == Type::kFloat32;
  source.parts = PartsOf(*array, source.tensor.shape);
  source.taken = 0;
  const size_t channels =
      source.tensor.shape.empty() ? 1 : static_cast<size_t>(source.tensor.shape.back());
  if (!array->shape.empty() && array->shape[0] == 0 && source.parts == 0) {
    return InvalidArgument(path + ": " + Describe(*array) + " has no sample in it");
  }
  if (source.parts == 0 || (array->type != type && !scaled)) {
    return InvalidArgument(path + ": has " + Describe(*array) + ", but input '" +
                           nn::ShortName(source.tensor.name) + "' takes samples of " +
                           Describe(source.tensor));
  }
  for (const size_t count : {scale_.mean.size(), scale_.std.size()}) {
    if (!scaled || count == 1 || count == channels) continue;
    return InvalidArgument("--mean and --std: " + std::to_string(count) + " numbers for " +
                           std::to_string(channels) + " channels");
  }
  source.array = std::move(*array);
  return {};
}

Status Samples::Take(Source& source, std::vector<std::byte>& bytes) const {
  const NpyArray& array = source.array;
  const size_t all = source.file.has_value() ? source.file->data_bytes() : array.data.size();
  const size_t part = all / source.parts;
  const size_t place = part * source.taken++;
  if (source.file.has_value()) {
    source.part.resize(part);
    INTAGLIO_RETURN_IF_ERROR(source.file->Read(place, source.part));
  }
  const uint8_t* const from =
      source.file.has_value() ? source.part.data() : array.data.data() + place;
  if (array.type == source.tensor.type) {
    if (part > 0) std::memcpy(bytes.data(), from, part);
    return {};
  }
  const nn::Shape& shape = source.tensor.shape;
  const size_t channels = shape.empty() ? 1 : static_cast<size_t>(shape.back());
  for (size_t i = 0; i < part; ++i) {
    const double mean = scale_.mean[scale_.mean.size() > 1 ? i % channels : 0];
    const double std = scale_.std[scale_.std.size() > 1 ? i % channels : 0];
    const auto value = static_cast<float>((from[i] - mean) / std);
    std::memcpy(bytes.data() + i * sizeof(float), &value, sizeof(float));
  }
  return {};
}

Result<bool> Samples::Next(std::vector<std::vector<std::byte>>& inputs) {
  size_t ready = 0;
  for (Source& source : sources_) {
    while (source.taken == source.parts && source.next < source.files.size()) {
      INTAGLIO_RETURN_IF_ERROR(Load(source));
    }
    ready += source.taken < source.parts ? 1 : 0;
  }
  if (ready == 0) return false;
  for (size_t i = 0; i < sources_.size(); ++i) {
    if (sources_[i].taken == sources_[i].parts) {
      return InvalidArgument("--data: input '" + nn::ShortName(sources_[i].tensor.name) +
                             "' has fewer samples than others");
    }
    INTAGLIO_RETURN_IF_ERROR(Take(sources_[i], inputs[i]));
  }
  return true;
}

}  // namespace intaglio::tools
