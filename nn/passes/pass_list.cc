#include "intaglio/nn/passes/pass_list.h"

#include <algorithm>

#include "intaglio/nn/passes/fold_bias.h"
#include "intaglio/nn/passes/fold_normalization.h"
#include "intaglio/nn/passes/fuse_activations.h"
#include "intaglio/nn/passes/fuse_quantization.h"
#include "intaglio/nn/passes/merge_tables.h"
#include "intaglio/nn/passes/remove_transposes.h"
#include "intaglio/nn/passes/remove_unread.h"
#include "intaglio/nn/passes/share_equal.h"

namespace intaglio::nn {
namespace {

std::vector<PassCount> RunRemoveUnread(Graph& graph, const PassContext&) {
  return {{"layers", RemoveUnread(graph)}};
}

std::vector<PassCount> RunShareEqual(Graph& graph, const PassContext&) {
  return {{"layers", ShareEqual(graph)}};
}

std::vector<PassCount> RunFoldBias(Graph& graph, const PassContext&) {
  return {{"sums", FoldBias(graph)}};
}

std::vector<PassCount> RunFuseQuantization(Graph& graph, const PassContext& context) {
  const FusedQuantization fused = FuseQuantization(graph, context.ort_fused);
  return {{"moves", fused.moves},
          {"products", fused.products},
          {"products to float32", fused.real_products},
          {"products with scales of the run", fused.dynamic_products},
          {"tables", fused.tables},
          {"pairs", fused.pairs},
          {"pairs with float32", fused.real_pairs},
          {"identities", fused.identities}};
}

std::vector<PassCount> RunFoldConstants(Graph& graph, const PassContext& context) {
  const size_t before = graph.layers.size();
  FoldConstants(graph, context.budget);
  return {{"layers of constants", before - graph.layers.size()}};
}

std::vector<PassCount> RunRemoveTransposes(Graph& graph, const PassContext&) {
  const RemovedTransposes transposes = RemoveTransposes(graph);
  return {{"transposes before", transposes.before}, {"transposes after", transposes.after}};
}

std::vector<PassCount> RunMergeTables(Graph& graph, const PassContext&) {
  return {{"layers", MergeTables(graph)}};
}

std::vector<PassCount> RunFoldNormalization(Graph& graph, const PassContext& context) {
  const FoldedNormalization folded = FoldNormalization(graph, context.budget);
  return {{"factors", folded.factors}, {"offsets", folded.offsets}};
}

std::vector<PassCount> RunFuseActivations(Graph& graph, const PassContext&) {
  return {{"clamps", FuseActivations(graph)}};
}

constexpr bool kRequired = true;

constexpr Pass kPasses[] = {
    {"remove-unread", "removes layers that nothing reads", !kRequired, RunRemoveUnread},
    {"share-equal", "computes what is equal once", !kRequired, RunShareEqual},
    {"remove-transposes", "moves transposes until they cancel each other", !kRequired,
     RunRemoveTransposes},
    {"fold-bias", "makes constants behind a product its bias", !kRequired, RunFoldBias},
    {"fuse-quantization", "makes integer layers of dequantized ones", !kRequired,
     RunFuseQuantization},
    {"fold-constants", "computes what follows from constants", kRequired, RunFoldConstants},
    {"remove-transposes", "moves transposes until they cancel each other", !kRequired,
     RunRemoveTransposes},
    {"merge-tables", "makes functions of one quantized tensor one table", !kRequired,
     RunMergeTables},
    {"fold-normalization", "makes factors and offsets of channels weights", !kRequired,
     RunFoldNormalization},
    {"fuse-activations", "makes clamps a part of the layer before", !kRequired, RunFuseActivations},
};

std::string NamesToSwitchOff() {
  std::string names;
  for (const Pass& pass : kPasses) {
    if (pass.required || names.find(pass.name) != std::string::npos) continue;
    names += (names.empty() ? "" : ", ") + std::string(pass.name);
  }
  return names;
}

}  // namespace

std::span<const Pass> ListPasses() { return kPasses; }

Status CheckPassNames(std::span<const std::string> names) {
  for (const std::string& name : names) {
    const auto found = std::find_if(std::begin(kPasses), std::end(kPasses),
                                    [&](const Pass& pass) { return pass.name == name; });
    if (found == std::end(kPasses)) {
      return InvalidArgument("there is no pass '" + name +
                             "'; without one of these models can be " +
                             "read: " + NamesToSwitchOff());
    }
    if (found->required) {
      return InvalidArgument("the pass '" + name + "' is required; without one of these models " +
                             "can be read: " + NamesToSwitchOff());
    }
  }
  return {};
}

std::vector<PassReport> RunPasses(Graph& graph, const PassContext& context,
                                  std::span<const std::string> without) {
  std::vector<PassReport> reports;
  for (const Pass& pass : kPasses) {
    PassReport report;
    report.name = pass.name;
    report.description = pass.description;
    report.required = pass.required;
    report.ran = std::find(without.begin(), without.end(), pass.name) == without.end();
    report.layers_before = graph.layers.size();
    if (report.ran) report.counts = pass.run(graph, context);
    report.layers_after = graph.layers.size();
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace intaglio::nn
