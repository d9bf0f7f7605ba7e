#include "intaglio/gemm/check.h"

#include <limits>
#include <string>

#include "intaglio/pack/validate.h"

namespace intaglio {
namespace {

int RowsOf(const Operand& o) {
  switch (o.kind()) {
    case Operand::Kind::kMatrix:
      return o.matrix().rows;
    case Operand::Kind::kIm2col:
      return Rows(o.im2col());
    case Operand::Kind::kPacked:
      return o.packed().rows();
  }
  return 0;
}
int ColsOf(const Operand& o) {
  switch (o.kind()) {
    case Operand::Kind::kMatrix:
      return o.matrix().cols;
    case Operand::Kind::kIm2col:
      return Cols(o.im2col());
    case Operand::Kind::kPacked:
      return o.packed().cols();
  }
  return 0;
}

Status ValidateSide(const Operand& o, Side side) {
  const char* name = side == Side::kLhs ? "lhs" : "rhs";
  switch (o.kind()) {
    case Operand::Kind::kMatrix:
      return ValidateOperand(o.matrix(), name);
    case Operand::Kind::kIm2col:
      if (side == Side::kRhs) return Unsupported("rhs is an im2col view; it may only be lhs");
      return Validate(o.im2col());
    case Operand::Kind::kPacked:
      if (o.packed().side() == side) return {};
      return InvalidArgument(std::string(name) + " was packed for the other side");
  }
  return {};
}

// The memory that an operand reads while the product runs. A packed matrix is our own.
bool Overlaps(const Operand& o, const MutableMatrix& dst) {
  const size_t dst_bytes = SpanBytes(dst);
  if (o.kind() == Operand::Kind::kMatrix) {
    return Overlap(o.matrix().data, SpanBytes(o.matrix()), dst.data, dst_bytes);
  }
  if (o.kind() == Operand::Kind::kIm2col) {
    const Im2col& v = o.im2col();
    const auto bytes = static_cast<size_t>(v.batch) * static_cast<size_t>(v.height) *
                       static_cast<size_t>(v.width) * static_cast<size_t>(v.channels);
    return Overlap(v.data, bytes, dst.data, dst_bytes);
  }
  return false;
}

std::string Shape(int rows, int cols) {
  return std::to_string(rows) + " x " + std::to_string(cols);
}

Status DepthError(int depth, int64_t worst) {
  return InvalidArgument("K = " + std::to_string(depth) + ": a sum could reach " +
                         std::to_string(worst) + ", over int32");
}

}  // namespace

Status CheckOperands(const Operand& lhs, const Operand& rhs, const MutableMatrix& dst) {
  INTAGLIO_RETURN_IF_ERROR(ValidateSide(lhs, Side::kLhs));
  INTAGLIO_RETURN_IF_ERROR(ValidateSide(rhs, Side::kRhs));
  INTAGLIO_RETURN_IF_ERROR(ValidateResult(dst));
  if (lhs.kind() == Operand::Kind::kPacked && rhs.kind() == Operand::Kind::kPacked) {
    return InvalidArgument("lhs and rhs are both packed; leave one as it is");
  }
  if (ColsOf(lhs) != RowsOf(rhs) || dst.rows != RowsOf(lhs) || dst.cols != ColsOf(rhs)) {
    return InvalidArgument("shapes do not fit: dst " + Shape(dst.rows, dst.cols) + " = lhs " +
                           Shape(RowsOf(lhs), ColsOf(lhs)) + " times rhs " +
                           Shape(RowsOf(rhs), ColsOf(rhs)));
  }
  if (Overlaps(lhs, dst)) return InvalidArgument("dst overlaps lhs");
  if (Overlaps(rhs, dst)) return InvalidArgument("dst overlaps rhs");
  return {};
}

Status CheckDepth(const Panels& panels, int64_t row_magnitude) {
  const int64_t worst = panels.magnitude() * row_magnitude;
  if (worst <= std::numeric_limits<int32_t>::max()) return {};
  return DepthError(panels.depth, worst);
}

Status CheckDepth(const RowSource& rows, const ConstMatrix& channels) {
  const int64_t worst = int64_t{channels.cols} * rows.Magnitude() *
                        LargestDistance(channels.type, channels.zero_point);
  if (worst <= std::numeric_limits<int32_t>::max()) return {};
  return DepthError(channels.cols, worst);
}

}  // namespace intaglio
