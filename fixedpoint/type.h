// The element types of matrices, tensors and outputs.
#ifndef INTAGLIO_FIXEDPOINT_TYPE_H_
#define INTAGLIO_FIXEDPOINT_TYPE_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/fixedpoint/language.h"

namespace intaglio {

enum class Type : uint8_t { kInt8, kUInt8, kInt16, kInt32, kInt64, kFloat32, kBool, kUInt16 };
inline constexpr Type kLastType = Type::kUInt16;

constexpr size_t SizeOf(Type type) {
  switch (type) {
    case Type::kInt8:
    case Type::kUInt8:
    case Type::kBool:
      return 1;
    case Type::kInt16:
    case Type::kUInt16:
      return 2;
    case Type::kInt32:
    case Type::kFloat32:
      return 4;
    case Type::kInt64:
      return 8;
  }
  return 0;
}

constexpr const char* NameOf(Type type) {
  switch (type) {
    case Type::kInt8:
      return "int8";
    case Type::kUInt8:
      return "uint8";
    case Type::kInt16:
      return "int16";
    case Type::kInt32:
      return "int32";
    case Type::kInt64:
      return "int64";
    case Type::kFloat32:
      return "float32";
    case Type::kBool:
      return "bool";
    case Type::kUInt16:
      return "uint16";
  }
  return "?";
}

// TypeOf<int8_t> == Type::kInt8, and so on.
template <class T>
inline constexpr Type TypeOf = T::intaglio_has_no_such_element_type;
template <>
inline constexpr Type TypeOf<int8_t> = Type::kInt8;
template <>
inline constexpr Type TypeOf<uint8_t> = Type::kUInt8;
template <>
inline constexpr Type TypeOf<int16_t> = Type::kInt16;
template <>
inline constexpr Type TypeOf<int32_t> = Type::kInt32;
template <>
inline constexpr Type TypeOf<int64_t> = Type::kInt64;
template <>
inline constexpr Type TypeOf<float> = Type::kFloat32;
template <>
inline constexpr Type TypeOf<bool> = Type::kBool;
template <>
inline constexpr Type TypeOf<uint16_t> = Type::kUInt16;

}  // namespace intaglio

#endif  // INTAGLIO_FIXEDPOINT_TYPE_H_
