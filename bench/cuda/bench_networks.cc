// Whole networks of int8 on the device: images per second.
//   bench_networks_cuda [batch, 64]
// All layers are captured as one CUDA graph and replayed; inputs and outputs stay on the device, as
// the weights do. A network's logits are compared with the CPU's first, at batch 2.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/bench/cuda/networks.h"
#include "intaglio/bench/cuda/timing.h"
#include "intaglio/nn/cuda/backend.h"
#include "intaglio/nn/runtime/model.h"

namespace intaglio::bench {
namespace {

using MakeNetwork = Result<nn::Graph> (*)(int batch, int side, int width);

void Require(const Status& status, const char* what) {
  if (status.ok()) return;
  std::fprintf(stderr, "bench_networks_cuda: %s: %s\n", what, status.message().c_str());
  std::exit(1);
}

using BackendPointer = std::shared_ptr<const nn::Backend>;

nn::Model Prepare(MakeNetwork make, int batch, const BackendPointer& backend) {
  Result<nn::Graph> graph = make(batch, 224, 1);
  Require(graph.status(), "the network");
  nn::PrepareOptions options;
  options.threads = 8;
  options.backend = backend;
  Result<nn::Model> model = nn::Model::Prepare(std::move(*graph), options);
  Require(model.status(), "Prepare");
  return std::move(*model);
}

std::vector<int8_t> Logits(nn::Model& model) {
  std::mt19937 random(5);
  std::vector<int8_t> in(*nn::CountBytes(model.input(0).shape, Type::kInt8));
  for (auto& x : in) x = static_cast<int8_t>(random());
  std::vector<int8_t> out(*nn::CountBytes(model.output(0).shape, Type::kInt8));
  const nn::InputBuffer input = nn::MakeInput<int8_t>(in);
  const nn::OutputBuffer output = nn::MakeOutput<int8_t>(out);
  Require(model.Run({&input, 1}, {&output, 1}), "Run");
  return out;
}

bool SameAsOnCpu(MakeNetwork make, const BackendPointer& backend) {
  nn::Model device = Prepare(make, 2, backend);
  nn::Model cpu = Prepare(make, 2, nullptr);
  return Logits(device) == Logits(cpu);
}

int64_t MacsOf(const nn::Model& model) {
  int64_t macs = 0;
  for (const nn::LayerInfo& layer : model.layers()) macs += layer.macs;
  return macs;
}

// False where the results differ.
bool Measure(const char* name, MakeNetwork make, int batch, cudaStream_t stream,
             const BackendPointer& backend) {
  const bool same = SameAsOnCpu(make, backend);
  nn::Model model = Prepare(make, batch, backend);
  (void)Logits(model);
  constexpr int kRunsPerReplay = 4;
  Contender whole(name, stream, kRunsPerReplay,
                  [&](int) { return model.RunLayersForTiming().ok(); });
  for (int i = 0; i < 15; ++i) whole.Measure();
  const double us = whole.Median();
  std::printf("%s, batch %d: %.1f us, %.0f images/s, %.1f TOPS, results %s\n", name, batch, us,
              batch / us * 1e6, 2e-6 * static_cast<double>(MacsOf(model)) / us,
              same ? "equal the CPU's" : "DIFFER from the CPU's");
  for (const nn::LayerInfo& layer : model.layers()) {
    std::printf("  %-24s %-24s %s\n", layer.operator_name.c_str(), layer.routine.c_str(),
                layer.kernel.c_str());
  }
  std::fflush(stdout);
  return same;
}

int Main(int batch) {
  cudaStream_t stream = nullptr;  // the default stream cannot be captured
  if (cudaStreamCreate(&stream) != cudaSuccess) (void)cudaGetLastError();
  const auto backend = nn::cuda::MakeBackend(stream);
  if (!backend.ok()) {
    std::printf("bench_networks_cuda: SKIPPED: %s\n", backend.status().message().c_str());
    return 77;
  }
  const bool resnet = Measure("ResNet-50", ResNet50, batch, stream, *backend);
  const bool mobilenet = Measure("MobileNet v1", MobileNetV1, batch, stream, *backend);
  return resnet && mobilenet ? 0 : 1;
}

}  // namespace
}  // namespace intaglio::bench

int main(int argc, char** argv) {
  const int batch = argc > 1 ? std::atoi(argv[1]) : 64;
  if (argc > 2 || batch < 1) {
    std::fprintf(stderr, "usage: bench_networks_cuda [batch]\n");
    return 2;
  }
  return intaglio::bench::Main(batch);
}
