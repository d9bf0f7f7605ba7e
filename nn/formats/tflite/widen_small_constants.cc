#include "intaglio/nn/formats/tflite/widen_small_constants.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace intaglio::nn {
namespace {

constexpr NarrowType kNarrowTypes[] = {
    {tflite::TensorType::FLOAT16, "float16", 16, Type::kFloat32},
    {tflite::TensorType::INT4, "int4", 4, Type::kInt8},
    {tflite::TensorType::INT2, "int2", 2, Type::kInt8},
};

float FloatOfHalf(uint16_t half) {
  const int exponent = half >> 10 & 31;
  const int fraction = half & 1023;
  const float sign = half >> 15 != 0 ? -1.0f : 1.0f;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  if (exponent < 31) return sign * std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  return fraction != 0 ? std::numeric_limits<float>::quiet_NaN()
                       : sign * std::numeric_limits<float>::infinity();
}

std::vector<float> WidenHalves(std::span<const uint8_t> from) {
  std::vector<float> to(from.size() / sizeof(uint16_t));
  for (size_t i = 0; i < to.size(); ++i) {
    uint16_t half = 0;
    std::memcpy(&half, from.data() + i * sizeof(half), sizeof(half));
    to[i] = FloatOfHalf(half);
  }
  return to;
}

// Two's complement of `bits` bits.
std::vector<int8_t> WidenBits(std::span<const uint8_t> from, size_t bits, size_t elements) {
  const size_t per_byte = 8 / bits;
  std::vector<int8_t> to(elements);
  for (size_t i = 0; i < elements; ++i) {
    const size_t above = 8 - bits - i % per_byte * bits;  // bits that belong to later elements
    to[i] = static_cast<int8_t>(static_cast<int8_t>(from[i / per_byte] << above) >> (8 - bits));
  }
  return to;
}

template <class T>
void SetData(std::vector<T> elements, Tensor& tensor) {
  const auto owner = std::make_shared<std::vector<T>>(std::move(elements));
  tensor.constant = true;
  tensor.data = owner->data();
  tensor.data_bytes = owner->size() * sizeof(T);
  tensor.owner = owner;
}

}  // namespace

const NarrowType* FindNarrow(tflite::TensorType type) {
  for (const NarrowType& narrow : kNarrowTypes) {
    if (narrow.stored == type) return &narrow;
  }
  return nullptr;
}

size_t CountBytes(const NarrowType& type, size_t elements) {
  if (type.bits >= 8) return elements * (type.bits / 8);
  const size_t per_byte = 8 / type.bits;
  return elements / per_byte + (elements % per_byte != 0 ? 1 : 0);
}

Status Widen(const NarrowType& type, std::span<const uint8_t> from, Budget& budget,
             Tensor& tensor) {
  const Result<int64_t> elements = CountElements(tensor.shape);
  if (!elements.ok()) return elements.status();
  const auto count = static_cast<size_t>(*elements);
  INTAGLIO_RETURN_IF_ERROR(budget.Charge(count, SizeOf(tensor.type)));
  if (type.widened == Type::kFloat32) {
    SetData(WidenHalves(from), tensor);
  } else {
    SetData(WidenBits(from, type.bits, count), tensor);
  }
  return {};
}

}  // namespace intaglio::nn
