// What the README recommends of intaglio::nn: this program builds, writes, reads, splits, checks
// and runs a network.
#include <intaglio/nn/formats/tflite/reader.h>
#include <intaglio/nn/formats/tflite/writer.h>
#include <intaglio/nn/ops/builder.h>
#include <intaglio/nn/passes/integer_only.h>
#include <intaglio/nn/passes/partition.h>
#include <intaglio/nn/runtime/model.h>

#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

int main() {
  using namespace intaglio;
  nn::Builder b("twice");
  const nn::Value x = b.Input("x", Type::kInt8, {1, 4}, nn::PerTensor(0.5f, 0));
  b.Output(b.Add(x, x, {}, nn::PerTensor(1.0f, 0)), "y");
  const Result<nn::Graph> built = b.Finish();
  if (!built.ok()) return 1;
  const auto bytes = nn::ExportTflite(*built);
  if (!bytes.ok()) return 1;
  const auto read = nn::ImportTflite(*bytes, nullptr, "twice");
  if (!read.ok() || !nn::CheckIntegerOnly(*read).ok()) return 1;
  auto parts = nn::Partition(*read);
  if (!parts.ok()) return 1;
  auto model = nn::Model::Prepare(std::move(parts->quantized_main), {.integer_only = true});
  if (!model.ok()) return 1;
  const std::vector<int8_t> in = {1, -2, 3, 100};
  std::vector<int8_t> out(4);
  const nn::InputBuffer inputs[] = {nn::MakeInput<int8_t>(in)};
  const nn::OutputBuffer outputs[] = {nn::MakeOutput<int8_t>(out)};
  if (!model->Run(inputs, outputs).ok()) return 1;
  std::printf("%d %d %d %d\n", out[0], out[1], out[2], out[3]);
  return out == in ? 0 : 1;
}
