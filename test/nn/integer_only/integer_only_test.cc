// Models prepared for integers only: which are taken, the same bits, and no floating-point
// exception raised. (nn_no_float_instruction looks at every instruction; this runs everywhere.)
#include "intaglio/nn/passes/integer_only.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <string>
#include <vector>

#include "intaglio/gemm/describe.h"
#include "intaglio/nn/formats/tflite/reader.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/test/nn/formats/tflite/crafted_models.h"
#include "intaglio/test/nn/ops/golden_file.h"
#include "intaglio/test/nn/raw_run.h"

namespace intaglio::nn {
namespace {

using test::RawTensors;

// Nearly every floating-point result is inexact, which raises a flag.
RawTensors RunWithoutExceptions(const Graph& graph, const RawTensors& inputs,
                                const std::string& kernel) {
  PrepareOptions options;
  options.kernel = kernel;
  options.integer_only = true;
  RawTensors outputs;
  Result<Model> model = Model::Prepare(graph, options);
  if (!model.ok()) {
    ADD_FAILURE() << model.status().message();
    return outputs;
  }
  std::feclearexcept(FE_ALL_EXCEPT);
  EXPECT_EQ(test::RunRaw(*model, inputs, outputs), "");
  EXPECT_EQ(std::fetestexcept(FE_ALL_EXCEPT), 0);
  return outputs;
}

void ExpectSameBitsOnEveryKernel(const Graph& graph, const RawTensors& inputs) {
  const RawTensors expected = test::RunGraph(graph, inputs);
  for (const KernelInfo& kernel : ListKernels()) {
    if (!kernel.usable) continue;
    SCOPED_TRACE(kernel.name);
    EXPECT_EQ(RunWithoutExceptions(graph, inputs, kernel.name), expected);
  }
}

TEST(IntegerOnly, EveryOperatorRaisesNoFloatingPointException) {
  size_t taken = 0;
  for (const std::string& path : test::GoldenFiles()) {
    for (const test::GoldenCase& c : test::ReadGoldenFile(path)) {
      if (!c.error.empty()) continue;
      const Result<Graph> graph = ImportTflite(c.model, nullptr, "case");
      ASSERT_TRUE(graph.ok()) << graph.status().message();
      if (!CheckIntegerOnly(*graph).ok()) continue;
      SCOPED_TRACE(c.name);
      ExpectSameBitsOnEveryKernel(*graph, c.runs[0].inputs);
      ++taken;
    }
  }
  EXPECT_GT(taken, 200u);
}

TEST(IntegerOnly, ANetworkRaisesNoFloatingPointException) {
  for (const test::ModelSpec& spec : {test::SmallNetwork(), test::SmallUint8()}) {
    const std::vector<uint8_t> bytes = test::Build(spec);
    const Result<Graph> graph = ImportTflite(bytes, nullptr, "network");
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    ExpectSameBitsOnEveryKernel(*graph, test::RandomInputs(*graph, 1));
  }
}

TEST(IntegerOnly, FloatTensorsAreRefused) {
  const std::vector<uint8_t> bytes = test::Build(test::SmallElementwise());
  const Result<Graph> graph = ImportTflite(bytes, nullptr, "small");
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(CheckIntegerOnly(*graph).message(),
            "QUANTIZE #0 'q': needs floating point: input 0 'x' is float32");
  const Result<Model> model = Model::Prepare(*graph, {.integer_only = true});
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.status().message(), CheckIntegerOnly(*graph).message());

  Graph lonely;
  lonely.tensors.resize(1);
  lonely.tensors[0].name = "x";
  lonely.tensors[0].type = Type::kFloat32;
  lonely.inputs = {0};
  EXPECT_EQ(CheckIntegerOnly(lonely).message(), "tensor #0 'x' is float32");
}

}  // namespace
}  // namespace intaglio::nn
