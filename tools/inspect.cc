// intaglio inspect: what a model is made of, and how it would run here.
#include <cstddef>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "intaglio/nn/formats/load.h"
#include "intaglio/nn/graph/nested_graphs.h"
#include "intaglio/nn/routine/routine_name.h"
#include "intaglio/tools/commands.h"
#include "intaglio/tools/constants.h"
#include "intaglio/tools/json.h"
#include "intaglio/tools/model_io.h"
#include "intaglio/tools/operator_library.h"

namespace intaglio::tools {
namespace {

std::string DescribeQuantization(const nn::Quantization& q) {
  if (!q.quantized()) return "";
  if (q.per_axis()) {
    return ", " + std::to_string(q.scales.size()) + " scales on axis " + std::to_string(q.axis);
  }
  char text[64];
  std::snprintf(text, sizeof(text), ", scale %.9g, zero point %d", static_cast<double>(q.scales[0]),
                q.zero_points[0]);
  return text;
}

void PrintTensor(const char* what, size_t index, const nn::Tensor& tensor) {
  std::printf("%-8s %zu '%s' %s%s\n", what, index, tensor.name.c_str(), Describe(tensor).c_str(),
              DescribeQuantization(tensor.quantization).c_str());
}

std::string DescribeEntries(const char* what, const std::vector<nn::Signature::Entry>& entries) {
  std::string text;
  for (const nn::Signature::Entry& entry : entries) {
    text +=
        std::string(", ") + what + " " + std::to_string(entry.position) + " '" + entry.name + "'";
  }
  return text;
}

void PrintSignature(const nn::Signature& signature) {
  std::printf("signature '%s'%s%s\n", signature.key.c_str(),
              DescribeEntries("input", signature.inputs).c_str(),
              DescribeEntries("output", signature.outputs).c_str());
}

void PrintSurvey(const std::vector<nn::SurveyRow>& rows) {
  std::printf("%5s  %-32s %-8s  %s\n", "count", "operator", "type", "runs");
  for (const nn::SurveyRow& row : rows) {
    const std::string name = row.name + " v" + std::to_string(row.version);
    std::printf("%5d  %-32s %-8s  %s%s\n", row.count, name.c_str(), row.type.c_str(),
                row.why_not.empty() ? "yes" : "no: ", row.why_not.c_str());
  }
  std::printf("\n");
}

struct Totals {
  int64_t macs = 0;
  size_t file_constants = 0;
};

// Each once, those of graphs inside of layers among them.
void CollectConstants(const nn::Graph& graph, std::map<const void*, size_t>& bytes) {
  for (const nn::Tensor& tensor : graph.tensors) bytes[tensor.data] = tensor.data_bytes;
  for (const nn::Layer& layer : graph.layers) {
    for (const nn::NestedGraph& nested : nn::NestedGraphsOf(layer.op)) {
      CollectConstants(*nested.graph, bytes);
    }
  }
}

Totals Sum(const nn::Model& model) {
  Totals totals;
  for (const nn::LayerInfo& layer : model.layers()) totals.macs += layer.macs;
  std::map<const void*, size_t> constants;
  CollectConstants(model.graph(), constants);
  for (const auto& [data, bytes] : constants) totals.file_constants += bytes;
  return totals;
}

void Print(const nn::Model& model, const std::vector<nn::Signature>& signatures) {
  for (size_t i = 0; i < model.input_count(); ++i) PrintTensor("input", i, model.input(i));
  for (size_t i = 0; i < model.output_count(); ++i) PrintTensor("output", i, model.output(i));
  for (const nn::Signature& signature : signatures) PrintSignature(signature);
  const Totals totals = Sum(model);
  std::printf("MACs     %lld\n", static_cast<long long>(totals.macs));
  std::printf("weights  %s in the file, %s packed\n", FormatBytes(totals.file_constants).c_str(),
              FormatBytes(model.constant_bytes()).c_str());
  std::printf("arena    %s (%zu bytes)\n", FormatBytes(model.arena_bytes()).c_str(),
              model.arena_bytes());
  std::printf("memory   %s of the %s allowed\n", FormatBytes(model.taken_bytes()).c_str(),
              FormatBytes(model.max_bytes()).c_str());
  std::printf("work     %lld steps\n\n", static_cast<long long>(model.work()));
  std::printf("%4s  %-18s %-22s %-24s %12s  %s\n", "#", "layer", "output", "routine", "MACs",
              "kernel");
  for (size_t i = 0; i < model.layers().size(); ++i) {
    const nn::LayerInfo& layer = model.layers()[i];
    const std::string output =
        layer.output == nn::kNoTensor
            ? "none"
            : Describe(model.graph().tensors[static_cast<size_t>(layer.output)]);
    std::printf("%4zu  %-18s %-22s %-24s %12lld  %s%s\n", i, layer.operator_name.c_str(),
                output.c_str(), layer.routine.c_str(), static_cast<long long>(layer.macs),
                layer.kernel.c_str(), layer.in_place ? " (in place)" : "");
  }
}

const char* NameOf(nn::NumericClass numeric) {
  return numeric == nn::NumericClass::kExact ? "exact" : "bounded";
}

void PrintRoutines(const nn::Model& model) {
  std::printf("\n%4s  %-18s %-28s %-8s %s\n", "#", "layer", "routine", "results", "accepts it");
  for (size_t i = 0; i < model.layers().size(); ++i) {
    const nn::LayerInfo& layer = model.layers()[i];
    for (const nn::CandidateInfo& candidate : model.ListRoutines(i)) {
      const bool runs = candidate.name == nn::CandidateIn(layer.routine);
      const std::string answer = candidate.why_not.empty() ? "yes" : "no: " + candidate.why_not;
      std::printf("%4zu  %-18s %-28s %-8s %s%s\n", i, layer.operator_name.c_str(),
                  candidate.name.c_str(), NameOf(candidate.numeric), answer.c_str(),
                  runs ? ", runs" : "");
    }
  }
}

std::string Describe(const nn::PassReport& pass) {
  std::string text;
  for (const nn::PassCount& count : pass.counts) {
    if (count.count == 0) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(count.count) + " " + count.what;
  }
  if (!pass.ran) return "switched off";
  return text.empty() ? "nothing" : text;
}

void PrintPasses(const std::vector<nn::PassReport>& passes) {
  std::printf("\n%-20s %15s  %s\n", "pass", "layers", "what it did");
  for (const nn::PassReport& pass : passes) {
    const std::string layers =
        std::to_string(pass.layers_before) + " -> " + std::to_string(pass.layers_after);
    std::printf("%-20s %15s  %s: %s%s\n", pass.name.c_str(), layers.c_str(),
                pass.description.c_str(), Describe(pass).c_str(),
                pass.required ? " (required)" : "");
  }
  if (passes.empty()) std::printf("none: passes are for .onnx files\n");
}

Json PassesJson(const std::vector<nn::PassReport>& passes) {
  Json json = Json::array();
  for (const nn::PassReport& pass : passes) {
    Json counts = Json::object();
    for (const nn::PassCount& count : pass.counts) counts[count.what] = count.count;
    json.push_back({{"name", pass.name},
                    {"description", pass.description},
                    {"required", pass.required},
                    {"ran", pass.ran},
                    {"layers_before", pass.layers_before},
                    {"layers_after", pass.layers_after},
                    {"counts", std::move(counts)}});
  }
  return json;
}

Json TensorJson(const nn::Tensor& tensor) {
  Json json = {{"name", tensor.name}, {"type", NameOf(tensor.type)}, {"shape", tensor.shape}};
  const nn::Quantization& q = tensor.quantization;
  if (q.quantized()) {
    json["quantization"] = {{"scales", q.scales}, {"zero_points", q.zero_points}};
    if (q.per_axis()) json["quantization"]["axis"] = q.axis;
  }
  return json;
}

Json EntriesJson(const std::vector<nn::Signature::Entry>& entries,
                 const std::vector<nn::TensorId>& tensors) {
  Json json = Json::object();
  for (const nn::Signature::Entry& entry : entries) json[entry.name] = tensors[entry.position];
  return json;
}

Json SignaturesJson(const nn::Graph& graph, const std::vector<nn::Signature>& signatures) {
  Json json = Json::array();
  for (const nn::Signature& signature : signatures) {
    json.push_back({{"key", signature.key},
                    {"inputs", EntriesJson(signature.inputs, graph.inputs)},
                    {"outputs", EntriesJson(signature.outputs, graph.outputs)}});
  }
  return json;
}

Json LayerJson(const nn::Model& model, size_t index) {
  const nn::LayerInfo& info = model.layers()[index];
  const nn::Layer& layer = model.graph().layers[index];
  Json routines = Json::array();
  for (const nn::CandidateInfo& candidate : model.ListRoutines(index)) {
    routines.push_back({{"name", candidate.name},
                        {"results", NameOf(candidate.numeric)},
                        {"why_not", candidate.why_not},
                        {"parameters", candidate.parameters}});
  }
  return {{"operator", info.operator_name},
          {"label", info.label},
          {"inputs", layer.inputs},
          {"outputs", layer.outputs},
          {"routine", info.routine},
          {"kernel", info.kernel},
          {"routines", std::move(routines)},
          {"macs", info.macs},
          {"work", info.work},
          {"constant_bytes", info.constant_bytes},
          {"scratch_bytes", info.scratch_bytes},
          {"in_place", info.in_place}};
}

Json SurveyJson(const std::vector<nn::SurveyRow>& rows) {
  Json json = Json::array();
  for (const nn::SurveyRow& row : rows) {
    json.push_back({{"operator", row.name},
                    {"version", row.version},
                    {"type", row.type},
                    {"count", row.count},
                    {"runs", row.why_not.empty()},
                    {"why_not", row.why_not}});
  }
  return json;
}

Json ToJson(const nn::Model& model, const std::vector<nn::Signature>& signatures) {
  const Totals totals = Sum(model);
  Json json = {{"format", "intaglio-inspect-1"},
               {"model", model.graph().name},
               {"inputs", model.graph().inputs},
               {"outputs", model.graph().outputs},
               {"signatures", SignaturesJson(model.graph(), signatures)},
               {"macs", totals.macs},
               {"file_constant_bytes", totals.file_constants},
               {"packed_constant_bytes", model.constant_bytes()},
               {"arena_bytes", model.arena_bytes()},
               {"memory_bytes", model.taken_bytes()},
               {"max_memory_bytes", model.max_bytes()},
               {"work", model.work()}};
  for (const char* const list : {"tensors", "layers", "memory_plan"}) json[list] = Json::array();
  for (const nn::Tensor& tensor : model.graph().tensors) {
    Json entry = TensorJson(tensor);
    entry["constant"] = tensor.constant;
    json["tensors"].push_back(std::move(entry));
  }
  for (size_t i = 0; i < model.layers().size(); ++i) {
    json["layers"].push_back(LayerJson(model, i));
  }
  for (const nn::Placement& place : model.placements()) {
    json["memory_plan"].push_back({{"tensor", place.tensor},
                                   {"offset", place.offset},
                                   {"bytes", place.bytes},
                                   {"first_layer", place.first},
                                   {"last_layer", place.last},
                                   {"stride", place.stride}});
  }
  return json;
}

}  // namespace

Status Inspect(const InspectOptions& options) {
  const ModelSource& source = options.model;
  const Result<std::vector<nn::CustomOperator>> operators = LoadOperators(source.operators);
  if (!operators.ok()) return operators.status();
  const Result<std::vector<nn::InputConstant>> constants = ConstantsOf(source);
  if (!constants.ok()) return constants.status();
  const Result<std::vector<nn::SurveyRow>> survey = nn::SurveyFile(
      source.path,
      {.limits = source.limits, .custom_operators = *operators, .constants = *constants});
  if (!survey.ok()) return survey.status();
  std::vector<nn::PassReport> passes;
  std::vector<nn::Signature> signatures;
  Result<nn::Model> model = LoadModel(source, {}, {}, &passes, &signatures);
  if (options.json) {
    Json json = model.ok() ? ToJson(*model, signatures)
                           : Json{{"format", "intaglio-inspect-1"}, {"model", source.path}};
    json["operators"] = SurveyJson(*survey);
    json["passes"] = PassesJson(passes);
    PrintJson(json);
  } else {
    PrintSurvey(*survey);
    if (model.ok()) Print(*model, signatures);
    if (model.ok() && options.routines) PrintRoutines(*model);
    if (options.passes && (model.ok() || !passes.empty())) PrintPasses(passes);
  }
  return model.status();
}

}  // namespace intaglio::tools
