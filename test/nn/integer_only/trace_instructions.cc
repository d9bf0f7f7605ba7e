// trace_instructions fit|integer: runs models that have integers only, on every kernel of this
// machine, and prints the addresses of all instructions that Model::Run executed: a line "module
// PATH" per program or library, then its addresses as objdump counts them, one per line. With
// `integer` models are prepared by PrepareOptions::integer_only; with `fit` one model as usual, on
// the best kernel.
//
// The CPU stops after each instruction (the trap flag) and the signal's handler notes where.
#include <dlfcn.h>
#include <signal.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/gemm/describe.h"
#include "intaglio/nn/formats/tflite/reader.h"
#include "intaglio/nn/ops/builder.h"
#include "intaglio/nn/passes/integer_only.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/test/nn/formats/tflite/crafted_models.h"
#include "intaglio/test/nn/ops/golden_file.h"

namespace intaglio::nn {
namespace {

// A set of addresses that a signal's handler may write: open addressing, never full.
constexpr size_t kSlots = size_t{1} << 21;
uintptr_t slots[kSlots];
size_t taken = 0;

void Note(int, siginfo_t*, void* context) {
  const auto* const machine = &static_cast<const ucontext_t*>(context)->uc_mcontext;
  const auto address = static_cast<uintptr_t>(machine->gregs[REG_RIP]);
  size_t slot = (address * 0x9e3779b97f4a7c15) >> 43;
  while (slots[slot] != 0 && slots[slot] != address) slot = (slot + 1) % kSlots;
  if (slots[slot] != 0 || taken == kSlots / 2) return;
  slots[slot] = address;
  ++taken;
}

// Sets or clears the trap flag, bit 8. The stack pointer moves past the red zone first.
inline void SetTrap(bool on) {
  if (on) {
    asm volatile("sub $128, %%rsp; pushfq; orq $256, (%%rsp); popfq; add $128, %%rsp" ::
                     : "memory", "cc");
  } else {
    asm volatile("sub $128, %%rsp; pushfq; andq $-257, (%%rsp); popfq; add $128, %%rsp" ::
                     : "memory", "cc");
  }
}

using Inputs = std::vector<std::vector<uint8_t>>;

bool RunTraced(const Graph& graph, const Inputs& inputs, const PrepareOptions& options) {
  Result<Model> model = Model::Prepare(graph, options);
  if (!model.ok()) return false;
  std::vector<InputBuffer> in;
  std::vector<OutputBuffer> out;
  Inputs outputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    in.push_back({inputs[i].data(), inputs[i].size(), model->input(i).type});
  }
  for (size_t i = 0; i < model->output_count(); ++i) {
    outputs.emplace_back(*CountBytes(model->output(i).shape, model->output(i).type));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    out.push_back({outputs[i].data(), outputs[i].size(), model->output(i).type});
  }
  SetTrap(true);
  const Status status = model->Run(in, out);
  SetTrap(false);
  return status.ok();
}

struct Case {
  Graph graph;
  Inputs inputs;
};

// Convolutions of so many pixels that the engine looks for fits.
Case ManyPixels() {
  constexpr int kSize = 100;
  Builder b("pixels");
  const Quantization q = PerTensor(0.5f, 3);
  std::vector<int8_t> weights(36);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<int8_t>(37 * i + 11);
  const Value x = b.Input("x", Type::kInt8, {1, kSize, kSize, 1}, q);
  const Value y = b.Conv2D(x, b.Const<int8_t>("conv", weights, {4, 3, 3, 1}, PerTensor(0.01f, 0)),
                           kNoBias, {.padding = Padding::Same()}, q);
  const Constant filter = b.Const<int8_t>("depthwise", weights, {1, 3, 3, 4}, PerTensor(0.01f, 0));
  b.Output(b.DepthwiseConv2D(y, filter, kNoBias, {.padding = Padding::Same()}, q), "y");
  std::vector<uint8_t> input(kSize * kSize);
  for (size_t i = 0; i < input.size(); ++i) input[i] = static_cast<uint8_t>(i * 127);
  return {*b.Finish(), {input}};
}

// Every operator with integers, from the golden files, and a few layers in a row. A stop takes
// microseconds: of each operator and type a few models must do.
std::vector<Case> IntegerCases() {
  constexpr int kOfEach = 6;
  std::vector<Case> cases;
  std::map<std::string, int> taken_of;
  const auto add = [&](std::span<const uint8_t> bytes, const std::vector<test::GoldenRun>& runs) {
    Result<Graph> graph = ImportTflite(bytes, nullptr, "case");
    if (!graph.ok() || graph->layers.empty() || !CheckIntegerOnly(*graph).ok()) return;
    const TensorId first = graph->layers[0].inputs.empty() ? kNoTensor : graph->layers[0].inputs[0];
    const std::string type =
        first == kNoTensor ? "" : NameOf(graph->tensors[static_cast<size_t>(first)].type);
    if (++taken_of[NameOf(graph->layers[0].op) + type] > kOfEach) return;
    cases.push_back({std::move(*graph), runs[0].inputs});
  };
  // The graphs refer to these bytes.
  static std::vector<std::vector<test::GoldenCase>> families;
  for (const std::string& path : test::GoldenFiles()) {
    families.push_back(test::ReadGoldenFile(path));
    for (const test::GoldenCase& c : families.back()) {
      if (c.error.empty()) add(c.model, c.runs);
    }
  }
  static const std::vector<uint8_t> network = test::Build(test::SmallNetwork());
  std::vector<uint8_t> ramp(32);
  for (size_t i = 0; i < ramp.size(); ++i) ramp[i] = static_cast<uint8_t>(i * 127);
  add(network, {{{ramp}, {}}});
  return cases;
}

void Print() {
  std::map<std::string, std::vector<uintptr_t>> modules;
  for (const uintptr_t address : slots) {
    Dl_info info = {};
    if (address == 0 || dladdr(reinterpret_cast<void*>(address), &info) == 0) continue;
    modules[info.dli_fname].push_back(address - reinterpret_cast<uintptr_t>(info.dli_fbase));
  }
  for (auto& [path, addresses] : modules) {
    std::printf("module %s\n", path.c_str());
    std::sort(addresses.begin(), addresses.end());
    for (const uintptr_t address : addresses) std::printf("%zx\n", static_cast<size_t>(address));
  }
}

int Main(const std::string& mode) {
  struct sigaction action = {};
  action.sa_sigaction = Note;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, nullptr);
  const bool integer = mode == "integer";
  const std::vector<Case> cases = integer ? IntegerCases() : std::vector<Case>{ManyPixels()};
  size_t runs = 0;
  for (const Case& c : cases) {
    Result<Model> probe = Model::Prepare(c.graph);
    if (!probe.ok()) continue;
    const std::vector<LayerInfo>& layers = probe->layers();
    const bool has_kernel = std::any_of(
        layers.begin(), layers.end(), [](const LayerInfo& layer) { return !layer.kernel.empty(); });
    for (const KernelInfo& kernel : ListKernels()) {
      if (!kernel.usable) continue;
      PrepareOptions options;
      options.kernel = kernel.name;
      options.integer_only = integer;
      runs += RunTraced(c.graph, c.inputs, options) ? 1 : 0;
      if (!has_kernel || !integer) break;
    }
  }
  Print();
  std::fprintf(stderr, "%zu models, %zu runs, %zu instructions\n", cases.size(), runs, taken);
  return runs == 0 || (integer && runs < cases.size()) ? 1 : 0;
}

}  // namespace
}  // namespace intaglio::nn

int main(int argc, char** argv) {
  const std::string mode = argc == 2 ? argv[1] : "";
  if (mode == "fit" || mode == "integer") return intaglio::nn::Main(mode);
  std::fprintf(stderr, "usage: trace_instructions fit|integer\n");
  return 2;
}
