// What a call does on the device, decided without touching it: kernel, splits, and the layout of
// the workspace.
#ifndef INTAGLIO_GEMM_CUDA_PLAN_H_
#define INTAGLIO_GEMM_CUDA_PLAN_H_

#include <cstddef>
#include <functional>
#include <string>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/gemm/cuda/canonical.h"
#include "intaglio/kernels/cuda/kernel_table_cuda.h"

namespace intaglio::cuda {

// What the pipeline asks of the plan.
struct PipelineNeeds {
  Type output = Type::kInt32;
  bool params = false;     // PanelParams, zero points or not
  bool bound = false;      // they are there already
  bool in_memory = false;  // the pipeline cannot be run in the kernels' registers
};

// Whether a kernel has code for the device.
using IsThere = std::function<bool(const KernelRow&)>;

struct Plan {
  const KernelRow* kernel = nullptr;
  int splits = 1;
  int depth_per_split = 0;
  bool through_memory = false;  // accumulators are stored, and finished by another kernel

  // Parts of the workspace, as offsets; kNone: not needed.
  static constexpr size_t kNone = ~size_t{0};
  size_t rows = kNone;
  size_t channels = kNone;
  size_t channel_sums = kNone;
  size_t row_sums = kNone;
  size_t params = kNone;
  size_t partials = kNone;
  size_t workspace_bytes = 0;
  // Of the operands as the kernel reads them, bytes.
  ptrdiff_t row_stride = 0;
  ptrdiff_t row_batch = 0;
  int padded_depth = 0;
  ptrdiff_t channel_batch = 0;
};

Result<Plan> MakePlan(const DeviceInfo& device, const Canonical& call, const PipelineNeeds& needs,
                      const std::string& forced_kernel, int forced_splits, const IsThere& is_there);

// The time that a product is expected to take, in clocks of the device. Only to compare kernels.
double ExpectedClocks(const KernelRow& row, const DeviceInfo& device, int rows, int channels,
                      int depth, int batch, int splits);

std::string Describe(const Plan& plan);

}  // namespace intaglio::cuda

#endif  // INTAGLIO_GEMM_CUDA_PLAN_H_
