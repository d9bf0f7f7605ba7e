// Files of integers from files of float32.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/bindings/c/forms.h"
#include "intaglio/bindings/c/guard.h"
#include "intaglio/bindings/c/model.h"
#ifdef INTAGLIO_NN_QUANTIZE
#include "intaglio/nn/formats/save.h"
#include "intaglio/nn/quantize/quantize.h"
#endif

struct it_quantize_options {
  std::string bits = "w8a8";
  std::string method = "minmax";
  std::string recipe;
  std::vector<std::string> keep_float;
  it_type interface = IT_FLOAT32;
  std::optional<double> most_drop;
  std::optional<double> least_sqnr;
  std::vector<int32_t> labels;
  bool flags[6] = {};
};

struct it_quantized {
  struct Layer {
    std::string label;
    bool has_integers = false;
    std::string note;
  };
  std::vector<uint8_t> file;
  std::vector<Layer> layers;
  std::vector<std::string> changes;
  std::string report;
  size_t samples = 0;
};

namespace intaglio::c {
namespace {

using NewFile = Result<std::unique_ptr<it_quantized>>;

#ifdef INTAGLIO_NN_QUANTIZE

namespace quantize = nn::quantize;

Status CheckMethod(const std::string& name) { return quantize::MethodByName(name).status(); }
Status CheckBits(const std::string& bits) {
  quantize::Options options;
  return quantize::SetBits(bits, options);
}
Status CheckRecipe(const std::string& text) { return quantize::ParseRecipe(text).status(); }

// Checked when they were set, except for what depends on the format.
Result<quantize::Options> OptionsOf(const it_quantize_options& from, nn::Format format,
                                    const it_model_options& model) {
  quantize::Options options;
  if (format == nn::Format::kOnnx) options.form = quantize::Form::kPairs;
  INTAGLIO_RETURN_IF_ERROR(quantize::SetBits(from.bits, options));
  const Result<quantize::Method> method = quantize::MethodByName(from.method);
  if (!method.ok()) return method.status();
  options.observer.method = *method;
  if (!from.recipe.empty()) {
    Result<quantize::Recipe> recipe = quantize::ParseRecipe(from.recipe);
    if (!recipe.ok()) return recipe.status();
    options.recipe = std::move(*recipe);
  }
  for (const std::string& pattern : from.keep_float) {
    options.recipe.rules.push_back({.layers = pattern, .keep_float = true});
  }
  if (from.interface != IT_FLOAT32) options.interface = static_cast<Type>(from.interface);
  options.layer.per_channel = !from.flags[IT_QUANTIZE_PER_TENSOR];
  options.equalize = from.flags[IT_QUANTIZE_EQUALIZE];
  options.smooth = from.flags[IT_QUANTIZE_SMOOTH];
  options.learn_rounding = from.flags[IT_QUANTIZE_LEARN_ROUNDING];
  options.correct_bias = from.flags[IT_QUANTIZE_CORRECT_BIAS];
  if (from.most_drop.has_value() || from.least_sqnr.has_value()) {
    options.goal = quantize::Goal{
        .most_drop = from.most_drop, .labels = from.labels, .least_sqnr = from.least_sqnr};
  }
  options.threads = model.prepare.threads;
  options.limits = model.prepare.limits;
  return options;
}

quantize::OpenSamples OpenerOf(it_next_sample next, void* user) {
  if (next == nullptr) return nullptr;
  return [=]() -> Result<quantize::NextSample> {
    return quantize::NextSample(
        [=, sample = size_t{0}](quantize::InputBytes& inputs) mutable -> Result<bool> {
          std::vector<void*> pointers;
          for (std::vector<std::byte>& input : inputs) pointers.push_back(input.data());
          const int32_t answer = next(user, sample, pointers.data());
          if (answer != 0 && answer != 1) {
            return InvalidArgument("the caller could not give it: " + std::to_string(answer));
          }
          sample += answer == 1 ? 1 : 0;
          return answer == 1;
        });
  };
}

NewFile Quantize(Result<nn::Graph> graph, nn::Format format, const it_model_options& model,
                 const it_quantize_options& from, std::vector<nn::Signature> signatures,
                 it_next_sample next, void* user) {
  if (!graph.ok()) return graph.status();
  const Result<quantize::Options> options = OptionsOf(from, format, model);
  if (!options.ok()) return options.status();
  const quantize::OpenSamples open = OpenerOf(next, user);
  const std::string name = graph->name;
  const Result<quantize::Network> network = quantize::Quantize(std::move(*graph), open, *options);
  if (!network.ok()) return network.status();
  Result<std::vector<uint8_t>> file =
      nn::ExportGraph(network->quantized.graph, format, {{}, std::move(signatures)});
  if (!file.ok()) return file.status();
  auto made = std::make_unique<it_quantized>();
  made->file = std::move(*file);
  made->samples = network->samples;
  for (const quantize::Outcome& layer : network->quantized.layers) {
    made->layers.push_back(
        {layer.label, layer.quantized, layer.quantized ? layer.note : layer.reason});
  }
  if (network->search.has_value()) {
    for (const quantize::Change& change : network->search->changes) {
      made->changes.push_back(change.label + " " + change.change);
    }
  }
  if (!from.flags[IT_QUANTIZE_REPORT]) return made;
  const Result<quantize::Report> report = quantize::ReportOn(*network, open, *options);
  if (!report.ok()) return report.status();
  made->report = quantize::ToJson(*report, name);
  return made;
}

NewFile QuantizeFile(const char* path, const it_model_options& model,
                     const it_quantize_options& options, it_next_sample next, void* user) {
  std::vector<nn::Signature> signatures;
  nn::LoadOptions load = model.load;
  load.signatures = &signatures;
  Result<nn::Graph> graph = nn::LoadGraph(path, load);
  return Quantize(std::move(graph), nn::FormatByContent(path), model, options,
                  std::move(signatures), next, user);
}

NewFile QuantizeBytes(const void* data, size_t bytes, const std::string& name,
                      const it_model_options& model, const it_quantize_options& options,
                      it_next_sample next, void* user) {
  const auto* const first = static_cast<const uint8_t*>(data);
  auto copy = std::make_shared<const std::vector<uint8_t>>(first, first + bytes);
  const std::span<const uint8_t> content = *copy;
  const nn::Format format = nn::FormatOfBytes(content);
  std::vector<nn::Signature> signatures;
  nn::LoadOptions load = model.load;
  load.signatures = &signatures;
  Result<nn::Graph> graph = nn::ImportGraph(content, std::move(copy), name, format, load);
  return Quantize(std::move(graph), format, model, options, std::move(signatures), next, user);
}

#else

Status NoQuantizer() { return Unsupported("this build has no quantizer"); }
Status CheckMethod(const std::string&) { return {}; }
Status CheckBits(const std::string&) { return {}; }
Status CheckRecipe(const std::string&) { return {}; }
NewFile QuantizeFile(const char*, const it_model_options&, const it_quantize_options&,
                     it_next_sample, void*) {
  return NoQuantizer();
}
NewFile QuantizeBytes(const void*, size_t, const std::string&, const it_model_options&,
                      const it_quantize_options&, it_next_sample, void*) {
  return NoQuantizer();
}

#endif

// Checks a text, and keeps it.
template <class Check>
it_status* SetText(it_quantize_options* options, const char* text, const char* name,
                   std::string it_quantize_options::*member, const Check& check) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(options, "options"));
    INTAGLIO_RETURN_IF_ERROR(NotNull(text, name));
    std::string value = text;
    INTAGLIO_RETURN_IF_ERROR(check(value));
    options->*member = std::move(value);
    return {};
  });
}

template <class Handle>
const Handle& OrDefault(const Handle* options, const Handle& defaults) {
  return options == nullptr ? defaults : *options;
}

const it_quantized::Layer* LayerAt(const it_quantized* quantized, size_t index) {
  return index < it_quantized_layer_count(quantized) ? &quantized->layers[index] : nullptr;
}

}  // namespace
}  // namespace intaglio::c

using namespace intaglio::c;
using intaglio::InvalidArgument;
using intaglio::Status;

it_status* it_quantize_options_create(it_quantize_options** out) {
  return Create(out, []() -> intaglio::Result<std::unique_ptr<it_quantize_options>> {
    return std::make_unique<it_quantize_options>();
  });
}
void it_quantize_options_destroy(it_quantize_options* options) { delete options; }

it_status* it_quantize_options_set_bits(it_quantize_options* options, const char* bits) {
  return SetText(options, bits, "bits", &it_quantize_options::bits, CheckBits);
}

it_status* it_quantize_options_set_method(it_quantize_options* options, const char* method) {
  return SetText(options, method, "method", &it_quantize_options::method, CheckMethod);
}

it_status* it_quantize_options_set_recipe(it_quantize_options* options, const char* text,
                                          size_t bytes) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(options, "options"));
    if (bytes > 0) INTAGLIO_RETURN_IF_ERROR(NotNull(text, "text"));
    std::string recipe = bytes == 0 ? std::string() : std::string(text, bytes);
    if (bytes > 0) INTAGLIO_RETURN_IF_ERROR(CheckRecipe(recipe));
    options->recipe = std::move(recipe);
    return {};
  });
}

it_status* it_quantize_options_keep_float(it_quantize_options* options, const char* pattern) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(options, "options"));
    INTAGLIO_RETURN_IF_ERROR(NotNull(pattern, "pattern"));
    options->keep_float.emplace_back(pattern);
    return {};
  });
}

it_status* it_quantize_options_set_interface(it_quantize_options* options, it_type type) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(options, "options"));
    const it_type known[] = {IT_FLOAT32, IT_INT8, IT_UINT8, IT_INT16};
    if (std::find(std::begin(known), std::end(known), type) == std::end(known)) {
      return InvalidArgument("type is " + std::to_string(type) +
                             "; inputs and outputs may be float32, int8, uint8 or int16");
    }
    options->interface = type;
    return {};
  });
}

it_status* it_quantize_options_set_flag(it_quantize_options* options, it_quantize_flag flag,
                                        int32_t value) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(options, "options"));
    if (flag < 0 || flag >= static_cast<int32_t>(std::size(options->flags))) {
      return InvalidArgument("there is no flag " + std::to_string(flag));
    }
    if (value != 0 && value != 1) {
      return InvalidArgument("value is 0 or 1, not " + std::to_string(value));
    }
    options->flags[flag] = value == 1;
    return {};
  });
}

it_status* it_quantize_options_set_max_drop(it_quantize_options* options, double points,
                                            const int32_t* labels, size_t count) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(options, "options"));
    if (count > 0) INTAGLIO_RETURN_IF_ERROR(NotNull(labels, "labels"));
    if (!(points >= 0 && points <= 100)) {
      return InvalidArgument("points are " + std::to_string(points) + ", not 0 to 100");
    }
    std::vector<int32_t> copy;
    if (count > 0) copy.assign(labels, labels + count);
    options->labels = std::move(copy);
    options->most_drop = points;
    options->least_sqnr.reset();
    return {};
  });
}

it_status* it_quantize_options_set_min_sqnr(it_quantize_options* options, double decibels) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(options, "options"));
    if (!std::isfinite(decibels)) return InvalidArgument("decibels are not finite");
    options->least_sqnr = decibels;
    options->most_drop.reset();
    options->labels.clear();
    return {};
  });
}

it_status* it_quantize_file(const char* path, const it_model_options* model,
                            const it_quantize_options* options, it_next_sample next, void* user,
                            it_quantized** out) {
  return Create(out, [&]() -> NewFile {
    INTAGLIO_RETURN_IF_ERROR(NotNull(path, "path"));
    const it_model_options model_defaults;
    const it_quantize_options defaults;
    return QuantizeFile(path, OrDefault(model, model_defaults), OrDefault(options, defaults), next,
                        user);
  });
}

it_status* it_quantize_bytes(const void* data, size_t bytes, const char* name,
                             const it_model_options* model, const it_quantize_options* options,
                             it_next_sample next, void* user, it_quantized** out) {
  return Create(out, [&]() -> NewFile {
    INTAGLIO_RETURN_IF_ERROR(NotNull(data, "data"));
    const it_model_options model_defaults;
    const it_quantize_options defaults;
    return QuantizeBytes(data, bytes, name == nullptr ? "model" : name,
                         OrDefault(model, model_defaults), OrDefault(options, defaults), next,
                         user);
  });
}

void it_quantized_destroy(it_quantized* quantized) { delete quantized; }
const void* it_quantized_data(const it_quantized* quantized) {
  return quantized == nullptr ? nullptr : quantized->file.data();
}
size_t it_quantized_bytes(const it_quantized* quantized) {
  return quantized == nullptr ? 0 : quantized->file.size();
}
size_t it_quantized_sample_count(const it_quantized* quantized) {
  return quantized == nullptr ? 0 : quantized->samples;
}
size_t it_quantized_layer_count(const it_quantized* quantized) {
  return quantized == nullptr ? 0 : quantized->layers.size();
}
const char* it_quantized_layer_label(const it_quantized* quantized, size_t index) {
  const it_quantized::Layer* const layer = LayerAt(quantized, index);
  return layer == nullptr ? nullptr : layer->label.c_str();
}
int32_t it_quantized_layer_has_integers(const it_quantized* quantized, size_t index) {
  const it_quantized::Layer* const layer = LayerAt(quantized, index);
  return layer != nullptr && layer->has_integers ? 1 : 0;
}
const char* it_quantized_layer_note(const it_quantized* quantized, size_t index) {
  const it_quantized::Layer* const layer = LayerAt(quantized, index);
  return layer == nullptr ? nullptr : layer->note.c_str();
}
size_t it_quantized_change_count(const it_quantized* quantized) {
  return quantized == nullptr ? 0 : quantized->changes.size();
}
const char* it_quantized_change(const it_quantized* quantized, size_t index) {
  const bool there = index < it_quantized_change_count(quantized);
  return there ? quantized->changes[index].c_str() : nullptr;
}
const char* it_quantized_report(const it_quantized* quantized) {
  return quantized == nullptr ? nullptr : quantized->report.c_str();
}
