#include "intaglio/nn/tune/machine.h"

#include <fstream>
#include <span>
#include <string_view>

#include "intaglio/gemm/describe.h"
#include "intaglio/nn/tune/hash.h"

namespace intaglio::nn::tune {
namespace {

// Linux tells.
std::string CpuName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    for (const std::string_view key : {"model name", "CPU part"}) {
      const size_t colon = line.find(": ");
      if (line.rfind(key, 0) == 0 && colon != line.npos) return line.substr(colon + 2);
    }
  }
  return "unknown";
}

void Add(const Tensor& tensor, Hash& hash, bool in_lanes) {
  hash.Add(static_cast<uint64_t>(tensor.type));
  hash.Add(std::span<const int>(tensor.shape));
  hash.Add(std::span<const float>(tensor.quantization.scales));
  if (!tensor.constant) return;
  if (in_lanes) {
    hash.AddMuch(tensor.data, tensor.data_bytes);
  } else {
    hash.Add(tensor.data, tensor.data_bytes);
  }
}

uint64_t Digest(const Graph& graph, bool in_lanes) {
  Hash hash;
  for (const Layer& layer : graph.layers) {
    const std::string_view name = NameOf(layer.op);
    hash.Add(name.data(), name.size());
    hash.Add(std::span<const TensorId>(layer.inputs));
    hash.Add(std::span<const TensorId>(layer.outputs));
  }
  for (const Tensor& tensor : graph.tensors) Add(tensor, hash, in_lanes);
  hash.Add(std::span<const TensorId>(graph.inputs));
  hash.Add(std::span<const TensorId>(graph.outputs));
  return hash.value();
}

}  // namespace

Machine ThisMachine() {
  Machine machine;
  machine.cpu = CpuName();
  for (const KernelInfo& kernel : ListKernels()) {
    if (kernel.usable) machine.kernels.push_back(kernel.name);
  }
  machine.library = INTAGLIO_VERSION;
  return machine;
}

std::string Describe(const Machine& machine) {
  const std::string kernel = machine.kernels.empty() ? "no kernel" : machine.kernels.front();
  return machine.cpu + ", " + kernel + ", Intaglio " + machine.library;
}

uint64_t DigestOf(const Graph& graph) { return Digest(graph, true); }

bool HasDigest(const Graph& graph, uint64_t digest) {
  return digest == DigestOf(graph) || digest == Digest(graph, false);
}

}  // namespace intaglio::nn::tune
