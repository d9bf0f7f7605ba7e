// intaglio::cuda played by the host, in place of the library: what the backend of networks makes of
// a graph runs without a GPU. Jobs run as the device would run them, thread by thread; products are
// the CPU engine's. Memory of the device is memory that Allocate gave, and nothing else.
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "intaglio/gemm/cuda/gemm.h"
#include "intaglio/gemm/cuda/jobs.h"
#include "intaglio/gemm/cuda/memory.h"
#include "intaglio/gemm/gemm.h"
#include "intaglio/gemm/prepack.h"
#include "intaglio/test/kernels/cuda_softmax.h"

namespace intaglio::cuda {
namespace {

// The sizes of all that is allocated, by address.
std::map<const char*, size_t>& Allocations() {
  static std::map<const char*, size_t> allocations;
  return allocations;
}

Status CheckOnDevice(std::initializer_list<const void*> pointers) {
  for (const void* p : pointers) {
    const auto* at = static_cast<const char*>(p);
    const auto next = Allocations().upper_bound(at);
    if (next == Allocations().begin()) return InvalidArgument("memory of the host");
    const auto& [start, bytes] = *std::prev(next);
    if (at >= start + bytes) return InvalidArgument("memory of the host");
  }
  return {};
}

template <class Function>
Status Check(const PairJob<Function>& job) {
  return CheckOnDevice({job.a, job.b, job.out});
}
template <class Function>
Status Check(const MapJob<Function>& job) {
  return CheckOnDevice({job.in, job.out});
}
Status Check(const MapJob<Lookup>& job) { return CheckOnDevice({job.f.table, job.in, job.out}); }
Status Check(const SoftmaxJob& job) { return CheckOnDevice({job.exps, job.in, job.out}); }
Status Check(const AxisToRealJob& job) {
  return CheckOnDevice({job.scales, job.zero_points, job.in, job.out});
}
Status Check(const JoinJob& job) {
  if (job.table != nullptr) INTAGLIO_RETURN_IF_ERROR(CheckOnDevice({job.table}));
  return CheckOnDevice({job.in, job.out});
}
Status Check(const PadJob& job) { return CheckOnDevice({job.in, job.out}); }
Status Check(const MeanJob& job) { return CheckOnDevice({job.in, job.out}); }
Status Check(const PoolJob& job) { return CheckOnDevice({job.image.data, job.out}); }
Status Check(const DepthwiseJob& job) {
  return CheckOnDevice({job.p.image.data, job.p.dst, job.p.params, job.filters});
}

template <class Job>
void RunOnHost(const Job& job) {
  for (long long i = 0; i < job.count(); ++i) job.Run(i);
}
void RunOnHost(const SoftmaxJob& job) { test::RunOnHost(job); }

// Workspaces are planned for tensors that begin where an arena's do.
Status CheckAligned(std::initializer_list<const void*> pointers) {
  for (const void* p : pointers) {
    if (reinterpret_cast<uintptr_t>(p) % 64 != 0) return InvalidArgument("a tensor out of line");
  }
  return {};
}

// What a product's packed side is here.
struct HostChannels : PackedChannels {
  std::optional<intaglio::PackedMatrix> packed;
};

}  // namespace

Result<Stream> Stream::Wrap(CUstream_st* stream) {
  Stream s;
  s.stream_ = stream;
  s.device_ = {0, 90, 132, "the host"};
  return s;
}
Stream Stream::WithWorkspace(void* memory, size_t bytes) const {
  Stream s = *this;
  s.workspace_ = memory;
  s.workspace_bytes_ = bytes;
  return s;
}

Result<std::shared_ptr<void>> Allocate(size_t bytes) {
  const size_t rounded = (bytes + 256) / 256 * 256;
  void* memory = std::aligned_alloc(256, rounded);
  if (memory == nullptr) return OutOfMemory("no memory");
  Allocations()[static_cast<const char*>(memory)] = rounded;
  return std::shared_ptr<void>(memory, [](void* p) {
    Allocations().erase(static_cast<const char*>(p));
    std::free(p);
  });
}
Status Copy(const Stream&, void* to, const void* from, size_t bytes) {
  std::memmove(to, from, bytes);
  return {};
}
Status Fill(const Stream&, void* to, int byte, size_t bytes) {
  std::memset(to, byte, bytes);
  return {};
}
Status Wait(const Stream&) { return {}; }

Status Enqueue(const Stream&, const AnyJob& any) {
  return std::visit(
      [](const auto& job) -> Status {
        INTAGLIO_RETURN_IF_ERROR(Check(job));
        RunOnHost(job);
        return {};
      },
      any);
}

Result<PackedMatrix> PackedMatrix::Pack(const Stream&, Side side, const ConstMatrix& matrix,
                                        std::span<const int32_t> channel_zero_points) {
  INTAGLIO_RETURN_IF_ERROR(CheckOnDevice({matrix.data}));
  PackOptions options;
  options.channel_zero_points.assign(channel_zero_points.begin(), channel_zero_points.end());
  auto packed = Prepack(side, matrix, options);
  if (!packed.ok()) return packed.status();
  auto channels = std::make_shared<HostChannels>();
  channels->channels = side == Side::kLhs ? matrix.rows : matrix.cols;
  channels->depth = side == Side::kLhs ? matrix.cols : matrix.rows;
  channels->packed = *packed;
  return PackedMatrix(side, channels);
}

Result<BoundPipeline> BoundPipeline::Bind(const Stream&, const PackedMatrix& matrix,
                                          const StandardPipeline& pipeline, Type operand_type,
                                          int32_t operand_zero_point) {
  BoundPipeline bound;
  bound.storage_ = std::make_shared<const Storage>(
      Storage{matrix, pipeline, operand_type, operand_zero_point, ScalingForm::kNone, nullptr});
  return bound;
}

Status Gemm(const Stream& stream, const Operand& lhs, const Operand& rhs, const MutableMatrix& dst,
            const StandardPipeline& pipeline, const Batch&) {
  static Context context(1);
  INTAGLIO_RETURN_IF_ERROR(CheckOnDevice({lhs.im2col()->data, dst.data, stream.workspace()}));
  if (lhs.im2col()->group_channels == lhs.im2col()->channels) {
    INTAGLIO_RETURN_IF_ERROR(CheckAligned({lhs.im2col()->data, dst.data}));
  }
  if (pipeline.bias != nullptr) INTAGLIO_RETURN_IF_ERROR(CheckOnDevice({pipeline.bias}));
  if (pipeline.per_channel && pipeline.mantissa != nullptr) {
    INTAGLIO_RETURN_IF_ERROR(CheckOnDevice({pipeline.mantissa, pipeline.exponent}));
  }
  const auto& channels = static_cast<const HostChannels&>(*rhs.packed());
  return intaglio::Gemm(context, *lhs.im2col(), *channels.packed, dst, pipeline);
}
Status Gemm(const Stream& stream, const Operand& lhs, const Operand& rhs, const MutableMatrix& dst,
            const BoundPipeline& pipeline, const Batch& batch) {
  return Gemm(stream, lhs, rhs, dst, pipeline.storage()->pipeline, batch);
}

Result<size_t> WorkspaceBytes(const Stream&, const Operand&, const Operand&, const MutableMatrix&,
                              const StandardPipeline&, const Batch&) {
  return 64;
}
Result<size_t> WorkspaceBytes(const Stream&, const Operand&, const Operand&, const MutableMatrix&,
                              const BoundPipeline&, const Batch&) {
  return 64;
}
Result<std::string> DescribeGemm(const Stream&, const Operand&, const Operand&,
                                 const MutableMatrix&, const StandardPipeline&, const Batch&) {
  return std::string("host");
}

}  // namespace intaglio::cuda
