// A model gives the same bits with every kernel of this machine, every thread count, and every
// exact routine of its layers.
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/bindings/c/guard.h"
#include "intaglio/bindings/c/model.h"
#include "intaglio/gemm/describe.h"
#include "intaglio/nn/runtime/exact_routines.h"

namespace intaglio::c {
namespace {

using Outputs = std::vector<std::vector<uint8_t>>;

struct Results {
  Outputs outputs;
  nn::FloatSums sums = nn::FloatSums::kUnfused;
};

// Gives all NaN one value: the CPU's instructions choose their sign and payload.
void MakeNanOne(std::vector<uint8_t>& output) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (size_t at = 0; at < output.size(); at += sizeof(float)) {
    float number = 0;
    std::memcpy(&number, output.data() + at, sizeof(number));
    if (std::isnan(number)) std::memcpy(output.data() + at, &kNan, sizeof(kNan));
  }
}

Result<Results> RunOnce(const it_session& session, const std::string& kernel, int threads,
                        nn::FloatSums sums, const std::vector<nn::RoutineChoice>& routines = {}) {
  nn::PrepareOptions options = session.prepare;
  options.kernel = kernel;
  options.threads = threads;
  options.parallel_for = {};
  options.routines.insert(options.routines.end(), routines.begin(), routines.end());
  if (sums == nn::FloatSums::kUnfused) options.float_sums = sums;
  auto model = nn::Model::Prepare(session.model.graph(), options);
  if (!model.ok()) return model.status();
  Outputs outputs;
  std::vector<nn::OutputBuffer> buffers;
  outputs.reserve(model->output_count());
  for (size_t i = 0; i < model->output_count(); ++i) {
    const nn::Tensor& tensor = model->output(i);
    const auto bytes = nn::CountBytes(tensor.shape, tensor.type);
    if (!bytes.ok()) return bytes.status();
    outputs.emplace_back(*bytes);
    buffers.push_back({outputs.back().data(), *bytes, tensor.type});
  }
  INTAGLIO_RETURN_IF_ERROR(model->Run(session.inputs, buffers));
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (model->output(i).type == Type::kFloat32) MakeNanOne(outputs[i]);
  }
  return Results{std::move(outputs), model->float_sums()};
}

// Guard makes IT_INTERNAL of it.
[[noreturn]] void SayThatBitsDiffer(const std::string& what) {
  throw std::runtime_error(what + " gives other bits; please report this");
}

// `expected` is what the portable kernel gives.
Status VerifyRoutines(const it_session& session, const Outputs& expected, int32_t& combinations) {
  for (const std::vector<nn::RoutineChoice>& routines : nn::ExactRoutines(session.model)) {
    const Result<Results> got = RunOnce(session, {}, 1, nn::FloatSums::kUnfused, routines);
    if (!got.ok()) return got.status();
    ++combinations;
    if (got->outputs != expected)
      SayThatBitsDiffer("routine '" + routines[0].routine + "' or another");
  }
  return {};
}

}  // namespace

Status Verify(const it_session& session, int max_threads, int32_t& combinations) {
  combinations = 0;
  const std::vector<KernelInfo> kernels = ListKernels();
  // All kernels can add products of float32 unfused, and then give the bits of the portable kernel.
  // The fused way is compared with its first outputs.
  std::map<nn::FloatSums, Outputs> expected;
  Result<Results> portable = RunOnce(session, kernels.back().name, 1, nn::FloatSums::kUnfused);
  if (!portable.ok()) return portable.status();
  expected.emplace(portable->sums, std::move(portable->outputs));
  const auto verify = [&](const std::string& kernel, nn::FloatSums sums) -> Status {
    for (int threads = 1; threads <= max_threads; ++threads) {
      const Result<Results> got = RunOnce(session, kernel, threads, sums);
      if (!got.ok()) return got.status();
      if (got->sums != sums) return {};  // it does not fuse, or the session shall not
      ++combinations;
      if (got->outputs == expected.try_emplace(sums, got->outputs).first->second) continue;
      SayThatBitsDiffer("kernel " + kernel + " with " + std::to_string(threads) + " threads");
    }
    return {};
  };
  for (const KernelInfo& kernel : kernels) {
    if (!kernel.usable) continue;
    for (const nn::FloatSums sums : {nn::FloatSums::kUnfused, nn::FloatSums::kFused}) {
      INTAGLIO_RETURN_IF_ERROR(verify(kernel.name, sums));
    }
  }
  return VerifyRoutines(session, expected.at(nn::FloatSums::kUnfused), combinations);
}

}  // namespace intaglio::c
