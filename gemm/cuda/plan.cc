#include "intaglio/gemm/cuda/plan.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "intaglio/kernels/cuda/finish_split.h"
#include "intaglio/kernels/cuda/image_lines.h"
#include "intaglio/pack/panels.h"
#include "intaglio/pack/validate.h"

namespace intaglio::cuda {
namespace {

constexpr size_t kAlign = 256;  // of the workspace's parts

std::string Shape(int rows, int cols) {
  return std::to_string(rows) + " x " + std::to_string(cols);
}

Status CheckSide(const Operand& o, Side side) {
  const char* name = side == Side::kLhs ? "lhs" : "rhs";
  if (o.im2col() != nullptr) {
    if (side == Side::kRhs) return Unsupported("rhs is an im2col view; it may only be lhs");
    return Validate(*o.im2col());
  }
  if (o.packed() == nullptr) return ValidateOperand(o.matrix(), name);
  if (o.side() == side) return {};
  return InvalidArgument(std::string(name) + " was packed for the other side");
}

// The operand as a matrix: a convolution's input as its rows, which only where IsMatrix lie as they
// are.
ConstMatrix AsMatrix(const Operand& o) {
  if (o.im2col() == nullptr) return o.matrix();
  const Im2col& v = *o.im2col();
  return {v.data, v.type, Rows(v), Cols(v), Cols(v), Order::kRowMajor, v.zero_point};
}
bool IsMatrix(const Im2col& v) {
  return v.kernel_height == 1 && v.kernel_width == 1 && v.stride_height == 1 &&
         v.stride_width == 1 && v.pad_top == 0 && v.pad_left == 0 && v.out_height == v.height &&
         v.out_width == v.width && v.group_channels == v.channels;
}

// Bytes from the first of a batch's matrices to the end of the last.
template <class Matrix>
size_t BatchBytes(const Matrix& m, ptrdiff_t stride, int count) {
  const size_t one = SpanBytes(m);
  if (one == 0) return 0;
  return one + static_cast<size_t>(stride) * SizeOf(m.type) * static_cast<size_t>(count - 1);
}

size_t BytesOf(const Operand& o, ptrdiff_t stride, int count) {
  if (o.packed() != nullptr) return 0;
  if (o.im2col() == nullptr) return BatchBytes(o.matrix(), stride, count);
  const Im2col& v = *o.im2col();
  return static_cast<size_t>(v.batch) * static_cast<size_t>(v.height) *
         static_cast<size_t>(v.width) * static_cast<size_t>(v.channels);
}

Status CheckBatch(const Operand& lhs, const Operand& rhs, const MutableMatrix& dst,
                  const Batch& batch) {
  if (lhs.im2col() != nullptr && batch.count != 1) {
    return Unsupported("a batch of convolutions; their input has a batch of its own");
  }
  if (batch.count < 0 || batch.count > 65535) {
    return InvalidArgument("a batch of " + std::to_string(batch.count));
  }
  if (batch.lhs_stride < 0 || batch.rhs_stride < 0 || batch.dst_stride < 0) {
    return InvalidArgument("a batch with a negative stride");
  }
  if (batch.count > 1 &&
      static_cast<size_t>(batch.dst_stride) * SizeOf(dst.type) < SpanBytes(dst)) {
    return InvalidArgument("the results of a batch overlap: their stride is only " +
                           std::to_string(batch.dst_stride));
  }
  if (batch.count == 0) return {};
  const size_t dst_bytes = BatchBytes(dst, batch.dst_stride, batch.count);
  if (Overlap(AsMatrix(lhs).data, BytesOf(lhs, batch.lhs_stride, batch.count), dst.data,
              dst_bytes)) {
    return InvalidArgument("dst overlaps lhs");
  }
  if (Overlap(rhs.matrix().data, BytesOf(rhs, batch.rhs_stride, batch.count), dst.data,
              dst_bytes)) {
    return InvalidArgument("dst overlaps rhs");
  }
  return {};
}

Status Check(const Operand& lhs, const Operand& rhs, const MutableMatrix& dst, const Batch& batch) {
  INTAGLIO_RETURN_IF_ERROR(CheckSide(lhs, Side::kLhs));
  INTAGLIO_RETURN_IF_ERROR(CheckSide(rhs, Side::kRhs));
  INTAGLIO_RETURN_IF_ERROR(ValidateResult(dst));
  if (lhs.packed() != nullptr && rhs.packed() != nullptr) {
    return InvalidArgument("lhs and rhs are both packed; leave one as it is");
  }
  const ConstMatrix l = AsMatrix(lhs);
  const ConstMatrix& r = rhs.matrix();
  if (l.cols != r.rows || dst.rows != l.rows || dst.cols != r.cols) {
    return InvalidArgument("shapes do not fit: dst " + Shape(dst.rows, dst.cols) + " = lhs " +
                           Shape(l.rows, l.cols) + " times rhs " + Shape(r.rows, r.cols));
  }
  for (const int extent : {dst.rows, dst.cols, l.cols}) {
    if (extent > kMaxExtent) {
      return InvalidArgument("an extent of " + std::to_string(extent) + "; the most is " +
                             std::to_string(kMaxExtent));
    }
  }
  return CheckBatch(lhs, rhs, dst, batch);
}

Status CheckDepth(const Canonical& c) {
  const int64_t of_rows = LargestDistance(c.rows.type, c.rows.zero_point);
  const int64_t of_channels =
      c.packed != nullptr ? c.packed->magnitude
                          : c.depth() * LargestDistance(c.channels.type, c.channels.zero_point);
  const int64_t worst = of_rows * of_channels;
  if (worst <= std::numeric_limits<int32_t>::max()) return {};
  return InvalidArgument("K = " + std::to_string(c.depth()) + ": a sum could reach " +
                         std::to_string(worst) + ", over int32");
}

// As on the CPU (gemm/prepare.cc).
Side ChooseChannelSide(const MutableMatrix& dst, const StandardPipeline* standard) {
  const bool per_channel =
      standard != nullptr && (standard->bias != nullptr || standard->per_channel);
  if (per_channel) return standard->axis == Axis::kRows ? Side::kLhs : Side::kRhs;
  return RowsAreContiguous(dst) ? Side::kRhs : Side::kLhs;
}

// The rows can be read where they lie.
bool InPlace(const Canonical& c) {
  const ConstMatrix& m = c.rows;
  if (c.from_image) return true;
  if (m.order != Order::kRowMajor && c.depth() != 1) return false;
  const auto at = reinterpret_cast<uintptr_t>(m.data);
  const bool aligned = at % kChunk == 0 && (m.rows == 1 || m.stride % kChunk == 0);
  return aligned && (c.batch == 1 || c.row_batch % kChunk == 0) &&
         (m.order == Order::kRowMajor || m.rows == 1);
}

bool HasZeroPoints(const Canonical& c) {
  return c.packed != nullptr ? c.packed->zero_points != nullptr : StoredZeroPoint(c.channels) != 0;
}

// Hands out parts of the workspace.
class Layout {
 public:
  explicit Layout(size_t& bytes) : bytes_(bytes) {}
  size_t Take(size_t count, size_t size, int batch = 1) {
    const size_t at = bytes_;
    bytes_ += (count * size * static_cast<size_t>(batch) + kAlign - 1) / kAlign * kAlign;
    return at;
  }

 private:
  size_t& bytes_;
};

// Kernels that the device and the product allow.
bool Serves(const KernelRow& row, const DeviceInfo& device, const Canonical& c) {
  if (device.capability < row.capability) return false;
  if (row.only && device.capability != row.capability) return false;
  if (row.max_rows > 0 && c.row_count() > row.max_rows) return false;
  if (c.from_image && row.images != Images::kAny &&
      (row.images == Images::kNone || !HasWholeChunks(c.image))) {
    return false;
  }
  return c.depth() > 0 || row.id == KernelId::kDp4a64x64;
}

bool FitsGrid(const KernelRow& row, const Canonical& c, int splits) {
  const int64_t row_tiles = DivideUp(c.row_count(), row.tile_rows);
  const int64_t channel_tiles = DivideUp(c.channel_count(), row.tile_channels);
  const int64_t tiles = row_tiles * channel_tiles;
  return tiles <= std::numeric_limits<int32_t>::max() / (int64_t{c.batch} * splits);
}

// Splits are whole lines of the 128-byte swizzle, so that no copy crosses the end of one.
int DepthPerSplit(int depth, int splits) {
  return std::max(RoundUp(DivideUp(depth, splits), 2 * kDepthUnit), 2 * kDepthUnit);
}

void ChooseKernel(const DeviceInfo& device, const Canonical& c, const std::string& forced_kernel,
                  int forced_splits, const IsThere& is_there, Plan& plan) {
  double best = std::numeric_limits<double>::infinity();
  for (const KernelRow& row : kKernelTable) {
    if (!forced_kernel.empty() && forced_kernel != row.name) continue;
    if (!Serves(row, device, c) || !is_there(row)) continue;
    for (const int splits : {1, 2, 3, 4, 6, 8, 12, 16}) {
      const int wanted = forced_splits > 0 ? forced_splits : splits;
      const int per_split = DepthPerSplit(c.depth(), wanted);
      const int real = std::max(1, DivideUp(c.depth(), per_split));
      if (real != wanted && forced_splits == 0 && splits > 1) continue;
      if (!FitsGrid(row, c, real)) continue;
      const double clocks =
          ExpectedClocks(row, device, c.row_count(), c.channel_count(), c.depth(), c.batch, real);
      if (clocks < best) {
        best = clocks;
        plan.kernel = &row;
        plan.splits = real;
        plan.depth_per_split = per_split;
      }
    }
  }
}

}  // namespace

int32_t StoredZeroPoint(const ConstMatrix& channels) {
  return channels.zero_point - (channels.type == Type::kUInt8 ? 128 : 0);
}

double ExpectedClocks(const KernelRow& row, const DeviceInfo& device, int rows, int channels,
                      int depth, int batch, int splits) {
  constexpr double kStart = 2000;          // of a tile: until the first round, and after the last
  constexpr double kLatency = 1000;        // of a copy
  constexpr double kFinishLaunch = 4000;   // of the kernel that adds splits
  constexpr double kBytesPerClock = 2400;  // of device memory
  const double tiles = static_cast<double>(DivideUp(rows, row.tile_rows)) *
                       DivideUp(channels, row.tile_channels) * batch * splits;
  const double on_each = std::ceil(tiles / device.multiprocessors);
  const double rounds = DivideUp(DivideUp(depth, splits), row.tile_depth);
  const double macs =
      static_cast<double>(row.tile_rows) * row.tile_channels * row.tile_depth * rounds;
  // Blocks that share a multiprocessor hide each other's latencies.
  const double waves = std::ceil(on_each / row.blocks);
  const double compute = on_each * macs / row.rate + waves * kStart;
  const double copies = waves * (rounds * kLatency / (row.stages - 1) + kStart);
  const double results = static_cast<double>(rows) * channels * batch;
  const double bytes = (static_cast<double>(rows) + channels) * depth * batch + results;
  double clocks = std::max({compute, copies, bytes / kBytesPerClock + kStart});
  if (splits > 1) clocks += kFinishLaunch + 8.0 * results * splits / kBytesPerClock;
  return clocks;
}

Status CheckPipeline(const StandardPipeline& pipeline) {
  // Of no channels, Validate reads no arrays; of single multipliers it reads one.
  INTAGLIO_RETURN_IF_ERROR(Validate(pipeline, 0, 0));
  if (!pipeline.per_channel) return {};
  bool null = false;
  switch (pipeline.scaling) {
    case Scaling::kNone:
      break;
    case Scaling::kDoubleRounding:
    case Scaling::kSingleRounding:
      null = pipeline.mantissa == nullptr || pipeline.exponent == nullptr;
      break;
    case Scaling::kFloatHalfEven:
    case Scaling::kToFloat:
      null = pipeline.scale == nullptr;
      break;
    case Scaling::kReal64:
      null = pipeline.real == nullptr;
      break;
  }
  return null ? InvalidArgument("pipeline: null multipliers") : Status();
}

Result<Canonical> Canonicalize(const Operand& lhs, const Operand& rhs, const MutableMatrix& dst,
                               const StandardPipeline* standard, const Batch& batch) {
  INTAGLIO_RETURN_IF_ERROR(Check(lhs, rhs, dst, batch));
  const Side side = lhs.packed() != nullptr ? Side::kLhs
                    : rhs.packed() != nullptr || lhs.im2col() != nullptr
                        ? Side::kRhs
                        : ChooseChannelSide(dst, standard);
  const bool on_right = side == Side::kRhs;
  const Operand& channels = on_right ? rhs : lhs;
  Canonical c;
  c.rows = on_right ? AsMatrix(lhs) : Transposed(rhs.matrix());
  if (lhs.im2col() != nullptr) {
    c.image = *lhs.im2col();
    c.from_image = !IsMatrix(c.image);
  }
  c.channels = on_right ? Transposed(channels.matrix()) : channels.matrix();
  c.packed = channels.packed();
  c.dst = on_right ? dst : Transposed(dst);
  c.channels_along = on_right ? Axis::kCols : Axis::kRows;
  c.batch = batch.count;
  c.row_batch = on_right ? batch.lhs_stride : batch.rhs_stride;
  c.channel_batch = c.packed != nullptr ? 0 : on_right ? batch.rhs_stride : batch.lhs_stride;
  c.dst_batch = batch.dst_stride;
  INTAGLIO_RETURN_IF_ERROR(CheckDepth(c));
  return c;
}

Result<Plan> MakePlan(const DeviceInfo& device, const Canonical& c, const PipelineNeeds& needs,
                      const std::string& forced_kernel, int forced_splits,
                      const IsThere& is_there) {
  Plan plan;
  ChooseKernel(device, c, forced_kernel, forced_splits, is_there, plan);
  if (plan.kernel == nullptr) {
    return Unsupported("no kernel for a product of " + Shape(c.dst.rows, c.dst.cols) +
                       " on a device of compute capability " +
                       std::to_string(device.capability / 10) + "." +
                       std::to_string(device.capability % 10) +
                       (forced_kernel.empty() ? "" : " is named '" + forced_kernel + "'"));
  }
  plan.through_memory = needs.in_memory || plan.splits > 1;

  const auto rows = static_cast<size_t>(c.row_count());
  const auto channels = static_cast<size_t>(c.channel_count());
  const size_t groups = (channels + kChannelGroup - 1) / kChannelGroup;
  Layout layout(plan.workspace_bytes);
  // An operand that all of a batch share is prepared once.
  const int row_copies = c.row_batch == 0 ? 1 : c.batch;
  const int channel_copies = c.channel_batch == 0 ? 1 : c.batch;
  if (InPlace(c)) {
    plan.row_stride = c.rows.rows == 1 ? RoundUp(c.depth(), kChunk) : c.rows.stride;
    plan.row_batch = c.row_batch;
  } else {
    plan.row_stride = RoundUp(c.depth(), kChunk);
    plan.row_batch = c.row_batch == 0 ? 0 : c.row_count() * plan.row_stride;
    plan.rows = layout.Take(rows, static_cast<size_t>(plan.row_stride), row_copies);
  }
  plan.padded_depth = RoundUp(c.depth(), kDepthUnit);
  const bool row_zero = c.rows.zero_point != 0;
  if (c.packed == nullptr) {
    const size_t bytes = groups * kChannelGroup * static_cast<size_t>(plan.padded_depth);
    plan.channel_batch = c.channel_batch == 0 ? 0 : static_cast<ptrdiff_t>(bytes);
    plan.channels = layout.Take(bytes, 1, channel_copies);
    if (row_zero) plan.channel_sums = layout.Take(channels, sizeof(int32_t), channel_copies);
  }
  const bool zero_points = HasZeroPoints(c);
  if (zero_points) plan.row_sums = layout.Take(rows, sizeof(int32_t), c.batch);
  if (!needs.bound && (needs.params || row_zero || zero_points)) {
    plan.params = layout.Take(groups, sizeof(PanelParams), channel_copies);
  }
  if (plan.through_memory) {
    plan.partials = layout.Take(rows * groups * kChannelGroup * static_cast<size_t>(plan.splits),
                                sizeof(int32_t), c.batch);
  }
  return plan;
}

std::string Describe(const Plan& plan) {
  std::string text = plan.kernel->name;
  if (plan.splits > 1) text += ", " + std::to_string(plan.splits) + " splits";
  if (plan.rows != Plan::kNone) text += ", rows copied";
  if (plan.channels != Plan::kNone) text += ", channels packed";
  if (plan.through_memory) text += ", finished from memory";
  return text + ", " + std::to_string(plan.workspace_bytes) + " bytes of workspace";
}

}  // namespace intaglio::cuda
