// The checks that every entry makes of what it is given.
#ifndef INTAGLIO_PACK_VALIDATE_H_
#define INTAGLIO_PACK_VALIDATE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/fixedpoint/type.h"
#include "intaglio/pack/matrix.h"

namespace intaglio {

// The numbers that an 8-bit type holds.
constexpr int32_t LowestOf(Type type) { return type == Type::kUInt8 ? 0 : -128; }
constexpr int32_t HighestOf(Type type) { return type == Type::kUInt8 ? 255 : 127; }

// The largest |q - zero_point| of any q of an 8-bit type.
constexpr int64_t LargestDistance(Type type, int32_t zero_point) {
  return std::max(HighestOf(type) - zero_point, zero_point - LowestOf(type));
}

constexpr bool IsByteType(Type type) { return type == Type::kInt8 || type == Type::kUInt8; }

constexpr bool Holds(Type type, int32_t zero_point) {
  return zero_point >= LowestOf(type) && zero_point <= HighestOf(type);
}

// "3 x 4", for messages.
std::string ExtentsText(int rows, int cols);

// A zero point is a number that its type holds.
Status ValidateZeroPoint(int32_t zero_point, Type type);

// An 8-bit matrix to multiply: type, zero point, extents, data and stride. `name` begins the
// message.
Status ValidateOperand(const ConstMatrix& matrix, const char* name);

// Extents, data and stride of a result.
Status ValidateResult(const MutableMatrix& matrix);

// How far it is from one line of a view to the next but for padding.
template <class View>
constexpr int LineLength(const View& m) {
  return m.order == Order::kRowMajor ? m.cols : m.rows;
}

// Whether extents, data and stride are as nearly always: what every call of a product asks first.
// Some good views are not.
template <class View>
constexpr bool IsPlain(const View& m) {
  // The stride times the lines, of 8-byte elements, does not overflow.
  constexpr bool kIsWide = sizeof(ptrdiff_t) >= 8;
  constexpr ptrdiff_t kShort = kIsWide ? 1 << 28 : 1 << 14;
  constexpr int kFew = kIsWide ? std::numeric_limits<int>::max() : 1 << 13;
  return m.rows > 0 && m.cols > 0 && m.rows <= kFew && m.cols <= kFew && m.data != nullptr &&
         m.stride >= LineLength(m) && m.stride <= kShort;
}

// One past the highest byte that a view touches, from its data; 0 for an empty one.
template <class View>
constexpr size_t SpanBytes(const View& m) {
  if (m.rows == 0 || m.cols == 0) return 0;
  const int lines = m.order == Order::kRowMajor ? m.rows : m.cols;
  return static_cast<size_t>((lines - 1) * m.stride + LineLength(m)) * SizeOf(m.type);
}

// True where two stretches of memory share a byte.
inline bool Overlap(const void* a, size_t a_bytes, const void* b, size_t b_bytes) {
  const auto first = reinterpret_cast<uintptr_t>(a);
  const auto second = reinterpret_cast<uintptr_t>(b);
  return a_bytes > 0 && b_bytes > 0 && first < second + b_bytes && second < first + a_bytes;
}

}  // namespace intaglio

#endif  // INTAGLIO_PACK_VALIDATE_H_
