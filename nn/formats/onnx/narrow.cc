#include "intaglio/nn/formats/onnx/narrow.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "intaglio/nn/formats/onnx/tensors.h"
#include "intaglio/nn/ops/elementwise/map_bytes.h"

namespace intaglio::nn::onnx {
namespace {

int Narrow(int value, int bits, bool is_signed, Narrowing how) {
  const int half = 1 << (bits - 1);
  if (how == Narrowing::kSaturate) {
    return is_signed ? std::clamp(value, -half, half - 1) : std::clamp(value, 0, 2 * half - 1);
  }
  const int low = value & (2 * half - 1);
  return is_signed && low >= half ? low - 2 * half : low;
}

}  // namespace

ElementType ElementTypeFrom(Translation& t, int data_type) {
  const Result<Type> type = TypeFrom(data_type);
  t.make.Fail(type.status());
  return {*type, BitsOf(data_type)};
}

ElementType ElementTypeOf(Translation& t, TensorId id) {
  const int bits = t.make.NarrowBits(id);
  return {t.make.At(id).type, bits == 0 ? 8 : bits};
}

TensorId Narrowed(LayerMaker& make, TensorId bytes, int bits, Narrowing how) {
  const bool is_signed = make.At(bytes).type == Type::kInt8;
  MapBytes map;
  for (int i = 0; i < static_cast<int>(map.table.size()); ++i) {
    const int value = is_signed ? static_cast<int8_t>(i) : i;
    map.table[static_cast<size_t>(i)] = static_cast<uint8_t>(Narrow(value, bits, is_signed, how));
  }
  return make.AddLike(std::move(map), {bytes});
}

}  // namespace intaglio::nn::onnx
