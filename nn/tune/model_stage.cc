#include "intaglio/nn/tune/model_stage.h"

#include <algorithm>
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

RunBuffers::RunBuffers(const Model& model, const std::vector<std::vector<uint8_t>>& given) {
  std::mt19937 random(1);
  for (size_t i = 0; i < model.input_count(); ++i) {
    const bool is_given = i < given.size() && !given[i].empty();
    bytes_.push_back(is_given ? given[i] : RandomElements(model.input(i), random));
    inputs_.push_back({bytes_.back().data(), bytes_.back().size(), model.input(i).type});
  }
  for (size_t i = 0; i < model.output_count(); ++i) {
    bytes_.emplace_back(*CountBytes(model.output(i).shape, model.output(i).type));
    outputs_.push_back({bytes_.back().data(), bytes_.back().size(), model.output(i).type});
  }
}

// Adapters count for no layer.
Status ModelStage::Run(size_t variant, std::span<std::chrono::nanoseconds> times) {
  const auto& [model, origins] = variants_[variant];
  if (origins == nullptr) return buffers_.Run(*model, times);
  own_times_.resize(origins->size());
  INTAGLIO_RETURN_IF_ERROR(buffers_.Run(*model, own_times_));
  std::fill(times.begin(), times.end(), std::chrono::nanoseconds(0));
  for (size_t i = 0; i < origins->size(); ++i) {
    const size_t layer = (*origins)[i].layer;
    if (layer != LayerOrigin::kAdapter) times[layer] += own_times_[i];
  }
  return {};
}

}  // namespace intaglio::nn::tune
