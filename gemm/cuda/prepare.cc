#include <algorithm>
#include <cstdint>
#include <string>

#include "intaglio/gemm/cuda/prepared.cuh"
#include "intaglio/kernels/cuda/image_lines.h"

namespace intaglio::cuda {
namespace {

// Results of 16 channels can be stored at once.
bool WideStores(const Canonical& c) {
  const MutableMatrix& m = c.dst;
  const auto size = static_cast<ptrdiff_t>(SizeOf(m.type));
  return RowsAreContiguous(m) && m.order == Order::kRowMajor &&
         reinterpret_cast<uintptr_t>(m.data) % kChunk == 0 &&
         (m.rows == 1 || m.stride * size % kChunk == 0) &&
         (c.batch == 1 || c.dst_batch * size % kChunk == 0);
}

void SetDestination(const Canonical& c, DeviceProduct& p) {
  const bool row_major = c.dst.order == Order::kRowMajor;
  p.dst = c.dst.data;
  p.dst_row_stride = row_major ? c.dst.stride : 1;
  p.dst_channel_stride = row_major || c.dst.cols == 1 ? 1 : c.dst.stride;
  p.dst_batch = c.dst_batch;
  p.wide_stores = WideStores(c);
  p.channels_along = c.channels_along;
}

class Preparation {
 public:
  Preparation(const Stream& stream, const Canonical& call, const Plan& plan)
      : c_(call),
        plan_(plan),
        stream_(stream.get()),
        base_(static_cast<char*>(stream.workspace())) {
    p_.rows_are_signed = c_.rows.type == Type::kInt8;
    p_.row_count = c_.row_count();
    p_.channel_count = c_.channel_count();
    p_.depth = c_.depth();
    p_.batch = c_.batch;
    p_.row_stride = plan.row_stride;
    p_.row_batch = plan.row_batch;
    p_.channel_batch = plan.channel_batch;
    p_.padded_depth = c_.packed != nullptr ? c_.packed->padded_depth : plan.padded_depth;
    p_.splits = plan.splits;
    p_.depth_per_split = plan.depth_per_split;
    if (c_.from_image) {
      p_.rows_are_image = true;
      p_.image = c_.image;
      p_.whole_chunks = HasWholeChunks(c_.image);
    }
    SetDestination(c_, p_);
  }

  Status Run(const PipelineNeeds& needs, const PipelineParams& params) {
    INTAGLIO_RETURN_IF_CUDA_ERROR(PrepareRows(), "preparing the rows");
    INTAGLIO_RETURN_IF_CUDA_ERROR(PrepareChannels(), "preparing the channels");
    return ToStatus(PrepareParams(needs, params), "preparing the pipeline");
  }
  const DeviceProduct& product() const { return p_; }

 private:
  template <class T>
  T* Part(size_t at) const {
    return at == Plan::kNone ? nullptr : reinterpret_cast<T*>(base_ + at);
  }

  cudaError_t PrepareRows() {
    p_.rows = c_.rows.data;
    if (plan_.rows != Plan::kNone) {
      PackJob job = JobOf(c_.rows);
      job.batch = c_.row_batch == 0 ? 1 : c_.batch;
      job.src_batch = c_.row_batch;
      job.dst = Part<char>(plan_.rows);
      job.dst_stride = plan_.row_stride;
      job.dst_batch = plan_.row_batch;
      job.dst_lines = c_.row_count();
      if (const cudaError_t error = Pack(job, stream_); error != cudaSuccess) return error;
      p_.rows = job.dst;
    }
    p_.row_sums = Part<int32_t>(plan_.row_sums);
    if (p_.row_sums == nullptr) return cudaSuccess;
    if (c_.from_image) return SumWindows(p_, Part<int32_t>(plan_.row_sums), stream_);
    return Sum({p_.rows, p_.row_stride, p_.row_batch, p_.row_count, p_.depth, p_.batch,
                p_.rows_are_signed, false, Part<int32_t>(plan_.row_sums)},
               stream_);
  }

  cudaError_t PrepareChannels() {
    if (c_.packed != nullptr) {
      p_.channels = c_.packed->lines;
      return cudaSuccess;
    }
    PackJob job = JobOf(c_.channels);
    job.batch = channel_copies();
    job.src_batch = c_.channel_batch;
    job.dst = Part<char>(plan_.channels);
    job.dst_stride = plan_.padded_depth;
    job.dst_batch = plan_.channel_batch;
    job.dst_lines = p_.groups() * kChannelGroup;
    job.reorder = true;
    job.flip = c_.channels.type == Type::kUInt8;
    p_.channels = static_cast<const int8_t*>(job.dst);
    if (const cudaError_t error = Pack(job, stream_); error != cudaSuccess) return error;
    if (plan_.channel_sums == Plan::kNone) return cudaSuccess;
    return Sum({job.dst, job.dst_stride, job.dst_batch, job.lines, job.depth, job.batch, true, true,
                Part<int32_t>(plan_.channel_sums)},
               stream_);
  }

  cudaError_t PrepareParams(const PipelineNeeds& needs, const PipelineParams& params) {
    p_.params = params.bound;
    if (needs.bound || plan_.params == Plan::kNone) return cudaSuccess;
    ParamsJob job = MakeParamsJob(params.standard, params.form);
    job.channels = p_.channel_count;
    job.batch = channel_copies();
    job.depth = p_.depth;
    job.rows_zero_point = p_.depth == 0 ? 0 : c_.rows.zero_point;
    if (c_.packed != nullptr) {
      job.sums = c_.packed->sums;
      job.zero_points = c_.packed->zero_points;
    } else {
      job.sums = Part<int32_t>(plan_.channel_sums);
      job.zero_point = StoredZeroPoint(c_.channels);
    }
    job.params = Part<PanelParams>(plan_.params);
    p_.params = job.params;
    p_.params_batch = job.batch > 1 ? p_.groups() : 0;
    return MakeParams(job, stream_);
  }

  int channel_copies() const { return c_.channel_batch == 0 ? 1 : c_.batch; }

  // A matrix whose rows are the lines.
  static PackJob JobOf(const ConstMatrix& m) {
    const bool row_major = m.order == Order::kRowMajor;
    PackJob job{};
    job.src = m.data;
    job.line_stride = row_major ? m.stride : 1;
    job.depth_stride = row_major ? 1 : m.stride;
    job.lines = m.rows;
    job.depth = m.cols;
    return job;
  }

  const Canonical& c_;
  const Plan& plan_;
  cudaStream_t stream_;
  char* base_;
  DeviceProduct p_;
};

}  // namespace

ScalingForm FormOf(Scaling scaling) {
  switch (scaling) {
    case Scaling::kDoubleRounding:
      return ScalingForm::kDoubleRounding;
    case Scaling::kSingleRounding:
      return ScalingForm::kSingleRounding;
    case Scaling::kFloatHalfEven:
      return ScalingForm::kFloatHalfEven;
    case Scaling::kToFloat:
      return ScalingForm::kToFloat;
    case Scaling::kNone:
    case Scaling::kReal64:
      break;
  }
  return ScalingForm::kNone;
}

ParamsJob MakeParamsJob(const StandardPipeline* standard, ScalingForm form) {
  ParamsJob job{};
  job.form = form;
  if (standard == nullptr) return job;
  const StandardPipeline& s = *standard;
  const bool fixed = s.scaling == Scaling::kDoubleRounding || s.scaling == Scaling::kSingleRounding;
  const bool by_float = s.scaling == Scaling::kFloatHalfEven || s.scaling == Scaling::kToFloat;
  job.bias = s.bias;
  job.scaling = s.scaling;
  job.per_channel = s.per_channel;
  if (s.per_channel) {
    job.mantissa = fixed ? s.mantissa : nullptr;
    job.exponent = fixed ? s.exponent : nullptr;
    job.scale = by_float ? s.scale : nullptr;
  } else {
    if (fixed) job.one = {*s.mantissa, *s.exponent, 0};
    if (by_float) job.one.scale = *s.scale;
  }
  return job;
}

Result<Plan> PlanFor(const Stream& stream, const Canonical& call, const PipelineNeeds& needs,
                     const IsThere& is_there) {
  return MakePlan(stream.device(), call, needs, stream.forced_kernel(), stream.forced_splits(),
                  is_there);
}

Result<Prepared> Prepare(const Stream& stream, const Canonical& call, const Plan& plan,
                         const PipelineNeeds& needs, const PipelineParams& params) {
  if (plan.workspace_bytes > stream.workspace_bytes()) {
    return OutOfMemory("the product takes " + std::to_string(plan.workspace_bytes) +
                       " bytes of workspace, the stream has " +
                       std::to_string(stream.workspace_bytes()) + ": call Reserve before");
  }
  Preparation preparation(stream, call, plan);
  INTAGLIO_RETURN_IF_ERROR(preparation.Run(needs, params));
  Prepared prepared;
  prepared.kernel = plan.kernel;
  prepared.product = preparation.product();
  if (plan.partials != Plan::kNone) {
    prepared.partials =
        reinterpret_cast<int32_t*>(static_cast<char*>(stream.workspace()) + plan.partials);
  }
  prepared.options = {stream.get(), false, stream.device().multiprocessors};
  return prepared;
}

}  // namespace intaglio::cuda
