// Tells what kind of file each of some files is, by the network that Google's Magika has for it.
//
//   file_type FOLDER FILE...
//
// FOLDER holds model.onnx and config.min.json of the Python package magika 1.0.3 (README.md here).
#include <intaglio/nn/formats/onnx/reader.h>
#include <intaglio/nn/runtime/model.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace {

using intaglio::InvalidArgument;
using intaglio::Result;
using intaglio::Status;
using intaglio::nn::Model;

// What config.min.json says. The network sees `beg_size` bytes from the start of a file and
// `end_size` from its end; what a short file lacks is the padding token.
struct Config {
  size_t beg_size = 0;
  size_t end_size = 0;
  size_t block_size = 0;  // how much of each end is read
  int32_t padding_token = 0;
  std::vector<std::string> labels;
};

Result<Config> ReadConfig(const std::string& path) {
  std::ifstream file(path);
  const auto json = nlohmann::json::parse(file, nullptr, false);
  Config config;
  try {
    config = {json.at("beg_size"), json.at("end_size"), json.at("block_size"),
              json.at("padding_token"), json.at("target_labels_space")};
  } catch (const nlohmann::json::exception& error) {
    return InvalidArgument(path + ": " + error.what());
  }
  return config;
}

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Up to `size` bytes from the start or the end of a file, without the white space outside of them.
std::string ReadEnd(std::ifstream& file, std::ios::seekdir end, size_t size) {
  file.clear();
  file.seekg(0, std::ios::end);
  const auto length = static_cast<size_t>(std::max<std::streamoff>(file.tellg(), 0));
  std::string bytes(std::min(size, length), '\0');
  file.seekg(end == std::ios::end ? -static_cast<std::streamoff>(bytes.size()) : 0, end);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (end == std::ios::end) {
    while (!bytes.empty() && IsSpace(bytes.back())) bytes.pop_back();
    return bytes;
  }
  return {std::find_if_not(bytes.begin(), bytes.end(), IsSpace), bytes.end()};
}

// The network's input.
std::vector<int32_t> Tokens(std::ifstream& file, const Config& config) {
  std::vector<int32_t> tokens(config.beg_size + config.end_size, config.padding_token);
  const auto token = [](char byte) { return int32_t{static_cast<uint8_t>(byte)}; };
  const std::string beg = ReadEnd(file, std::ios::beg, config.block_size);
  const size_t beg_count = std::min(beg.size(), config.beg_size);
  std::transform(beg.begin(), beg.begin() + static_cast<ptrdiff_t>(beg_count), tokens.begin(),
                 token);
  const std::string end = ReadEnd(file, std::ios::end, config.block_size);
  const size_t end_count = std::min(end.size(), config.end_size);
  std::transform(end.end() - static_cast<ptrdiff_t>(end_count), end.end(),
                 tokens.end() - static_cast<ptrdiff_t>(end_count), token);
  return tokens;
}

Status Show(Model& model, const Config& config, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return InvalidArgument(path + ": cannot be read");
  const std::vector<int32_t> tokens = Tokens(file, config);
  std::vector<float> scores(config.labels.size());
  const std::vector<intaglio::nn::InputBuffer> inputs = {intaglio::nn::MakeInput(tokens)};
  const std::vector<intaglio::nn::OutputBuffer> outputs = {intaglio::nn::MakeOutput(scores)};
  const Status status = model.Run(inputs, outputs);
  if (!status.ok()) return status;
  const auto best = std::max_element(scores.begin(), scores.end());
  const std::string& label = config.labels[static_cast<size_t>(best - scores.begin())];
  std::printf("%s: %s (%.1f %%)\n", path.c_str(), label.c_str(), 100 * static_cast<double>(*best));
  return {};
}

Status ShowAll(const std::string& folder, char** files) {
  const Result<Config> config = ReadConfig(folder + "/config.min.json");
  if (!config.ok()) return config.status();
  Result<intaglio::nn::Graph> graph = intaglio::nn::LoadOnnx(folder + "/model.onnx");
  if (!graph.ok()) return graph.status();
  Result<Model> model = Model::Prepare(std::move(*graph));
  if (!model.ok()) return model.status();
  for (; *files != nullptr; ++files) {
    const Status status = Show(*model, *config, *files);
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: file_type FOLDER FILE...\n");
    return 2;
  }
  const Status status = ShowAll(argv[1], argv + 2);
  if (status.ok()) return 0;
  std::fprintf(stderr, "file_type: %s\n", status.message().c_str());
  return 1;
}
