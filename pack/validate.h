// The checks that every entry makes of what it is given.
#ifndef INTAGLIO_PACK_VALIDATE_H_
#define INTAGLIO_PACK_VALIDATE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

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

// A zero point is a number that its type holds.
Status ValidateZeroPoint(int32_t zero_point, Type type);

// An 8-bit matrix to multiply: type, zero point, extents, data and stride. `name` begins the
// message.
Status ValidateOperand(const ConstMatrix& matrix, const char* name);

// Extents, data and stride of a result.
Status ValidateResult(const MutableMatrix& matrix);

// One past the highest byte that a view touches, from its data; 0 for an empty one.
size_t SpanBytes(const ConstMatrix& matrix);
size_t SpanBytes(const MutableMatrix& matrix);

// True where two stretches of memory share a byte.
bool Overlap(const void* a, size_t a_bytes, const void* b, size_t b_bytes);

}  // namespace intaglio

#endif  // INTAGLIO_PACK_VALIDATE_H_
