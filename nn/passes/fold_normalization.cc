#include "intaglio/nn/passes/fold_normalization.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "intaglio/nn/graph/folded_shapes.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/passes/graph_editor.h"
#include "intaglio/nn/passes/quantized_groups.h"

namespace intaglio::nn {
namespace {

using Floats = std::vector<float>;

constexpr size_t kWeights = 1;
constexpr size_t kBias = 2;

// A product of float32 with constant weights, seen as [outer, channels, inner].
struct Product {
  Place place;
  int64_t outer = 1;
  int64_t channels = 1;
  int64_t inner = 1;
};

std::optional<Floats> FloatsOf(const Tensor& tensor) {
  if (!tensor.constant || tensor.type != Type::kFloat32) return {};
  Floats values(tensor.data_bytes / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), tensor.data, tensor.data_bytes);
  return values;
}

class Folder {
 public:
  Folder(Graph& graph, FoldBudget& budget)
      : budget_(budget), quantized_(graph.tensors.size()), editor_(graph) {
    FindQuantized();
  }

  FoldedNormalization Run() {
    FoldedNormalization folded;
    for (Place place = editor_.layers().begin(); place != editor_.layers().end(); ++place) {
      if (place->op.Is<Mul>() && Fold(place)) {
        ++folded.factors;
      } else if (place->op.Is<Add>() && Fold(place)) {
        ++folded.offsets;
      }
    }
    editor_.Finish([](const Layer&) { return false; });
    return folded;
  }

 private:
  // From the last layer to the first, so that readers come before what they read.
  void FindQuantized() {
    for (Place place = editor_.layers().end(); place != editor_.layers().begin();) {
      --place;
      const bool passes_on = IsAnyOf<Add, Sub, Mul, Div, Relu, Relu6, ReluN1To1, Clip, HardSwish,
                                     HardSigmoid, LeakyRelu, Logistic, Tanh>(*place) &&
                             quantized_[static_cast<size_t>(place->outputs[0])];
      if (!place->op.Is<Quantize>() && !passes_on) continue;
      for (const TensorId id : place->inputs) {
        if (id != kNoTensor) quantized_[static_cast<size_t>(id)] = true;
      }
    }
  }

  // The product that makes a tensor for one reader alone.
  std::optional<Product> ProductFor(TensorId id) {
    const std::optional<Place> maker = editor_.MakerOf(id);
    if (!maker.has_value() || editor_.ReadersOf(id) != 1) return {};
    const Layer& layer = **maker;
    const bool channels_last = layer.op.Is<DepthwiseConv2D>();
    if (!channels_last && !IsAnyOf<Conv2D, FullyConnected, TransposeConv>(layer)) return {};
    const Activation activation =
        ActivationOf<Conv2D, DepthwiseConv2D, FullyConnected, TransposeConv>(layer);
    const Tensor& weights = editor_.At(layer.inputs[kWeights]);
    if (activation != Activation::kNone || weights.type != Type::kFloat32 || !weights.constant) {
      return {};
    }
    Product product{*maker};
    product.channels = channels_last ? weights.shape.back() : weights.shape[0];
    const auto count = static_cast<int64_t>(weights.data_bytes / sizeof(float));
    if (product.channels == 0 || count == 0) return {};
    (channels_last ? product.outer : product.inner) = count / product.channels;
    return product;
  }

  // One number for each channel, of a constant that has one or as many along the last dimension.
  std::optional<Floats> PerChannel(TensorId id, int64_t channels) {
    std::optional<Floats> values = FloatsOf(editor_.At(id));
    if (!values.has_value()) return {};
    const auto count = static_cast<size_t>(channels);
    if (values->size() == 1) return Floats(count, (*values)[0]);
    const bool is_line = values->size() == count && editor_.At(id).shape.back() == channels;
    return is_line ? values : std::nullopt;
  }

  bool Fold(Place place) {
    if (ActivationOf<Add, Mul>(*place) != Activation::kNone) return false;
    if (quantized_[static_cast<size_t>(place->outputs[0])]) return false;
    for (size_t i = 0; i < 2; ++i) {
      const std::optional<Product> product = ProductFor(place->inputs[i]);
      if (!product.has_value()) continue;
      const TensorId result = product->place->outputs[0];
      if (editor_.At(result).shape != editor_.At(place->outputs[0]).shape) continue;
      const std::optional<Floats> values = PerChannel(place->inputs[1 - i], product->channels);
      if (!values.has_value()) continue;
      std::optional<Layer> layer =
          place->op.Is<Mul>() ? WithFactors(*product, *values) : WithOffsets(*product, *values);
      if (!layer.has_value()) continue;
      const std::vector<TensorId> old = product->place->inputs;
      editor_.ReplaceGroup(place, std::move(*layer));
      for (const TensorId id : old) Forget(id);
      return true;
    }
    return false;
  }

  std::optional<Layer> WithFactors(const Product& product, const Floats& factors) {
    Layer layer = *product.place;
    Floats weights = *FloatsOf(editor_.At(layer.inputs[kWeights]));
    size_t at = 0;
    for (int64_t outer = 0; outer < product.outer; ++outer) {
      for (const float factor : factors) {
        for (int64_t inner = 0; inner < product.inner; ++inner) weights[at++] *= factor;
      }
    }
    if (!SetInput(layer, kWeights, std::move(weights))) return {};
    if (layer.inputs.size() <= kBias || layer.inputs[kBias] == kNoTensor) return layer;
    std::optional<Floats> bias = FloatsOf(editor_.At(layer.inputs[kBias]));
    if (!bias.has_value() || bias->size() != factors.size()) return {};
    for (size_t c = 0; c < factors.size(); ++c) (*bias)[c] *= factors[c];
    if (!SetInput(layer, kBias, std::move(*bias))) return {};
    return layer;
  }

  std::optional<Layer> WithOffsets(const Product& product, const Floats& offsets) {
    Layer layer = *product.place;
    layer.inputs.resize(std::max(layer.inputs.size(), kBias + 1), kNoTensor);
    std::optional<Floats> bias = offsets;
    if (layer.inputs[kBias] != kNoTensor) {
      bias = FloatsOf(editor_.At(layer.inputs[kBias]));
      if (!bias.has_value() || bias->size() != offsets.size()) return {};
      for (size_t c = 0; c < offsets.size(); ++c) (*bias)[c] += offsets[c];
    }
    if (!SetInput(layer, kBias, std::move(*bias))) return {};
    return layer;
  }

  // Makes the input a constant of these values, of the old one's shape, or of one dimension.
  bool SetInput(Layer& layer, size_t input, Floats values) {
    for (const float value : values) {
      if (!std::isfinite(value)) return false;
    }
    const size_t bytes = values.size() * sizeof(float);
    if (!budget_.Charge(bytes, values.size())) return false;
    const TensorId old = layer.inputs[input];
    Tensor tensor;
    tensor.name = editor_.At(old == kNoTensor ? layer.outputs[0] : old).name;
    tensor.type = Type::kFloat32;
    tensor.shape =
        old == kNoTensor ? Shape{static_cast<int>(values.size())} : editor_.At(old).shape;
    tensor.constant = true;
    tensor.data_bytes = bytes;
    const auto owned = std::make_shared<const Floats>(std::move(values));
    tensor.data = owned->data();
    tensor.owner = owned;
    layer.inputs[input] = editor_.Add(std::move(tensor));
    return true;
  }

  // Gives back the memory of a constant that nothing reads any more.
  void Forget(TensorId id) {
    if (id == kNoTensor || editor_.ReadersOf(id) > 0 || !editor_.At(id).constant) return;
    Tensor& tensor = editor_.At(id);
    tensor.shape = {0};
    tensor.quantization = {};
    tensor.data = nullptr;
    tensor.data_bytes = 0;
    tensor.owner = nullptr;
  }

  FoldBudget& budget_;
  std::vector<bool> quantized_;  // per tensor of the graph: QUANTIZE takes what it becomes
  GraphEditor editor_;
};

}  // namespace

FoldedNormalization FoldNormalization(Graph& graph, FoldBudget& budget) {
  const FoldedNormalization folded = Folder(graph, budget).Run();
  if (folded.factors + folded.offsets > 0 && graph.folded_shapes != nullptr) {
    graph.folded_shapes = IncompleteShapes();
  }
  return folded;
}

}  // namespace intaglio::nn
