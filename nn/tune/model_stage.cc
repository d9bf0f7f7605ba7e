#include "intaglio/nn/tune/model_stage.h"

#include <cstring>
#include <random>

namespace intaglio::nn::tune {
namespace {

std::vector<uint8_t> RandomElements(const Tensor& tensor, std::mt19937& random) {
  const size_t bytes = *CountBytes(tensor.shape, tensor.type);
  std::vector<uint8_t> elements(bytes);
  if (tensor.type == Type::kFloat32) {
    std::uniform_real_distribution<float> real(-1, 1);
    for (size_t i = 0; i + sizeof(float) <= bytes; i += sizeof(float)) {
      const float value = real(random);
      std::memcpy(&elements[i], &value, sizeof(value));
    }
  } else if (SizeOf(tensor.type) == 1) {
    const uint32_t most = tensor.type == Type::kBool ? 1 : 255;
    for (uint8_t& element : elements) element = static_cast<uint8_t>(random() & most);
  }
  return elements;
}

}  // namespace

RunBuffers::RunBuffers(const Model& model) {
  std::mt19937 random(1);
  for (size_t i = 0; i < model.input_count(); ++i) {
    bytes_.push_back(RandomElements(model.input(i), random));
    inputs_.push_back({bytes_.back().data(), bytes_.back().size(), model.input(i).type});
  }
  for (size_t i = 0; i < model.output_count(); ++i) {
    bytes_.emplace_back(*CountBytes(model.output(i).shape, model.output(i).type));
    outputs_.push_back({bytes_.back().data(), bytes_.back().size(), model.output(i).type});
  }
}

}  // namespace intaglio::nn::tune
