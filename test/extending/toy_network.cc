// A network of one toy operator goes through a .tflite file and runs.
#include <intaglio/nn/formats/tflite/reader.h>
#include <intaglio/nn/formats/tflite/writer.h>
#include <intaglio/nn/ops/builder.h>
#include <intaglio/nn/runtime/model.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

using intaglio::Status;
using intaglio::Type;

Status Run(std::string& printed) {
  using namespace intaglio::nn;
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {3});
  b.Output(b.Layer(Toy{3}, {x.id}, Type::kFloat32, {}), "y");
  const auto graph = b.Finish();
  if (!graph.ok()) return graph.status();
  const auto file = ExportTflite(*graph);
  if (!file.ok()) return file.status();
  auto read = ImportTflite(*file, nullptr, "toy");
  if (!read.ok()) return read.status();
  auto model = Model::Prepare(std::move(*read));
  if (!model.ok()) return model.status();
  const std::vector<float> in = {1, -2, 0.5f};
  std::vector<float> out(3);
  const InputBuffer inputs[] = {MakeInput(in)};
  const OutputBuffer outputs[] = {MakeOutput(out)};
  INTAGLIO_RETURN_IF_ERROR(model->Run(inputs, outputs));
  const auto& layer = model->layers()[0];
  const bool right = out == std::vector<float>{3, -6, 1.5f};
  printed = layer.operator_name + " " + layer.routine + ": " + (right ? "right" : "wrong");
  return {};
}

}  // namespace

int main() {
  std::string printed;
  const Status status = Run(printed);
  std::printf("%s\n", status.ok() ? printed.c_str() : status.message().c_str());
  return status.ok() ? 0 : 1;
}
