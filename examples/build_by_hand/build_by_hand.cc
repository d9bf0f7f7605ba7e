// A network written by hand, without a model file: it says whether an 8 x 8 picture shows a
// horizontal or a vertical stroke. Two 3 x 3 edge filters, the mean of each one's response,
// softmax.
#include <intaglio/nn/ops/builder.h>
#include <intaglio/nn/runtime/model.h>

#include <cstdint>
#include <cstdio>
#include <span>
#include <utility>
#include <vector>

namespace {

namespace nn = intaglio::nn;
using intaglio::Result;
using intaglio::Status;
using intaglio::Type;

// Pixels are uint8 from 0 to 1 in steps of 1/255.
Result<nn::Graph> BuildNetwork() {
  nn::Builder b("strokes");
  const nn::Value image =
      b.Input("image", Type::kUInt8, {1, 8, 8, 1}, nn::PerTensor(1.0f / 255, 0));
  const nn::Value pixels = b.Quantize(image, Type::kInt8, nn::PerTensor(1.0f / 255, -128));

  // Second differences down and across, with a scale for each of the two filters.
  const std::vector<int8_t> filters = {-1, -1, -1, 2,  2, 2,  -1, -1, -1,  //
                                       -1, 2,  -1, -1, 2, -1, -1, 2,  -1};
  const nn::Constant filter =
      b.Const<int8_t>("filter", filters, {2, 3, 3, 1}, nn::PerAxis({1.0f, 1.0f}, 0));
  const nn::Value edges =
      b.Conv2D(pixels, filter, nn::kNoBias,
               {.padding = nn::Padding::Same(), .activation = nn::Activation::kRelu},
               nn::PerTensor(6.0f / 255, -128));

  const nn::Value strengths =
      b.Mean(edges, {.axes = {1, 2}, .keep_dims = false}, nn::PerTensor(2.0f / 255, -128));
  const nn::Value scores = b.Softmax(strengths, /*beta=*/4.0f);
  b.Output(b.Dequantize(scores), "scores");
  return b.Finish();
}

int Fail(const Status& status) {
  std::fprintf(stderr, "%s\n", status.message().c_str());
  return 1;
}

// Draws the picture beside the scores.
int Classify(nn::Model& model, const char* name, const std::vector<uint8_t>& picture) {
  std::vector<float> scores(2);
  const nn::InputBuffer inputs[] = {nn::MakeInput<uint8_t>(picture)};
  const nn::OutputBuffer outputs[] = {nn::MakeOutput<float>(scores)};
  if (const Status status = model.Run(inputs, outputs); !status.ok()) return Fail(status);
  std::printf("\n");
  for (size_t y = 0; y < 8; ++y) {
    std::printf("  ");
    for (size_t x = 0; x < 8; ++x) std::printf("%c", picture[y * 8 + x] > 127 ? '#' : '.');
    std::printf("\n");
  }
  std::printf("  %s: horizontal %.3f, vertical %.3f -> %s\n", name, static_cast<double>(scores[0]),
              static_cast<double>(scores[1]), scores[0] > scores[1] ? "horizontal" : "vertical");
  return 0;
}

}  // namespace

int main() {
  Result<nn::Graph> graph = BuildNetwork();
  if (!graph.ok()) return Fail(graph.status());
  Result<nn::Model> model = nn::Model::Prepare(std::move(*graph));
  if (!model.ok()) return Fail(model.status());

  for (const nn::LayerInfo& layer : model->layers()) {
    std::printf("%-28s %-24s %6lld MACs\n", layer.label.c_str(), layer.routine.c_str(),
                static_cast<long long>(layer.macs));
  }
  std::printf("arena: %zu bytes\n", model->arena_bytes());

  std::vector<uint8_t> across(64, 0);
  std::vector<uint8_t> down(64, 0);
  for (size_t i = 1; i < 7; ++i) across[3 * 8 + i] = down[i * 8 + 4] = 255;
  if (const int failed = Classify(*model, "picture 1", across)) return failed;
  return Classify(*model, "picture 2", down);
}
