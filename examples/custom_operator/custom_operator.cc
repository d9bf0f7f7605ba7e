// A model with an operator of one's own, written outside the library: it is put into a .tflite
// file, read from there and run.
//
//   example_custom_operator [FILE]
//
// With a name, it also leaves the file, which the command runs with the library beside this
// program:
//   intaglio inspect FILE --operators ./example_hard_shrink.so
#include <intaglio/nn/formats/tflite/reader.h>
#include <intaglio/nn/formats/tflite/writer.h>
#include <intaglio/nn/ops/builder.h>
#include <intaglio/nn/runtime/model.h>

#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include "hard_shrink.h"

namespace {

namespace nn = intaglio::nn;
using intaglio::Result;
using intaglio::Status;
using intaglio::Type;

// Shrinks what 1/16 steps around the zero point 3 make of real numbers, and adds it to itself.
Result<nn::Graph> BuildNetwork() {
  nn::Builder b("shrink");
  const nn::Quantization sixteenths = nn::PerTensor(1.0f / 16, 3);
  const nn::Value x = b.Input("x", Type::kInt8, {1, 9}, sixteenths);
  const nn::Value y = b.Layer(HardShrink{.lambda = 0.5f}, {x.id}, Type::kInt8, sixteenths);
  b.Output(b.Add(y, y, {}, nn::PerTensor(1.0f / 8, 3)), "y");
  return b.Finish();
}

Result<nn::Model> WriteAndRead(const char* path) {
  const Result<nn::Graph> built = BuildNetwork();
  if (!built.ok()) return built.status();
  const nn::ExportOptions write = {.custom_operators = {kHardShrinkInFiles}};
  if (path != nullptr) {
    if (const Status status = nn::SaveTflite(*built, path, write); !status.ok()) return status;
  }
  const auto bytes = nn::ExportTflite(*built, write);
  if (!bytes.ok()) return bytes.status();

  // Whoever does not bring the operator along is told its name.
  const Result<nn::Graph> refused = nn::ImportTflite(*bytes, nullptr, "shrink");
  std::printf("without it: %s\n", refused.status().message().c_str());

  Result<nn::Graph> graph =
      nn::ImportTflite(*bytes, nullptr, "shrink", {.custom_operators = {kHardShrinkInFiles}});
  if (!graph.ok()) return graph.status();
  return nn::Model::Prepare(std::move(*graph));
}

}  // namespace

int main(int argc, char** argv) {
  Result<nn::Model> model = WriteAndRead(argc > 1 ? argv[1] : nullptr);
  if (!model.ok()) {
    std::fprintf(stderr, "%s\n", model.status().message().c_str());
    return 1;
  }
  for (const nn::LayerInfo& layer : model->layers()) {
    std::printf("%-20s %s\n", layer.label.c_str(), layer.routine.c_str());
  }

  // 8 steps of 1/16 are lambda, which becomes 0. The sum has steps of 1/8, so its steps are x's.
  const std::vector<int8_t> x = {-128, -6, -5, 2, 3, 4, 11, 12, 127};
  const std::vector<int8_t> expected = {-128, -6, 3, 3, 3, 3, 3, 12, 127};
  std::vector<int8_t> y(x.size());
  const nn::InputBuffer inputs[] = {nn::MakeInput(x)};
  const nn::OutputBuffer outputs[] = {nn::MakeOutput(y)};
  if (const Status status = model->Run(inputs, outputs); !status.ok()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    return 1;
  }
  for (size_t i = 0; i < x.size(); ++i) std::printf("%5d -> %d\n", x[i], y[i]);
  std::printf("%s\n", y == expected ? "as expected" : "WRONG");
  return y == expected ? 0 : 1;
}
