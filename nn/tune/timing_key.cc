#include "intaglio/nn/tune/timing_key.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <thread>
#ifdef __linux__
#include <sched.h>
#endif

#include "intaglio/gemm/describe.h"
#include "intaglio/nn/runtime/backend.h"
#include "intaglio/nn/tune/device_ways.h"
#include "intaglio/nn/tune/hash.h"
#include "intaglio/nn/tune/parameters_digest.h"

namespace intaglio::nn::tune {
namespace {

// A field of a key: characters that are not printable ASCII, and '%', become %XX.
std::string Field(const std::string& text) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string field;
  for (const char c : text) {
    if (c > ' ' && c < 0x7f && c != '%') {
      field += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      field += {'%', kDigits[byte / 16], kDigits[byte % 16]};
    }
  }
  return field.empty() ? "-" : field;
}

// The lines of the first CPU in /proc/cpuinfo, "name : value".
std::map<std::string, std::string> CpuFacts() {
  std::map<std::string, std::string> facts;
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line) && !(line.empty() && !facts.empty());) {
    const size_t colon = line.find(':');
    if (colon == line.npos) continue;
    const std::string name = line.substr(0, line.find_last_not_of(" \t:", colon) + 1);
    facts.try_emplace(name, line.substr(std::min(line.size(), colon + 2)));
  }
  return facts;
}

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string CpuField() {
  const std::map<std::string, std::string> facts = CpuFacts();
  const auto fact = [&](const char* x86, const char* arm) {
    for (const char* const name : {x86, arm}) {
      if (const auto found = facts.find(name); found != facts.end()) return found->second;
    }
    return std::string("?");
  };
  Hash hash;
  hash.Add(fact("flags", "Features"));
  for (const char* const index : {"0", "1", "2", "3"}) {
    hash.Add(FirstLine(std::string("/sys/devices/system/cpu/cpu0/cache/index") + index + "/size"));
  }
  return Field(fact("vendor_id", "CPU implementer") + ":" + fact("cpu family", "CPU architecture") +
               ":" + fact("model", "CPU part") + ":" + fact("stepping", "CPU revision") + ":" +
               ToHex(hash.value()));
}

size_t UsableCpus() {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return static_cast<size_t>(CPU_COUNT(&set));
#endif
  return std::thread::hardware_concurrency();
}

std::string KernelsField() {
  Hash hash;
  for (const KernelInfo& kernel : ListKernels()) {
    hash.Add(kernel.name);
    for (const int part : {kernel.panel_width, kernel.rows, kernel.depth_step}) {
      hash.Add(static_cast<uint64_t>(part));
    }
    hash.Add(uint64_t{kernel.usable});
    hash.Add(kernel.in_order_form);
  }
  return ToHex(hash.value());
}

// "int8[1,12,12,16]", with a c behind a constant.
std::string Describe(const Graph& graph, TensorId id) {
  if (id == kNoTensor) return "none";
  const Tensor& tensor = graph.tensors[static_cast<size_t>(id)];
  std::string text = std::string(NameOf(tensor.type)) + "[";
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    text.append(i == 0 ? "" : ",").append(std::to_string(tensor.shape[i]));
  }
  return text.append(tensor.constant ? "]c" : "]");
}

std::string TensorsField(const Graph& graph, const std::vector<TensorId>& inputs,
                         const std::vector<TensorId>& outputs) {
  std::string text;
  for (const TensorId id : inputs) {
    text.append(text.empty() ? "" : ";").append(Describe(graph, id));
  }
  text += ">";
  for (size_t i = 0; i < outputs.size(); ++i) {
    text.append(i == 0 ? "" : ";").append(Describe(graph, outputs[i]));
  }
  return text;
}

std::string ThreadsField(int threads, int all) {
  return std::to_string(threads) + "/" + std::to_string(all);
}

// Scales and zero points decide which arithmetic a routine may take, but their values do not
// matter much: so the digest knows whether there are several, and whether some are not 0.
void Add(const Tensor& tensor, Hash& hash) {
  const Quantization& q = tensor.quantization;
  hash.Add(q.scales.size());
  hash.Add(static_cast<uint64_t>(std::count(q.zero_points.begin(), q.zero_points.end(), 0)));
}

std::string KeyOfNetwork(const char* says, const Graph& graph, uint64_t digest,
                         const std::string& way, const PrepareOptions& options) {
  Hash network;
  network.Add(digest);
  network.Add(static_cast<uint64_t>(options.float_sums));
  network.Add(static_cast<uint64_t>(options.winograd_weights));
  return std::string(says)
      .append(" ")
      .append(TensorsField(graph, graph.inputs, graph.outputs))
      .append(" ")
      .append(ToHex(network.value()))
      .append(" ")
      .append(way)
      .append(" ")
      .append(Field(options.kernel))
      .append(" ")
      .append(ThreadsField(options.threads, options.threads));
}

}  // namespace

std::string MachineKey() {
  return CpuField() + " " + std::to_string(UsableCpus()) + " " + KernelsField() + " " +
         Field(INTAGLIO_VERSION);
}

std::string LayerKey(const Graph& graph, size_t index, const LayerInfo& info,
                     const LayerChoice& choice, const PrepareOptions& options) {
  const Layer& layer = graph.layers[index];
  Hash hash;
  hash.Add(static_cast<uint64_t>(info.macs));
  hash.Add(static_cast<uint64_t>(info.work));
  AddParameters(layer.op, hash);
  hash.Add(static_cast<uint64_t>(options.float_sums));
  hash.Add(static_cast<uint64_t>(options.winograd_weights));
  hash.Add(static_cast<uint64_t>(LayerView(graph, index).numerics().scaling));
  for (const std::vector<TensorId>& ids : {layer.inputs, layer.outputs}) {
    for (const TensorId id : ids) {
      if (id != kNoTensor) Add(graph.tensors[static_cast<size_t>(id)], hash);
    }
  }
  const int threads = choice.threads == 0 ? options.threads : choice.threads;
  const bool on_device = options.device != nullptr && RunsOnDevice(choice.routine);
  const std::string kernel = on_device               ? options.device->hardware()
                             : choice.kernel.empty() ? info.kernel
                                                     : choice.kernel;
  return Field(NameOf(layer.op)) + " " + TensorsField(graph, layer.inputs, layer.outputs) + " " +
         ToHex(hash.value()) + " " + Field(choice.routine.empty() ? info.routine : choice.routine) +
         " " + Field(kernel) + " " + ThreadsField(threads, options.threads);
}

std::string TransferKey(const Backend& device, size_t bytes, bool to_device) {
  const std::string tensor = "uint8[" + std::to_string(bytes) + "]";
  return std::string(to_device ? "TO_DEVICE " : "TO_HOST ")
      .append(tensor)
      .append(">")
      .append(tensor)
      .append(" - ")
      .append(Field(device.name()))
      .append(" ")
      .append(Field(device.hardware()))
      .append(" 1/1");
}

std::string NetworkKey(const char* says, const Graph& graph, uint64_t digest,
                       const std::vector<RoutineChoice>& choices,
                       const std::vector<size_t>& converted_layers, const PrepareOptions& options) {
  Hash ways;
  for (const RoutineChoice& choice : choices) {
    ways.Add(choice.layer);
    ways.Add(choice.routine);
    ways.Add(choice.kernel);
    ways.Add(static_cast<uint64_t>(choice.threads));
    if (RunsOnDevice(choice.routine)) ways.Add(DeviceName(options));
  }
  for (const size_t layer : converted_layers) ways.Add(uint64_t{layer});
  return KeyOfNetwork(says, graph, digest, ToHex(ways.value()), options);
}

std::string TunedKey(const Graph& graph, uint64_t digest, std::chrono::nanoseconds budget,
                     const PrepareOptions& options) {
  const bool is_given = budget >= std::chrono::nanoseconds(0);
  const std::string way = is_given ? std::to_string(budget.count()) + "ns" : "default";
  return KeyOfNetwork(kTuned, graph, digest, way, options);
}

}  // namespace intaglio::nn::tune
