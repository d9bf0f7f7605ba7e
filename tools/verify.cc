// intaglio verify: a model gives the same bits with every kernel of this machine, every thread
// count and every exact routine of its layers, or on a device. Where a kernel can add products of
// float32 in two ways (nn::FloatSums), both are run.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "intaglio/gemm/describe.h"
#include "intaglio/nn/runtime/exact_routines.h"
#include "intaglio/tools/backend.h"
#include "intaglio/tools/commands.h"
#include "intaglio/tools/input_maker.h"
#include "intaglio/tools/inputs.h"
#include "intaglio/tools/model_io.h"
#include "intaglio/tools/progress.h"

namespace intaglio::tools {
namespace {

constexpr int kMaxThreads = 8;

using OneRun = std::vector<std::vector<uint8_t>>;  // one element per output
using Outputs = std::vector<OneRun>;               // one element per input

struct Results {
  Outputs outputs;
  nn::FloatSums sums = nn::FloatSums::kUnfused;
};

// Gives all NaN one value: the CPU's instructions choose their sign and payload, and no kernel
// promises them.
void MakeNanOne(const nn::Model& model, OneRun& outputs) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (model.output(i).type != Type::kFloat32) continue;
    for (size_t at = 0; at < outputs[i].size(); at += sizeof(float)) {
      float number = 0;
      std::memcpy(&number, outputs[i].data() + at, sizeof(number));
      if (std::isnan(number)) std::memcpy(outputs[i].data() + at, &kNan, sizeof(kNan));
    }
  }
}

// The inputs on which every prepared model runs. The maker is made with the first model.
struct Inputs {
  const VerifyOptions& options;
  std::optional<InputMaker> maker = {};
  int count = 0;
};

Result<Results> RunAll(Inputs& inputs, const nn::PrepareOptions& prepare) {
  Result<nn::Model> model = LoadModel(inputs.options.model, prepare);
  if (!model.ok()) return model.status();
  Buffers buffers(*model);
  const Result<std::vector<bool>> given =
      FillFromFiles(*model, inputs.options.given, false, buffers);
  if (!given.ok()) return given.status();
  const bool made = std::find(given->begin(), given->end(), false) != given->end();
  inputs.count = made || given->empty() ? inputs.options.inputs : 1;
  if (!inputs.maker) inputs.maker.emplace(*model, *given);
  Results results{{}, model->float_sums()};
  for (int i = 0; i < inputs.count; ++i) {
    INTAGLIO_RETURN_IF_ERROR(inputs.maker->Run(static_cast<uint64_t>(i), *model, buffers));
    results.outputs.push_back(buffers.outputs);
    MakeNanOne(*model, results.outputs.back());
  }
  return results;
}

nn::PrepareOptions OnKernel(const std::string& kernel, int threads, nn::FloatSums sums) {
  nn::PrepareOptions prepare;
  prepare.threads = threads;
  prepare.kernel = kernel;
  prepare.float_sums = sums;
  return prepare;
}

// FNV-1a over all outputs, for comparing machines.
uint64_t Digest(const Outputs& outputs) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const auto& run : outputs) {
    for (const std::vector<uint8_t>& output : run) {
      for (const uint8_t byte : output) hash = (hash ^ byte) * 0x100000001b3;
    }
  }
  return hash;
}

// What was compared, and how much of it differed. All kernels can add products of float32 unfused,
// and then give the bits of the portable kernel. The fused way is compared with its first outputs.
struct Comparison {
  Outputs unfused;
  std::optional<Outputs> fused = {};
  int combinations = 0;
  int wrong = 0;

  bool Same(const Results& got) {
    const bool is_fused = got.sums == nn::FloatSums::kFused;
    if (is_fused && !fused) fused = got.outputs;
    ++combinations;
    if (got.outputs == (is_fused ? *fused : unfused)) return true;
    ++wrong;
    return false;
  }

  // Those of the fastest kernel.
  const Outputs& Fastest() const { return fused ? *fused : unfused; }
};

Status VerifyKernel(Inputs& inputs, const std::string& kernel, Progress& progress,
                    Comparison& comparison) {
  std::string differing;
  for (const nn::FloatSums sums : {nn::FloatSums::kUnfused, nn::FloatSums::kFused}) {
    for (int threads = 1; threads <= kMaxThreads; ++threads) {
      progress.Show(kernel + ", " + std::to_string(threads) + " threads");
      const Result<Results> got = RunAll(inputs, OnKernel(kernel, threads, sums));
      if (!got.ok()) return got.status();
      if (got->sums != sums) break;  // it does not fuse, or --unfused-sums was given
      if (!comparison.Same(*got)) differing += " " + std::to_string(threads);
    }
  }
  progress.Show("");
  if (differing.empty()) {
    std::printf("%-20s same bits with 1 to %d threads\n", kernel.c_str(), kMaxThreads);
  } else {
    std::printf("%-20s DIFFERS with threads:%s\n", kernel.c_str(), differing.c_str());
  }
  return {};
}

Status VerifyKernels(Inputs& inputs, Progress& progress, Comparison& comparison) {
  for (const KernelInfo& kernel : ListKernels()) {
    if (kernel.usable) {
      INTAGLIO_RETURN_IF_ERROR(VerifyKernel(inputs, kernel.name, progress, comparison));
    } else {
      progress.Show("");
      std::printf("%-20s skipped: %s\n", kernel.name.c_str(), kernel.why_not.c_str());
    }
  }
  return {};
}

Status VerifyRoutines(Inputs& inputs, Progress& progress, Comparison& comparison) {
  nn::PrepareOptions prepare = OnKernel({}, 1, nn::FloatSums::kUnfused);
  const Result<nn::Model> model = LoadModel(inputs.options.model, prepare);
  if (!model.ok()) return model.status();
  const auto choices = nn::ExactRoutines(*model);
  const size_t networks = choices.size();
  int wrong = 0;
  for (size_t n = 0; n < networks; ++n) {
    progress.Show("routines, " + std::to_string(n + 1) + " of " + std::to_string(networks));
    prepare.routines = choices[n];
    const Result<Results> got = RunAll(inputs, prepare);
    if (!got.ok()) return got.status();
    if (!comparison.Same(*got)) ++wrong;
  }
  progress.Show("");
  if (wrong == 0) {
    std::printf("%-20s same bits with every exact routine of each layer, in %zu runs\n", "routines",
                networks);
  } else {
    std::printf("%-20s DIFFER in %d of %zu runs\n", "routines", wrong, networks);
  }
  return {};
}

Status VerifyDevice(Inputs& inputs, const std::shared_ptr<const nn::Backend>& backend,
                    Progress& progress, Comparison& comparison) {
  progress.Show(inputs.options.backend);
  nn::PrepareOptions prepare;
  prepare.backend = backend;
  const Result<Results> got = RunAll(inputs, prepare);
  if (!got.ok()) return got.status();
  progress.Show("");
  std::printf("%-20s %s\n", inputs.options.backend.c_str(),
              comparison.Same(*got) ? "same bits" : "DIFFERS");
  return {};
}

Status VerifyHost(Inputs& inputs, Progress& progress, Comparison& comparison) {
  INTAGLIO_RETURN_IF_ERROR(VerifyKernels(inputs, progress, comparison));
  return VerifyRoutines(inputs, progress, comparison);
}

}  // namespace

Status Verify(const VerifyOptions& options) {
  const auto backend = BackendOf(options.backend);
  if (!backend.ok()) return backend.status();
  const std::string reference = ListKernels().back().name;  // the slowest: portable C++
  Progress progress;
  progress.Show(reference);
  Inputs inputs{options};
  Result<Results> expected = RunAll(inputs, OnKernel(reference, 1, nn::FloatSums::kUnfused));
  if (!expected.ok()) return expected.status();
  Comparison comparison{std::move(expected->outputs)};
  INTAGLIO_RETURN_IF_ERROR(*backend == nullptr
                               ? VerifyHost(inputs, progress, comparison)
                               : VerifyDevice(inputs, *backend, progress, comparison));
  std::printf("outputs of %d %s: %016llx\n", inputs.count, inputs.count == 1 ? "input" : "inputs",
              static_cast<unsigned long long>(Digest(comparison.Fastest())));
  if (comparison.fused && *comparison.fused != comparison.unfused) {
    std::printf("CPUs without fused multiply-adds add products of float32 to other bits\n");
  }
  if (comparison.wrong == 0) return {};
  return InvalidArgument(
      options.model.path + ": " + std::to_string(comparison.wrong) + " of " +
      std::to_string(comparison.combinations) +
      " combinations of kernel, threads and routines give other bits; please report "
      "this");
}

}  // namespace intaglio::tools
