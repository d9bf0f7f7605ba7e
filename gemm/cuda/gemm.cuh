// For nvcc: products finished by pipelines of any stages, the caller's own included, fused in the
// registers of every kernel.
//
// The including file is compiled with -std=c++20 --expt-relaxed-constexpr (the target
// intaglio::cuda brings both), for the devices that it is to run on: kernels for which it has no
// code are not chosen. sm_90a is what Hopper's own kernels need. Its stages' Apply is
// INTAGLIO_INLINE.
#ifndef INTAGLIO_GEMM_CUDA_GEMM_CUH_
#define INTAGLIO_GEMM_CUDA_GEMM_CUH_

#include <string>

#include "intaglio/gemm/cuda/gemm.h"
#include "intaglio/gemm/cuda/plan.h"
#include "intaglio/gemm/cuda/prepared.cuh"
#include "intaglio/kernels/cuda/launch.cuh"
#include "intaglio/pipeline/pipeline.h"

namespace intaglio::cuda {
namespace detail {

template <class Finish>
bool IsCompiledWith(const KernelRow& row, const DeviceProduct& product, const Finish& finish) {
  LaunchOptions ask;
  ask.only_ask = true;
  const bool there = LaunchKernel(row, product, finish, ask) == cudaSuccess;
  if (!there) (void)cudaGetLastError();
  return there;
}

struct FusedCall {
  Canonical call;
  Plan plan;
  PipelineNeeds needs;
};

template <class AnyPipeline>
Result<FusedCall> Arrange(const Stream& stream, const Operand& lhs, const Operand& rhs,
                          const MutableMatrix& dst, const AnyPipeline& pipeline,
                          const Batch& batch) {
  constexpr Type kOutput = TypeOf<typename AnyPipeline::Output>;
  if (dst.type != kOutput) {
    return InvalidArgument(std::string("dst is ") + NameOf(dst.type) + ", the pipeline's output " +
                           NameOf(kOutput));
  }
  auto call = Canonicalize(lhs, rhs, dst, nullptr, batch);
  if (!call.ok()) return call.status();
  PipelineNeeds needs;
  needs.output = kOutput;
  DeviceProduct product;
  product.rows_are_signed = call->rows.type == Type::kInt8;
  const PipelineFinish<AnyPipeline> finish{pipeline};
  auto plan = PlanFor(stream, *call, needs,
                      [&](const KernelRow& row) { return IsCompiledWith(row, product, finish); });
  if (!plan.ok()) return plan.status();
  return FusedCall{*call, *plan, needs};
}

}  // namespace detail

// As Gemm with a StandardPipeline. What the stages point to is in device memory.
template <class... Stages>
Status Gemm(const Stream& stream, const Operand& lhs, const Operand& rhs, const MutableMatrix& dst,
            const Pipeline<Stages...>& pipeline, const Batch& batch = {}) {
  if (const auto standard = pipeline.Standard()) {
    return Gemm(stream, lhs, rhs, dst, *standard, batch);
  }
  auto arranged = detail::Arrange(stream, lhs, rhs, dst, pipeline, batch);
  if (!arranged.ok()) return arranged.status();
  if (dst.rows == 0 || dst.cols == 0 || batch.count == 0) return {};
  auto prepared = Prepare(stream, arranged->call, arranged->plan, arranged->needs, {});
  if (!prepared.ok()) return prepared.status();
  const PipelineFinish<Pipeline<Stages...>> finish{pipeline};
  return Enqueue(
      *prepared,
      [&] { return LaunchKernel(*prepared->kernel, prepared->product, finish, prepared->options); },
      [&](const DeviceProduct& product, const Partials& partials) {
        return LaunchFinish(product, partials, finish, stream.get());
      });
}

template <class... Stages>
Result<size_t> WorkspaceBytes(const Stream& stream, const Operand& lhs, const Operand& rhs,
                              const MutableMatrix& dst, const Pipeline<Stages...>& pipeline,
                              const Batch& batch = {}) {
  if (const auto standard = pipeline.Standard()) {
    return WorkspaceBytes(stream, lhs, rhs, dst, *standard, batch);
  }
  auto arranged = detail::Arrange(stream, lhs, rhs, dst, pipeline, batch);
  if (!arranged.ok()) return arranged.status();
  return arranged->plan.workspace_bytes;
}

}  // namespace intaglio::cuda

#endif  // INTAGLIO_GEMM_CUDA_GEMM_CUH_
