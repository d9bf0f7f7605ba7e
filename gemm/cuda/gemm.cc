#include "intaglio/gemm/cuda/gemm.h"

#include <algorithm>
#include <cstdint>
#include <new>

#include "intaglio/gemm/cuda/prepared.cuh"
#include "intaglio/pack/validate.h"

namespace intaglio::cuda {
namespace {

// A call with the standard pipeline, up to its launch.
struct StandardCall {
  Canonical call;
  Plan plan;
  PipelineNeeds needs;
  PipelineParams params;
};

bool IsCompiled(const KernelRow& row) {
  LaunchOptions ask;
  ask.only_ask = true;
  const bool there = LaunchStandard(row, {}, {}, ask) == cudaSuccess;
  if (!there) (void)cudaGetLastError();
  return there;
}

EpilogueParams EpilogueOf(const StandardPipeline& s) {
  int32_t low = s.clamp_min;
  int32_t high = s.clamp_max;
  if (SizeOf(s.output) < 4) {
    const int32_t lowest = s.output == Type::kInt16 ? -32768 : LowestOf(s.output);
    const int32_t highest = s.output == Type::kInt16 ? 32767 : HighestOf(s.output);
    low = std::clamp(low, lowest, highest);
    high = std::clamp(high, lowest, highest);
  }
  return {s.output, s.zero_point, low, high};
}

// Accumulators as they are.
bool IsPlain(const StandardPipeline& s) {
  return s.bias == nullptr && s.scaling == Scaling::kNone && s.output == Type::kInt32 &&
         s.zero_point == 0 && s.clamp_min == INT32_MIN && s.clamp_max == INT32_MAX;
}

Status CheckOutput(const MutableMatrix& dst, Type output) {
  if (dst.type == output) return {};
  return InvalidArgument(std::string("dst is ") + NameOf(dst.type) + ", the pipeline's output " +
                         NameOf(output));
}

Result<StandardCall> Arrange(const Stream& stream, const Operand& lhs, const Operand& rhs,
                             const MutableMatrix& dst, const StandardPipeline& s,
                             const BoundPipeline::Storage* bound, const Batch& batch) {
  INTAGLIO_RETURN_IF_ERROR(CheckPipeline(s));
  INTAGLIO_RETURN_IF_ERROR(CheckOutput(dst, s.output));
  StandardCall result;
  auto call = Canonicalize(lhs, rhs, dst, &s, batch);
  if (!call.ok()) return call.status();
  result.call = *call;
  const bool along_rows =
      (s.bias != nullptr || s.per_channel) && s.axis != result.call.channels_along;
  result.needs.output = s.output;
  result.needs.in_memory = along_rows || s.scaling == Scaling::kReal64;
  result.needs.params = !result.needs.in_memory && !IsPlain(s);
  result.needs.bound = bound != nullptr;
  if (!result.needs.in_memory) {
    result.params.standard = &s;
    result.params.form = bound != nullptr ? bound->form : FormOf(s.scaling);
  }
  if (bound != nullptr) result.params.bound = bound->params.get();
  auto plan = PlanFor(stream, result.call, result.needs, IsCompiled);
  if (!plan.ok()) return plan.status();
  result.plan = *plan;
  return result;
}

PlainFinish MakePlainFinish(const StandardPipeline& s) {
  PlainFinish finish{s};
  const EpilogueParams epilogue = EpilogueOf(s);
  finish.standard.clamp_min = epilogue.clamp_min;
  finish.standard.clamp_max = epilogue.clamp_max;
  if (s.per_channel) return finish;
  if (s.mantissa != nullptr) finish.mantissa = *s.mantissa;
  if (s.exponent != nullptr) finish.exponent = *s.exponent;
  if (s.scale != nullptr) finish.scale = *s.scale;
  if (s.real != nullptr) finish.real = *s.real;
  return finish;
}

bool IsEmpty(const MutableMatrix& dst, const Batch& batch) {
  return dst.rows == 0 || dst.cols == 0 || batch.count == 0;
}

Status Run(const Stream& stream, const Operand& lhs, const Operand& rhs, const MutableMatrix& dst,
           const StandardPipeline& s, const BoundPipeline::Storage* bound, const Batch& batch) {
  auto arranged = Arrange(stream, lhs, rhs, dst, s, bound, batch);
  if (!arranged.ok()) return arranged.status();
  if (IsEmpty(dst, batch)) return {};
  auto prepared =
      Prepare(stream, arranged->call, arranged->plan, arranged->needs, arranged->params);
  if (!prepared.ok()) return prepared.status();
  const StandardFinish finish{EpilogueOf(s)};
  return Enqueue(
      *prepared,
      [&] {
        return LaunchStandard(*prepared->kernel, prepared->product, finish, prepared->options);
      },
      [&](const DeviceProduct& product, const Partials& partials) {
        if (arranged->needs.in_memory) {
          return FinishPlain(product, partials, MakePlainFinish(s), stream.get());
        }
        return FinishStandard(product, partials, finish, stream.get());
      });
}

Status CheckBound(const Operand& lhs, const Operand& rhs, const BoundPipeline& pipeline) {
  const BoundPipeline::Storage* bound = pipeline.storage();
  if (bound == nullptr) return InvalidArgument("the pipeline is bound to nothing");
  const bool on_left = lhs.packed() != nullptr;
  const Operand& packed = on_left ? lhs : rhs;
  const ConstMatrix& other = (on_left ? rhs : lhs).matrix();
  if (packed.packed() != &bound->matrix.data()) {
    return InvalidArgument("the pipeline was bound to another packed matrix");
  }
  if (other.type != bound->operand_type || other.zero_point != bound->operand_zero_point) {
    return InvalidArgument(std::string("the pipeline was bound to operands of ") +
                           NameOf(bound->operand_type) + " with zero point " +
                           std::to_string(bound->operand_zero_point));
  }
  return {};
}

}  // namespace

Status Gemm(const Stream& stream, const Operand& lhs, const Operand& rhs, const MutableMatrix& dst,
            const StandardPipeline& pipeline, const Batch& batch) {
  return Run(stream, lhs, rhs, dst, pipeline, nullptr, batch);
}

Status Gemm(const Stream& stream, const Operand& lhs, const Operand& rhs, const MutableMatrix& dst,
            const BoundPipeline& pipeline, const Batch& batch) {
  INTAGLIO_RETURN_IF_ERROR(CheckBound(lhs, rhs, pipeline));
  return Run(stream, lhs, rhs, dst, pipeline.storage()->pipeline, pipeline.storage(), batch);
}

Result<size_t> WorkspaceBytes(const Stream& stream, const Operand& lhs, const Operand& rhs,
                              const MutableMatrix& dst, const StandardPipeline& pipeline,
                              const Batch& batch) {
  auto arranged = Arrange(stream, lhs, rhs, dst, pipeline, nullptr, batch);
  if (!arranged.ok()) return arranged.status();
  return arranged->plan.workspace_bytes;
}

Result<size_t> WorkspaceBytes(const Stream& stream, const Operand& lhs, const Operand& rhs,
                              const MutableMatrix& dst, const BoundPipeline& pipeline,
                              const Batch& batch) {
  INTAGLIO_RETURN_IF_ERROR(CheckBound(lhs, rhs, pipeline));
  auto arranged =
      Arrange(stream, lhs, rhs, dst, pipeline.storage()->pipeline, pipeline.storage(), batch);
  if (!arranged.ok()) return arranged.status();
  return arranged->plan.workspace_bytes;
}

Result<std::string> DescribeGemm(const Stream& stream, const Operand& lhs, const Operand& rhs,
                                 const MutableMatrix& dst, const StandardPipeline& pipeline,
                                 const Batch& batch) {
  auto arranged = Arrange(stream, lhs, rhs, dst, pipeline, nullptr, batch);
  if (!arranged.ok()) return arranged.status();
  return Describe(arranged->plan);
}

}  // namespace intaglio::cuda
