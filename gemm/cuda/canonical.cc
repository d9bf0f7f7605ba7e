#include "intaglio/gemm/cuda/canonical.h"

#include <cstdint>
#include <limits>
#include <string>

#include "intaglio/pack/panels.h"
#include "intaglio/pack/validate.h"

namespace intaglio::cuda {
namespace {

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

// As on the CPU (gemm/gemm.cc).
Side ChooseChannelSide(const MutableMatrix& dst, const StandardPipeline* standard) {
  const bool per_channel =
      standard != nullptr && (standard->bias != nullptr || standard->per_channel);
  if (per_channel) return standard->axis == Axis::kRows ? Side::kLhs : Side::kRhs;
  return RowsAreContiguous(dst) ? Side::kRhs : Side::kLhs;
}

}  // namespace

int32_t StoredZeroPoint(const ConstMatrix& channels) {
  return channels.zero_point - (channels.type == Type::kUInt8 ? 128 : 0);
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

}  // namespace intaglio::cuda
