// Integer operators whose scaling is written out become one layer again. Their bits are those of
// quantized.golden (quantized_rescaled.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "intaglio/nn/formats/onnx/reader.h"
#include "intaglio/test/nn/formats/onnx/golden_case.h"
#include "intaglio/test/nn/ops/golden_file.h"

namespace intaglio::nn {
namespace {

constexpr std::string_view kFamily = "Rescaled/";

bool StartsWithOneOf(std::string_view name, const std::vector<std::string_view>& starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [&](std::string_view start) { return name.starts_with(start); });
}

// Whether each tensor that a layer makes has 8 bits, but for outputs.
bool IsOfBytes(const Graph& graph) {
  for (const Layer& layer : graph.layers) {
    for (const TensorId id : layer.outputs) {
      const auto& outputs = graph.outputs;
      if (std::find(outputs.begin(), outputs.end(), id) != outputs.end()) continue;
      if (SizeOf(graph.tensors[static_cast<size_t>(id)].type) != 1) return false;
    }
  }
  return true;
}

TEST(OnnxRescaled, IsOneLayer) {
  // Sums of int32 or int64 stay, and so do results of several readers.
  const std::vector<std::string_view> kept = {"add/", "average_pool/", "fixed_point/", "residual/",
                                              "left/"};
  int fused = 0;
  int left = 0;
  for (const test::GoldenCase& c :
       test::ReadGoldenFile(INTAGLIO_SOURCE_DIR "/test/nn/formats/onnx/quantized.golden")) {
    if (!std::string_view(c.name).starts_with(kFamily)) continue;
    const std::string_view name = std::string_view(c.name).substr(kFamily.size());
    const test::OnnxCase read = test::ReadOnnxCase(c);
    ASSERT_TRUE(read.graph.ok()) << c.name;
    const bool is_kept = StartsWithOneOf(name, kept);
    EXPECT_EQ(IsOfBytes(*read.graph), !is_kept) << c.name;
    ++(is_kept ? left : fused);
  }
  EXPECT_GE(fused, 50);
  EXPECT_GE(left, 14);
}

}  // namespace
}  // namespace intaglio::nn
