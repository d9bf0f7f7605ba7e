#include "intaglio/nn/tune/other_form.h"

#include <algorithm>
#include <bit>

#include "intaglio/nn/passes/float_form.h"
#include "intaglio/nn/tune/hash.h"
#ifdef INTAGLIO_NN_QUANTIZE
#include "intaglio/nn/quantize/named_ranges.h"
#include "intaglio/nn/quantize/quantize_graph.h"
#endif

namespace intaglio::nn::tune {
namespace {

size_t Index(TensorId id) { return static_cast<size_t>(id); }

Result<Conversion> ConvertToFloat(const Graph& graph, std::span<const size_t> layers) {
  Result<FloatRewrite> network = ComputeInFloat(graph, layers);
  if (!network.ok()) return network.status();
  return Conversion{std::move(*network), {layers.begin(), layers.end()}, {}};
}

}  // namespace

struct OtherForm::Int8State {
  Graph graph;
  bool is_simplified = false;
  std::vector<NamedRange> named;
  std::vector<std::optional<NamedRange>> ranges;  // by tensor of the graph
};

OtherForm OtherForm::Float32(const Graph& graph) {
  OtherForm form;
  form.given_ = &graph;
  return form;
}

const Graph& OtherForm::graph() const { return is_int8() ? int8_->graph : *given_; }
bool OtherForm::is_simplified() const { return is_int8() && int8_->is_simplified; }

bool OtherForm::HasForm(TensorId tensor) const {
  return is_int8() ? int8_->ranges[Index(tensor)].has_value()
                   : HasFloatForm(graph().tensors[Index(tensor)]);
}

Type OtherForm::IntegersOf(TensorId tensor) const {
  return is_int8() ? Type::kInt8 : graph().tensors[Index(tensor)].type;
}

bool OtherForm::IsAdapter(size_t layer) const {
  const Layer& l = graph().layers[layer];
  return !is_int8() && (QuantizesReals(graph(), l) || DequantizesToReals(graph(), l));
}

bool OtherForm::Vanishes(size_t layer) const {
  return !is_int8() && Requantizes(graph(), graph().layers[layer]);
}

std::optional<NamedRange> OtherForm::RangeOf(TensorId tensor) const {
  return is_int8() ? int8_->ranges[Index(tensor)] : std::nullopt;
}

uint64_t OtherForm::digest() const {
  Hash hash;
  if (!is_int8()) return 0;
  for (const NamedRange& range : int8_->named) {
    hash.Add(range.tensor);
    hash.Add(uint64_t{std::bit_cast<uint32_t>(range.min)});
    hash.Add(uint64_t{std::bit_cast<uint32_t>(range.max)});
  }
  return hash.value();
}

Result<Conversion> OtherForm::Convert(std::span<const size_t> layers, bool accepted) const {
  return is_int8() && !layers.empty() ? ConvertToInt8(layers, accepted)
                                      : ConvertToFloat(graph(), layers);
}

Result<std::vector<size_t>> OtherForm::List() const {
  if (!is_int8()) return ListFloatLayers(graph());
  std::vector<size_t> all(graph().layers.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  Result<Conversion> conversion = Convert(all);
  if (!conversion.ok()) return conversion.status();
  return std::move(conversion->layers);
}

bool OtherForm::HasRanges(const Layer& layer) const {
  const auto has = [&](TensorId id) {
    if (id == kNoTensor) return true;
    const Tensor& tensor = graph().tensors[Index(id)];
    return tensor.constant || tensor.type != Type::kFloat32 || HasForm(id);
  };
  return std::all_of(layer.inputs.begin(), layer.inputs.end(), has) &&
         std::all_of(layer.outputs.begin(), layer.outputs.end(), has);
}

#ifdef INTAGLIO_NN_QUANTIZE

Result<OtherForm> OtherForm::Int8(const Graph& graph, const std::vector<NamedRange>& ranges) {
  OtherForm form;
  form.given_ = &graph;
  auto state = std::make_shared<Int8State>();
  state->graph = graph;
  state->is_simplified = quantize::Simplify(state->graph) > 0;
  const Result<quantize::Ranges> by_tensor = quantize::RangesOf(state->graph, ranges);
  if (!by_tensor.ok()) return by_tensor.status();
  state->named = ranges;
  for (const quantize::TensorRange& range : *by_tensor) {
    std::optional<NamedRange>& known = state->ranges.emplace_back();
    if (range.range.has_value()) known = NamedRange{"", range.range->min, range.range->max};
  }
  form.int8_ = std::move(state);
  return form;
}

Result<Conversion> OtherForm::ConvertToInt8(std::span<const size_t> layers, bool accepted) const {
  Conversion conversion;
  quantize::Rules rules;
  rules.accepted = accepted;
  rules.keeps_float_rules = true;
  rules.layers.assign(graph().layers.size(), {.keep_float = true});
  std::vector<size_t> asked;
  for (const size_t layer : layers) {
    if (layer >= graph().layers.size()) {
      return InvalidArgument("there is no layer " + std::to_string(layer) +
                             " to compute with int8");
    }
    if (!HasRanges(graph().layers[layer])) {
      conversion.refused.emplace_back(layer, "the range of a tensor is not known");
      continue;
    }
    rules.layers[layer].keep_float = false;
    asked.push_back(layer);
  }
  quantize::Ranges ranges(graph().tensors.size());
  for (size_t i = 0; i < ranges.size(); ++i) {
    const std::optional<NamedRange>& known = int8_->ranges[i];
    if (known.has_value()) ranges[i].range = quantize::RealRange{known->min, known->max};
  }
  Result<quantize::Quantized> made = quantize::QuantizeGraph(graph(), ranges, rules);
  if (!made.ok()) return made.status();
  for (const size_t layer : asked) {
    const quantize::Outcome& outcome = made->layers[layer];
    if (outcome.quantized) {
      conversion.layers.push_back(layer);
    } else {
      conversion.refused.emplace_back(layer, outcome.reason);
    }
  }
  conversion.network.graph = std::move(made->graph);
  conversion.network.origins.resize(conversion.network.graph.layers.size());
  for (size_t i = 0; i < made->places.size(); ++i) {
    conversion.network.origins[made->places[i]].layer = i;
  }
  return conversion;
}

#else

Result<OtherForm> OtherForm::Int8(const Graph&, const std::vector<NamedRange>&) {
  return Unsupported("this build has no quantizer, so layers of float32 have no integers");
}

Result<Conversion> OtherForm::ConvertToInt8(std::span<const size_t>, bool) const {
  return Unsupported("this build has no quantizer");
}

#endif

}  // namespace intaglio::nn::tune
