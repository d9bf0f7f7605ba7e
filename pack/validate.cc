#include "intaglio/pack/validate.h"

#include <limits>
#include <string>

namespace intaglio {

std::string ExtentsText(int rows, int cols) {
  return std::to_string(rows) + " x " + std::to_string(cols);
}

namespace {

template <class View>
std::string Named(const View& m, const char* operand) {
  return std::string(operand) + " (" + ExtentsText(m.rows, m.cols) + ")";
}

// What a readable and a writable view have in common.
template <class View>
Status ValidateLayout(const View& m, const char* operand) {
  if (IsPlain(m)) return {};
  if (m.rows < 0 || m.cols < 0) {
    return InvalidArgument(std::string(operand) + " is " + ExtentsText(m.rows, m.cols));
  }
  if (m.rows == 0 || m.cols == 0) return {};
  if (m.data == nullptr) {
    return InvalidArgument(Named(m, operand) + " has null data");
  }
  if (m.stride < LineLength(m)) {
    return InvalidArgument(Named(m, operand) + " has a stride of only " + std::to_string(m.stride));
  }
  const int64_t lines = m.order == Order::kRowMajor ? m.rows : m.cols;
  const int64_t limit =
      std::numeric_limits<ptrdiff_t>::max() / static_cast<int64_t>(SizeOf(m.type));
  if (m.stride > limit / lines) {
    return InvalidArgument(Named(m, operand) + " with a stride of " + std::to_string(m.stride) +
                           " does not fit the address space");
  }
  return {};
}

}  // namespace

Status ValidateZeroPoint(int32_t zero_point, Type type) {
  if (Holds(type, zero_point)) return {};
  return InvalidArgument("zero point " + std::to_string(zero_point) + " is no " + NameOf(type));
}

Status ValidateOperand(const ConstMatrix& matrix, const char* name) {
  if (!IsByteType(matrix.type)) {
    return Unsupported(std::string(name) + " is " + NameOf(matrix.type) + ", not int8 or uint8");
  }
  INTAGLIO_RETURN_IF_ERROR(ValidateZeroPoint(matrix.zero_point, matrix.type));
  return ValidateLayout(matrix, name);
}

Status ValidateResult(const MutableMatrix& matrix) { return ValidateLayout(matrix, "dst"); }

}  // namespace intaglio
