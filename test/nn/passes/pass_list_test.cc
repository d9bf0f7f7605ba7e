#include "intaglio/nn/passes/pass_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "intaglio/nn/ops/builder.h"

namespace intaglio::nn {
namespace {

using Names = std::vector<std::string>;

// Two transposes that cancel each other.
Graph Transposed() {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {2, 3});
  const Value t = b.Layer(Transpose{{1, 0}}, {x.id}, Type::kFloat32, {});
  const Value r = b.Layer(Relu{}, {t.id}, Type::kFloat32, {});
  b.Output(b.Layer(Transpose{{1, 0}}, {r.id}, Type::kFloat32, {}), "y");
  Result<Graph> graph = b.Finish();
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return graph.ok() ? *graph : Graph{};
}

std::vector<PassReport> RunOn(Graph& graph, const Names& without = {}) {
  FoldBudget budget(1 << 20, 1 << 20);
  return RunPasses(graph, {budget}, without);
}

const PassReport& ReportOf(const std::vector<PassReport>& reports, const std::string& name) {
  for (const PassReport& report : reports) {
    if (report.name == name) return report;
  }
  static const PassReport kNone;
  ADD_FAILURE() << "no report of " << name;
  return kNone;
}

TEST(PassList, EachNameStandsForOnePass) {
  for (const Pass& a : ListPasses()) {
    EXPECT_NE(std::string(a.description), "") << a.name;
    for (const Pass& b : ListPasses()) {
      EXPECT_EQ(std::string(a.name) == b.name, a.run == b.run) << a.name << " and " << b.name;
    }
  }
}

// Images whose channels come first: QUANTIZE follows RELU, and not the convolution.
TEST(PassList, FusesGroupsThatTransposesCut) {
  Builder b;
  const auto real = [&](Operator op, std::vector<TensorId> inputs) {
    return b.Layer(std::move(op), std::move(inputs), Type::kFloat32, {}).id;
  };
  const TensorId x = b.Input("x", Type::kUInt8, {1, 4, 5, 5}, PerTensor(0.1f, 3)).id;
  const std::vector<int8_t> numbers(8, 2);
  const TensorId weights = b.Const<int8_t>("w", numbers, {2, 1, 1, 4}, PerTensor(0.1f, 0)).id;
  const TensorId images = real(Transpose{{0, 2, 3, 1}}, {real(Dequantize{}, {x})});
  const TensorId sums = real(Conv2D{}, {images, real(Dequantize{}, {weights})});
  const TensorId clamped = real(Relu{}, {real(Transpose{{0, 3, 1, 2}}, {sums})});
  const Value q = b.Layer(Quantize{}, {clamped}, Type::kUInt8, PerTensor(0.2f, 0));
  b.Output(b.Layer(Transpose{{0, 2, 3, 1}}, {q.id}, Type::kUInt8, PerTensor(0.2f, 0)), "y");
  Result<Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  for (Layer& layer : graph->layers) {
    if (layer.op.Is<Quantize>() || layer.op.Is<Dequantize>()) {
      layer.numerics = Numerics{.scaling = Scaling::kFloatHalfEven};
    }
  }
  const std::vector<PassReport> reports = RunOn(*graph);
  EXPECT_EQ(ReportOf(reports, "fuse-quantization").counts[1].what, "products");
  EXPECT_EQ(ReportOf(reports, "fuse-quantization").counts[1].count, 1u);
  const auto is_real = [&](const Layer& layer) {
    return graph->tensors[static_cast<size_t>(layer.outputs[0])].type == Type::kFloat32;
  };
  EXPECT_TRUE(std::none_of(graph->layers.begin(), graph->layers.end(), is_real));
}

TEST(PassList, ReportsWhatEachPassDid) {
  Graph graph = Transposed();
  const std::vector<PassReport> reports = RunOn(graph);
  ASSERT_EQ(reports.size(), ListPasses().size());
  for (size_t i = 0; i < reports.size(); ++i) {
    EXPECT_EQ(reports[i].name, ListPasses()[i].name);
    EXPECT_TRUE(reports[i].ran);
    EXPECT_FALSE(reports[i].counts.empty()) << reports[i].name;
    if (i > 0) {
      EXPECT_EQ(reports[i].layers_before, reports[i - 1].layers_after);
    }
  }
  EXPECT_EQ(reports.back().layers_after, graph.layers.size());
  const PassReport& transposes = ReportOf(reports, "remove-transposes");
  EXPECT_EQ(transposes.layers_before, 3u);
  EXPECT_EQ(transposes.layers_after, 2u);  // the output keeps its tensor: RESHAPE
  EXPECT_EQ(transposes.counts[0].count, 2u);
  EXPECT_EQ(transposes.counts[1].count, 0u);
}

TEST(PassList, LeavesOutWhatIsSwitchedOff) {
  Graph graph = Transposed();
  for (const PassReport& report : RunOn(graph, {"remove-transposes"})) {
    EXPECT_EQ(report.ran, report.name != "remove-transposes") << report.name;
    EXPECT_EQ(report.counts.empty(), !report.ran) << report.name;
  }
  EXPECT_EQ(graph.layers.size(), 3u);
}

TEST(PassList, RefusesNamesThatCannotBeSwitchedOff) {
  EXPECT_TRUE(CheckPassNames({}).ok());
  EXPECT_TRUE(CheckPassNames(Names{"remove-transposes", "remove-transposes"}).ok());
  const std::string unknown = CheckPassNames(Names{"remove-transpose"}).message();
  const std::string required = CheckPassNames(Names{"fold-constants"}).message();
  EXPECT_EQ(unknown.find("there is no pass 'remove-transpose'"), 0u) << unknown;
  EXPECT_EQ(required.find("the pass 'fold-constants' is required"), 0u) << required;
  for (const Pass& pass : ListPasses()) {
    EXPECT_EQ(unknown.find(std::string(" ") + pass.name) == std::string::npos, pass.required)
        << unknown;
  }
}

}  // namespace
}  // namespace intaglio::nn
