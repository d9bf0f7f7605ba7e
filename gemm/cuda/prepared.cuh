// A product made ready in its stream: operands packed or copied where they had to be, sums and
// parameters on their way. What remains is to launch a kernel with a finish.
#ifndef INTAGLIO_GEMM_CUDA_PREPARED_CUH_
#define INTAGLIO_GEMM_CUDA_PREPARED_CUH_

#include <cuda_runtime_api.h>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/gemm/cuda/error.cuh"
#include "intaglio/gemm/cuda/gemm.h"
#include "intaglio/gemm/cuda/plan.h"
#include "intaglio/kernels/cuda/finish_split.h"
#include "intaglio/kernels/cuda/prepare.cuh"
#include "intaglio/kernels/cuda/standard.cuh"

namespace intaglio::cuda {

struct Prepared {
  const KernelRow* kernel = nullptr;  // null: there is nothing to compute
  DeviceProduct product;
  int32_t* partials = nullptr;  // where accumulators go through memory
  LaunchOptions options;
};

// What PanelParams are to be made of beside sums and zero points.
struct PipelineParams {
  const StandardPipeline* standard = nullptr;  // bias and scaling; null: none
  ScalingForm form = ScalingForm::kNone;
  const PanelParams* bound = nullptr;  // made before
};

// For Gemm and for what makes the same parameters beforehand.
ParamsJob MakeParamsJob(const StandardPipeline* standard, ScalingForm form);

// The form that is exact for any accumulator.
ScalingForm FormOf(Scaling scaling);

Result<Plan> PlanFor(const Stream& stream, const Canonical& call, const PipelineNeeds& needs,
                     const IsThere& is_there);

// Enqueues all that comes before the kernel.
Result<Prepared> Prepare(const Stream& stream, const Canonical& call, const Plan& plan,
                         const PipelineNeeds& needs, const PipelineParams& params);

// Enqueues the kernel by launch(), or where partial sums go to memory, it and then
// from_memory(product, partials).
template <class Launch, class FromMemory>
Status Enqueue(const Prepared& p, const Launch& launch, const FromMemory& from_memory) {
  if (p.kernel == nullptr) return {};
  if (p.partials == nullptr) return ToStatus(launch(), std::string("launching ") + p.kernel->name);
  const DeviceProduct into = IntoPartials(p.product, p.partials);
  const StandardFinish raw{{Type::kInt32, 0, INT32_MIN, INT32_MAX}};
  INTAGLIO_RETURN_IF_CUDA_ERROR(LaunchStandard(*p.kernel, into, raw, p.options),
                                std::string("launching ") + p.kernel->name);
  DeviceProduct whole = p.product;
  whole.splits = 1;
  whole.depth_per_split = whole.depth;
  return ToStatus(from_memory(whole, PartialsOf(into)), "launching the finish");
}

}  // namespace intaglio::cuda

#endif  // INTAGLIO_GEMM_CUDA_PREPARED_CUH_
