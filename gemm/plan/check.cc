#include "intaglio/gemm/plan/check.h"

#include <limits>
#include <string>

#include "intaglio/pack/image_lines.h"
#include "intaglio/pack/validate.h"

namespace intaglio {
namespace {

struct Shape {
  int rows;
  int cols;
};

Shape ShapeOf(const Operand& o) {
  switch (o.kind()) {
    case Operand::Kind::kMatrix:
      return {o.matrix().rows, o.matrix().cols};
    case Operand::Kind::kIm2col:
      return {Rows(o.im2col()), Cols(o.im2col())};
    case Operand::Kind::kPacked:
      return {o.packed().rows(), o.packed().cols()};
  }
  return {};
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

// Whether an operand is as nearly always, which is asked first: sound, and a matrix or packed.
bool IsPlain(const Operand& o, Side side) {
  if (o.kind() == Operand::Kind::kPacked) return o.packed().side() == side;
  if (o.kind() == Operand::Kind::kIm2col) return false;
  const ConstMatrix& m = o.matrix();
  return IsByteType(m.type) && Holds(m.type, m.zero_point) && IsPlain(m);
}

// The memory that an operand reads while the product runs. A packed matrix is our own.
bool Overlaps(const Operand& o, const MutableMatrix& dst) {
  if (o.kind() == Operand::Kind::kMatrix) {
    return Overlap(o.matrix().data, SpanBytes(o.matrix()), dst.data, SpanBytes(dst));
  }
  if (o.kind() == Operand::Kind::kIm2col) {
    return Overlap(o.im2col().data, ImageBytes(o.im2col()), dst.data, SpanBytes(dst));
  }
  return false;
}

Status DepthError(int depth, int64_t worst) {
  return InvalidArgument("K = " + std::to_string(depth) + ": a sum could reach " +
                         std::to_string(worst) + ", over int32");
}

}  // namespace

Status CheckOperands(const Operand& lhs, const Operand& rhs, const MutableMatrix& dst) {
  if (!IsPlain(lhs, Side::kLhs)) INTAGLIO_RETURN_IF_ERROR(ValidateSide(lhs, Side::kLhs));
  if (!IsPlain(rhs, Side::kRhs)) INTAGLIO_RETURN_IF_ERROR(ValidateSide(rhs, Side::kRhs));
  if (!IsPlain(dst)) INTAGLIO_RETURN_IF_ERROR(ValidateResult(dst));
  if (lhs.kind() == Operand::Kind::kPacked && rhs.kind() == Operand::Kind::kPacked) {
    return InvalidArgument("lhs and rhs are both packed; leave one as it is");
  }
  const Shape l = ShapeOf(lhs);
  const Shape r = ShapeOf(rhs);
  if (l.cols != r.rows || dst.rows != l.rows || dst.cols != r.cols) {
    return InvalidArgument("shapes do not fit: dst " + ExtentsText(dst.rows, dst.cols) + " = lhs " +
                           ExtentsText(l.rows, l.cols) + " times rhs " +
                           ExtentsText(r.rows, r.cols));
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

Status CheckRuns(const RowSource& rows, const Panels& panels) {
  if (panels.runs == 1) return {};
  const std::string kernel_rows = std::to_string(panels.runs) + " kernel rows";
  if (!rows.is_im2col || !HasWindows(rows.im2col) || rows.im2col.kernel_height != panels.runs) {
    return InvalidArgument("rhs was packed for windows of " + kernel_rows + ", lhs has none");
  }
  if (rows.rows() == 0) return {};
  const int64_t bytes = WindowBytes(rows.im2col, RowFormat::kWidened16, 2 * kMaxBlockRows);
  if (bytes <= std::numeric_limits<int32_t>::max()) return {};
  return Unsupported("im2col: " + kernel_rows + " of " + std::to_string(bytes) + " bytes");
}

}  // namespace intaglio
