#include "intaglio/test/nn/reference_file.h"

#include <cstring>
#include <fstream>
#include <sstream>

namespace intaglio::nn::test {
namespace {

std::vector<uint8_t> FromHex(const std::string& hex) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

uint64_t Hash(const std::string& hex) { return std::stoull(hex, nullptr, 16); }

ReferenceTensor ParseTensor(std::istream& fields) {
  ReferenceTensor tensor;
  size_t index = 0;
  std::string shape;
  fields >> index >> tensor.type >> shape;
  std::istringstream extents(shape == "-" ? "" : shape);
  for (std::string extent; std::getline(extents, extent, ',');) {
    tensor.shape.push_back(std::stoi(extent));
  }
  return tensor;
}

ReferenceCase ParseCase(std::istream& fields) {
  ReferenceCase result;
  std::string kind;
  fields >> kind;
  if (kind == "real") {
    fields >> result.real;
  } else {
    fields >> result.seed;
  }
  return result;
}

ReferenceOutput ParseOutput(std::istream& fields, bool digest) {
  ReferenceOutput output;
  size_t index = 0;
  std::string hash;
  std::string hex;
  fields >> index;
  if (digest) fields >> hash;
  fields >> hex;
  output.bytes = FromHex(hex);
  output.fnv = digest ? Hash(hash) : Fnv(output.bytes);
  return output;
}

void ParseLine(const std::string& line, ReferenceFile& file) {
  std::istringstream fields(line);
  std::string key;
  fields >> key;
  if (key == "model") fields >> file.model;
  if (key == "input") file.inputs.push_back(ParseTensor(fields));
  if (key == "output") file.outputs.push_back(ParseTensor(fields));
  if (key == "case") file.cases.push_back(ParseCase(fields));
  if (key == "bytes" || key == "digest") {
    file.cases.back().outputs.push_back(ParseOutput(fields, key == "digest"));
  }
  std::string hash;
  if (key == "model-fnv" && fields >> hash) file.model_fnv = Hash(hash);
  if (key == "trace") {
    while (fields >> hash) file.cases.back().trace.push_back(Hash(hash));
  }
}

uint64_t Next(uint64_t& state) {  // splitmix64
  state += 0x9e3779b97f4a7c15;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

uint64_t Fnv(std::span<const uint8_t> bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
  return hash;
}

Result<ReferenceFile> ReadReference(const std::string& path) {
  std::ifstream stream(path);
  std::string line;
  if (!std::getline(stream, line) || line != "intaglio-reference 1") {
    return InvalidArgument(path + ": not a reference file, version 1");
  }
  ReferenceFile file;
  while (std::getline(stream, line) && line != "end") ParseLine(line, file);
  if (line != "end") return InvalidArgument(path + ": cut short");
  return file;
}

std::vector<std::vector<uint8_t>> RandomInputs(const ReferenceFile& file, uint64_t seed) {
  uint64_t state = seed;
  std::vector<std::vector<uint8_t>> inputs;
  for (const ReferenceTensor& tensor : file.inputs) {
    size_t elements = 1;
    for (const int extent : tensor.shape) elements *= static_cast<size_t>(extent);
    std::vector<uint8_t>& bytes = inputs.emplace_back();
    for (size_t i = 0; i < elements; ++i) {
      const uint64_t random = Next(state);
      if (tensor.type == "float32") {
        const float value = static_cast<float>(random >> 40) / 0x1p23f - 1.0f;
        bytes.resize(bytes.size() + sizeof(value));
        std::memcpy(bytes.data() + bytes.size() - sizeof(value), &value, sizeof(value));
      } else {
        if (tensor.type == "int16") bytes.push_back(static_cast<uint8_t>(random >> 48));
        bytes.push_back(static_cast<uint8_t>(random >> 56));
      }
    }
  }
  return inputs;
}

}  // namespace intaglio::nn::test
