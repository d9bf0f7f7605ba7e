#include "intaglio/gemm/cuda/packed_matrix.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "intaglio/gemm/cuda/memory.h"
#include "intaglio/gemm/cuda/prepared.cuh"
#include "intaglio/kernels/cuda/layout.h"
#include "intaglio/pack/panels.h"
#include "intaglio/pack/validate.h"

namespace intaglio::cuda {
namespace {

// One allocation, in parts.
struct PackedStorage {
  PackedChannels data;
  std::shared_ptr<void> memory;
};

Result<std::vector<int32_t>> StoredZeroPoints(const ConstMatrix& channels,
                                              std::span<const int32_t> of_channels) {
  const int32_t moved = channels.type == Type::kUInt8 ? 128 : 0;
  std::vector<int32_t> stored(static_cast<size_t>(channels.rows), channels.zero_point - moved);
  if (of_channels.empty()) return stored;
  if (of_channels.size() != stored.size()) {
    return InvalidArgument(std::to_string(of_channels.size()) + " zero points for " +
                           std::to_string(stored.size()) + " channels");
  }
  for (size_t i = 0; i < stored.size(); ++i) {
    INTAGLIO_RETURN_IF_ERROR(ValidateZeroPoint(of_channels[i], channels.type));
    stored[i] = of_channels[i] - moved;
  }
  return stored;
}

Status Fill(cudaStream_t stream, const ConstMatrix& channels,
            const std::vector<int32_t>& zero_points, PackedChannels& data,
            unsigned long long* magnitude) {
  const bool row_major = channels.order == Order::kRowMajor;
  PackJob job{};
  job.src = channels.data;
  job.line_stride = row_major ? channels.stride : 1;
  job.depth_stride = row_major ? 1 : channels.stride;
  job.lines = channels.rows;
  job.depth = channels.cols;
  job.batch = 1;
  job.dst = data.lines;
  job.dst_stride = data.padded_depth;
  job.dst_lines = RoundUp(data.channels, kChannelGroup);
  job.reorder = true;
  job.flip = channels.type == Type::kUInt8;
  INTAGLIO_RETURN_IF_CUDA_ERROR(Pack(job, stream), "packing");
  INTAGLIO_RETURN_IF_CUDA_ERROR(
      Sum({data.lines, data.padded_depth, 0, data.channels, data.depth, 1, true, true, data.sums},
          stream),
      "summing");
  INTAGLIO_RETURN_IF_CUDA_ERROR(
      cudaMemcpyAsync(data.zero_points, zero_points.data(), zero_points.size() * sizeof(int32_t),
                      cudaMemcpyHostToDevice, stream),
      "copying zero points");
  INTAGLIO_RETURN_IF_CUDA_ERROR(cudaMemsetAsync(magnitude, 0, sizeof *magnitude, stream),
                                "clearing");
  INTAGLIO_RETURN_IF_CUDA_ERROR(Magnitude(data.lines, data.padded_depth, data.channels, data.depth,
                                          data.zero_points, magnitude, stream),
                                "measuring");
  unsigned long long found = 0;
  INTAGLIO_RETURN_IF_CUDA_ERROR(
      cudaMemcpyAsync(&found, magnitude, sizeof found, cudaMemcpyDeviceToHost, stream),
      "measuring");
  INTAGLIO_RETURN_IF_CUDA_ERROR(cudaStreamSynchronize(stream), "packing");
  data.magnitude = static_cast<int64_t>(found);
  return {};
}

Result<PackedMatrix> PackChannels(const Stream& stream, Side side, const ConstMatrix& channels,
                                  std::span<const int32_t> channel_zero_points,
                                  PackedMatrix (*make)(Side,
                                                       std::shared_ptr<const PackedChannels>)) {
  auto zero_points = StoredZeroPoints(channels, channel_zero_points);
  if (!zero_points.ok()) return zero_points.status();
  auto storage = std::make_shared<PackedStorage>();
  PackedChannels& data = storage->data;
  data.channels = channels.rows;
  data.depth = channels.cols;
  data.padded_depth = RoundUp(channels.cols, kDepthUnit);
  const size_t lines = static_cast<size_t>(RoundUp(data.channels, kChannelGroup));
  const size_t line_bytes = lines * static_cast<size_t>(data.padded_depth);
  const size_t column_bytes = lines * sizeof(int32_t);
  data.bytes = line_bytes + 2 * column_bytes + sizeof(unsigned long long);
  auto memory = Allocate(data.bytes);
  if (!memory.ok()) return memory.status();
  storage->memory = *memory;
  auto* base = static_cast<char*>(memory->get());
  data.lines = reinterpret_cast<int8_t*>(base);
  data.sums = reinterpret_cast<int32_t*>(base + line_bytes);
  data.zero_points = reinterpret_cast<int32_t*>(base + line_bytes + column_bytes);
  if (data.channels > 0 && data.depth > 0) {
    INTAGLIO_RETURN_IF_ERROR(
        Fill(stream.get(), channels, *zero_points, data,
             reinterpret_cast<unsigned long long*>(base + line_bytes + 2 * column_bytes)));
  }
  if (std::all_of(zero_points->begin(), zero_points->end(), [](int32_t z) { return z == 0; }) ||
      data.depth == 0) {
    data.zero_points = nullptr;
  }
  return make(side, std::shared_ptr<const PackedChannels>(storage, &storage->data));
}

ScalingForm BoundedForm(const StandardPipeline& s, const PipelineFacts& facts, int64_t bound) {
  const int32_t exponent = facts.exponent_plus_32 - 32;
  float scale = 0;
  std::memcpy(&scale, &facts.scale_bits, sizeof scale);
  switch (s.scaling) {
    case Scaling::kDoubleRounding:
      return exponent <= 0 && bound < (1 << 30) ? ScalingForm::kDoubleRoundingBounded
                                                : ScalingForm::kDoubleRounding;
    case Scaling::kSingleRounding:
      return exponent < 0 ? ScalingForm::kSingleRoundingBounded : ScalingForm::kSingleRounding;
    case Scaling::kFloatHalfEven:
      // As in gemm/plan/panel_params.cc.
      return static_cast<double>(bound) * static_cast<double>(scale) <
                     2147483648.0 * (1 - std::ldexp(1.0, -22))
                 ? ScalingForm::kFloatHalfEvenBounded
                 : ScalingForm::kFloatHalfEven;
    default:
      return FormOf(s.scaling);
  }
}

// The device's arrays looked at once; single multipliers are checked where they lie.
Result<PipelineFacts> FactsOf(cudaStream_t stream, const ParamsJob& job) {
  auto memory = Allocate(sizeof(PipelineFacts));
  if (!memory.ok()) return memory.status();
  auto* facts = static_cast<PipelineFacts*>(memory->get());
  PipelineFacts found{};
  INTAGLIO_RETURN_IF_CUDA_ERROR(cudaMemsetAsync(facts, 0, sizeof *facts, stream), "clearing");
  INTAGLIO_RETURN_IF_CUDA_ERROR(Inspect(job, facts, stream), "inspecting the pipeline");
  INTAGLIO_RETURN_IF_CUDA_ERROR(
      cudaMemcpyAsync(&found, facts, sizeof found, cudaMemcpyDeviceToHost, stream),
      "inspecting the pipeline");
  INTAGLIO_RETURN_IF_CUDA_ERROR(cudaStreamSynchronize(stream), "inspecting the pipeline");
  if (!job.per_channel) {
    found.exponent_plus_32 = job.one.exponent + 32;
    std::memcpy(&found.scale_bits, &job.one.scale, sizeof found.scale_bits);
  }
  if (found.bad_channel > 0) {
    return InvalidArgument("multiplier of channel " +
                           std::to_string(job.channels - found.bad_channel) + " is out of range");
  }
  return found;
}

}  // namespace

Result<PackedMatrix> PackedMatrix::Pack(const Stream& stream, Side side, const ConstMatrix& matrix,
                                        std::span<const int32_t> channel_zero_points) {
  INTAGLIO_RETURN_IF_ERROR(ValidateOperand(matrix, "matrix"));
  if (matrix.rows > kMaxExtent || matrix.cols > kMaxExtent) {
    return InvalidArgument("a matrix of " + std::to_string(matrix.rows) + " x " +
                           std::to_string(matrix.cols));
  }
  try {
    return PackChannels(stream, side, side == Side::kLhs ? matrix : Transposed(matrix),
                        channel_zero_points,
                        [](Side s, std::shared_ptr<const PackedChannels> data) {
                          return PackedMatrix(s, std::move(data));
                        });
  } catch (const std::bad_alloc&) {
    return OutOfMemory("no memory to pack a matrix");
  }
}

Result<BoundPipeline> BoundPipeline::Bind(const Stream& stream, const PackedMatrix& matrix,
                                          const StandardPipeline& pipeline, Type operand_type,
                                          int32_t operand_zero_point) {
  const PackedChannels& data = matrix.data();
  const Axis axis = matrix.side() == Side::kLhs ? Axis::kRows : Axis::kCols;
  INTAGLIO_RETURN_IF_ERROR(CheckPipeline(pipeline));
  if (operand_type != Type::kInt8 && operand_type != Type::kUInt8) {
    return Unsupported(std::string("bound pipeline: operands of ") + NameOf(operand_type));
  }
  INTAGLIO_RETURN_IF_ERROR(ValidateZeroPoint(operand_zero_point, operand_type));
  if ((pipeline.bias != nullptr || pipeline.per_channel) && pipeline.axis != axis) {
    return InvalidArgument("bound pipeline: its channels are not those of the packed matrix");
  }
  if (pipeline.scaling == Scaling::kReal64) {
    return Unsupported("bound pipeline: float64 multipliers");
  }
  try {
    ParamsJob job = MakeParamsJob(&pipeline, ScalingForm::kNone);
    job.channels = data.channels;
    job.batch = 1;
    job.depth = data.depth;
    job.sums = data.sums;
    job.zero_points = data.zero_points;
    job.rows_zero_point = data.depth == 0 ? 0 : operand_zero_point;
    const auto groups = static_cast<size_t>(DivideUp(data.channels, kChannelGroup));
    auto memory = Allocate(groups * sizeof(PanelParams));
    if (!memory.ok()) return memory.status();
    job.params = static_cast<PanelParams*>(memory->get());
    if (groups > 0) {
      auto facts = FactsOf(stream.get(), job);
      if (!facts.ok()) return facts.status();
      const int64_t bound =
          data.magnitude * LargestDistance(operand_type, operand_zero_point) + facts->bias_bits + 1;
      job.form = BoundedForm(pipeline, *facts, bound);
      INTAGLIO_RETURN_IF_CUDA_ERROR(MakeParams(job, stream.get()), "binding");
      INTAGLIO_RETURN_IF_CUDA_ERROR(cudaStreamSynchronize(stream.get()), "binding");
    }
    BoundPipeline bound;
    bound.storage_ = std::make_shared<const Storage>(
        Storage{matrix, pipeline, operand_type, operand_zero_point, job.form,
                std::shared_ptr<PanelParams>(*memory, job.params)});
    return bound;
  } catch (const std::bad_alloc&) {
    return OutOfMemory("no memory to bind a pipeline");
  }
}

}  // namespace intaglio::cuda
