#include "intaglio/pack/validate.h"

#include <cstdint>
#include <limits>
#include <string>

namespace intaglio {
namespace {

bool IsByteType(Type type) { return type == Type::kInt8 || type == Type::kUInt8; }

std::string Shape(int rows, int cols) {
  return std::to_string(rows) + " x " + std::to_string(cols);
}

template <class View>
std::string Named(const View& m, const char* operand) {
  return std::string(operand) + " (" + Shape(m.rows, m.cols) + ")";
}

// What a readable and a writable view have in common.
template <class View>
Status ValidateLayout(const View& m, const char* operand) {
  if (m.rows < 0 || m.cols < 0) {
    return InvalidArgument(std::string(operand) + " is " + Shape(m.rows, m.cols));
  }
  if (m.rows == 0 || m.cols == 0) return {};
  if (m.data == nullptr) {
    return InvalidArgument(Named(m, operand) + " has null data");
  }
  if (m.stride < DenseStride(m.rows, m.cols, m.order)) {
    return InvalidArgument(Named(m, operand) + " has a stride of only " + std::to_string(m.stride));
  }
  if (m.stride <= 1 << 28) return {};  // times an int of lines of 8-byte elements: no overflow
  const int64_t lines = m.order == Order::kRowMajor ? m.rows : m.cols;
  const int64_t limit =
      std::numeric_limits<ptrdiff_t>::max() / static_cast<int64_t>(SizeOf(m.type));
  if (m.stride > limit / lines) {
    return InvalidArgument(Named(m, operand) + " with a stride of " + std::to_string(m.stride) +
                           " does not fit the address space");
  }
  return {};
}

template <class View>
size_t SpanBytesOf(const View& m) {
  if (m.rows == 0 || m.cols == 0) return 0;
  const int lines = m.order == Order::kRowMajor ? m.rows : m.cols;
  const ptrdiff_t elements = (lines - 1) * m.stride + DenseStride(m.rows, m.cols, m.order);
  return static_cast<size_t>(elements) * SizeOf(m.type);
}

}  // namespace

Status ValidateZeroPoint(int32_t zero_point, Type type) {
  if (zero_point >= LowestOf(type) && zero_point <= HighestOf(type)) return {};
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

size_t SpanBytes(const ConstMatrix& matrix) { return SpanBytesOf(matrix); }
size_t SpanBytes(const MutableMatrix& matrix) { return SpanBytesOf(matrix); }

bool Overlap(const void* a, size_t a_bytes, const void* b, size_t b_bytes) {
  const auto first = reinterpret_cast<uintptr_t>(a);
  const auto second = reinterpret_cast<uintptr_t>(b);
  return a_bytes > 0 && b_bytes > 0 && first < second + b_bytes && second < first + a_bytes;
}

}  // namespace intaglio
