#include "intaglio/bindings/c/model.h"

#include <memory>
#include <string>
#include <utility>

#include "intaglio/bindings/c/forms.h"
#include "intaglio/bindings/c/guard.h"
#include "intaglio/nn/formats/format.h"

namespace intaglio::c {
namespace {

using NewModel = Result<std::unique_ptr<it_model>>;

NewModel PrepareModel(Result<nn::Graph> graph, const it_model_options& options) {
  if (!graph.ok()) return graph.status();
  nn::PrepareOptions prepare = options.prepare;
  std::vector<std::string> warnings;
  const bool has_plan = !options.plan.empty();
  if (has_plan) INTAGLIO_RETURN_IF_ERROR(TakePlan(options, *graph, prepare, warnings));
  auto model = nn::Model::Prepare(std::move(*graph), prepare);
  if (!model.ok()) return model.status();
  return std::unique_ptr<it_model>(
      new it_model{std::move(*model), std::move(prepare), has_plan, std::move(warnings)});
}

NewModel LoadBytes(const void* data, size_t bytes, const std::string& name,
                   const it_model_options& options) {
  std::span<const uint8_t> content(static_cast<const uint8_t*>(data), bytes);
  std::shared_ptr<std::vector<uint8_t>> copy;
  if (!options.bytes_in_place) {
    copy = std::make_shared<std::vector<uint8_t>>(content.begin(), content.end());
    content = *copy;
  }
  return PrepareModel(
      nn::ImportGraph(content, std::move(copy), name, nn::FormatOfBytes(content), options.load),
      options);
}

const it_model_options& OrDefault(const it_model_options* options,
                                  const it_model_options& defaults) {
  return options == nullptr ? defaults : *options;
}

const nn::Tensor* FromC(const it_tensor* tensor) {
  return reinterpret_cast<const nn::Tensor*>(tensor);
}
const nn::LayerInfo* FromC(const it_layer* layer) {
  return reinterpret_cast<const nn::LayerInfo*>(layer);
}

}  // namespace
}  // namespace intaglio::c

using namespace intaglio::c;
using intaglio::Status;

it_status* it_model_load_file(const char* path, const it_model_options* options, it_model** out) {
  return Create(out, [&]() -> NewModel {
    INTAGLIO_RETURN_IF_ERROR(NotNull(path, "path"));
    const it_model_options defaults;
    const it_model_options& chosen = OrDefault(options, defaults);
    return PrepareModel(intaglio::nn::LoadGraph(path, chosen.load), chosen);
  });
}

it_status* it_model_load_bytes(const void* data, size_t bytes, const char* name,
                               const it_model_options* options, it_model** out) {
  return Create(out, [&]() -> NewModel {
    INTAGLIO_RETURN_IF_ERROR(NotNull(data, "data"));
    const it_model_options defaults;
    return LoadBytes(data, bytes, name == nullptr ? "model" : name, OrDefault(options, defaults));
  });
}

void it_model_destroy(it_model* model) { delete model; }

size_t it_model_input_count(const it_model* model) {
  return model == nullptr ? 0 : model->model.input_count();
}
size_t it_model_output_count(const it_model* model) {
  return model == nullptr ? 0 : model->model.output_count();
}
const it_tensor* it_model_input(const it_model* model, size_t index) {
  return index < it_model_input_count(model) ? ToC(model->model.input(index)) : nullptr;
}
const it_tensor* it_model_output(const it_model* model, size_t index) {
  return index < it_model_output_count(model) ? ToC(model->model.output(index)) : nullptr;
}
size_t it_model_layer_count(const it_model* model) {
  return model == nullptr ? 0 : model->model.layers().size();
}
const it_layer* it_model_layer(const it_model* model, size_t index) {
  return index < it_model_layer_count(model) ? ToC(model->model.layers()[index]) : nullptr;
}
size_t it_model_arena_bytes(const it_model* model) {
  return model == nullptr ? 0 : model->model.arena_bytes();
}
size_t it_model_constant_bytes(const it_model* model) {
  return model == nullptr ? 0 : model->model.constant_bytes();
}
size_t it_model_taken_bytes(const it_model* model) {
  return model == nullptr ? 0 : model->model.taken_bytes();
}
size_t it_model_max_bytes(const it_model* model) {
  return model == nullptr ? 0 : model->model.max_bytes();
}
int64_t it_model_work(const it_model* model) { return model == nullptr ? 0 : model->model.work(); }

const char* it_tensor_name(const it_tensor* tensor) {
  return tensor == nullptr ? nullptr : FromC(tensor)->name.c_str();
}
it_type it_tensor_type(const it_tensor* tensor) {
  return tensor == nullptr ? 0 : FromType(FromC(tensor)->type);
}
size_t it_tensor_rank(const it_tensor* tensor) {
  return tensor == nullptr ? 0 : FromC(tensor)->shape.size();
}
int32_t it_tensor_dim(const it_tensor* tensor, size_t index) {
  return index < it_tensor_rank(tensor) ? FromC(tensor)->shape[index] : 0;
}
// The sizes of a prepared model can be counted. So an error would be a fault, and 0 bytes fit none.
size_t it_tensor_bytes(const it_tensor* tensor) {
  size_t bytes = 0;
  it_status_destroy(Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(tensor, "tensor"));
    const auto counted = intaglio::nn::CountBytes(FromC(tensor)->shape, FromC(tensor)->type);
    if (counted.ok()) bytes = *counted;
    return counted.status();
  }));
  return bytes;
}
size_t it_tensor_scale_count(const it_tensor* tensor) {
  return tensor == nullptr ? 0 : FromC(tensor)->quantization.scales.size();
}
float it_tensor_scale(const it_tensor* tensor, size_t index) {
  return index < it_tensor_scale_count(tensor) ? FromC(tensor)->quantization.scales[index] : 0;
}
int32_t it_tensor_zero_point(const it_tensor* tensor, size_t index) {
  return index < it_tensor_scale_count(tensor) ? FromC(tensor)->quantization.zero_points[index] : 0;
}
int32_t it_tensor_axis(const it_tensor* tensor) {
  return tensor == nullptr ? 0 : FromC(tensor)->quantization.axis;
}

const char* it_layer_label(const it_layer* layer) {
  return layer == nullptr ? nullptr : FromC(layer)->label.c_str();
}
const char* it_layer_operator(const it_layer* layer) {
  return layer == nullptr ? nullptr : FromC(layer)->operator_name.c_str();
}
const char* it_layer_routine(const it_layer* layer) {
  return layer == nullptr ? nullptr : FromC(layer)->routine.c_str();
}
const char* it_layer_kernel(const it_layer* layer) {
  return layer == nullptr ? nullptr : FromC(layer)->kernel.c_str();
}
int64_t it_layer_macs(const it_layer* layer) { return layer == nullptr ? 0 : FromC(layer)->macs; }
int64_t it_layer_work(const it_layer* layer) { return layer == nullptr ? 0 : FromC(layer)->work; }
size_t it_layer_constant_bytes(const it_layer* layer) {
  return layer == nullptr ? 0 : FromC(layer)->constant_bytes;
}
size_t it_layer_scratch_bytes(const it_layer* layer) {
  return layer == nullptr ? 0 : FromC(layer)->scratch_bytes;
}
