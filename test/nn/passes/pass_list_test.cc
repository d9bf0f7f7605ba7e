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

TEST(PassList, EachPassHasANameAndADescription) {
  Names names;
  for (const Pass& pass : ListPasses()) {
    EXPECT_EQ(std::count(names.begin(), names.end(), pass.name), 0) << pass.name;
    names.push_back(pass.name);
    EXPECT_NE(std::string(pass.description), "") << pass.name;
  }
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
  const PassReport report = ReportOf(RunOn(graph, {"remove-transposes"}), "remove-transposes");
  EXPECT_FALSE(report.ran);
  EXPECT_TRUE(report.counts.empty());
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
