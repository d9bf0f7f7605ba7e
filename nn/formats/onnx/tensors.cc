#include "intaglio/nn/formats/onnx/tensors.h"

#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "intaglio/nn/graph/printable.h"

namespace intaglio::nn::onnx {
namespace {

static_assert(std::endian::native == std::endian::little, "constants are read where they lie");

struct TypeName {
  int code;
  const char* name;
  std::optional<Type> type;
  int bits = 8;  // of an element in the file
};

constexpr TypeName kTypes[] = {
    {TensorProto::FLOAT, "float32", Type::kFloat32, 32},
    {TensorProto::UINT8, "uint8", Type::kUInt8},
    {TensorProto::INT8, "int8", Type::kInt8},
    {TensorProto::INT16, "int16", Type::kInt16, 16},
    {TensorProto::UINT16, "uint16", Type::kUInt16, 16},
    {TensorProto::INT32, "int32", Type::kInt32, 32},
    {TensorProto::INT64, "int64", Type::kInt64, 64},
    {TensorProto::BOOL, "bool", Type::kBool},
    {TensorProto::UINT4, "uint4", Type::kUInt8, 4},
    {TensorProto::INT4, "int4", Type::kInt8, 4},
    {TensorProto::UINT2, "uint2", Type::kUInt8, 2},
    {TensorProto::INT2, "int2", Type::kInt8, 2},
    {TensorProto::STRING, "string", std::nullopt},
    {TensorProto::FLOAT16, "float16", std::nullopt},
    {TensorProto::DOUBLE, "float64", std::nullopt},
    {TensorProto::UINT32, "uint32", std::nullopt},
    {TensorProto::UINT64, "uint64", std::nullopt},
    {TensorProto::COMPLEX64, "complex64", std::nullopt},
    {TensorProto::COMPLEX128, "complex128", std::nullopt},
    {TensorProto::BFLOAT16, "bfloat16", std::nullopt},
    {TensorProto::FLOAT8E4M3FN, "float8e4m3fn", std::nullopt},
    {TensorProto::FLOAT8E4M3FNUZ, "float8e4m3fnuz", std::nullopt},
    {TensorProto::FLOAT8E5M2, "float8e5m2", std::nullopt},
    {TensorProto::FLOAT8E5M2FNUZ, "float8e5m2fnuz", std::nullopt},
    {TensorProto::FLOAT4E2M1, "float4e2m1", std::nullopt},
    {TensorProto::FLOAT8E8M0, "float8e8m0", std::nullopt},
};

const TypeName* FindType(int data_type) {
  for (const TypeName& type : kTypes) {
    if (type.code == data_type) return &type;
  }
  return nullptr;
}

bool IsSigned(Type type) { return type == Type::kInt8; }

Status CheckRank(int rank) {
  constexpr int kMaxRank = 64;
  if (rank <= kMaxRank) return {};
  return Unsupported("has " + std::to_string(rank) + " dimensions; 64 are supported");
}

Result<int> DimensionFrom(int64_t value) {
  if (value >= 0 && value <= std::numeric_limits<int>::max()) return static_cast<int>(value);
  return InvalidArgument("has a dimension of " + std::to_string(value));
}

// The bytes of an element type of fewer than 8 bits are dense, the first element lowest.
std::vector<uint8_t> Unpack(std::span<const uint8_t> packed, size_t count, int bits,
                            bool is_signed) {
  std::vector<uint8_t> bytes(count);
  const int per_byte = 8 / bits;
  for (size_t i = 0; i < count; ++i) {
    const int shift = static_cast<int>(i % static_cast<size_t>(per_byte)) * bits;
    int value = packed[i / static_cast<size_t>(per_byte)] >> shift & ((1 << bits) - 1);
    if (is_signed && value >= 1 << (bits - 1)) value -= 1 << bits;
    bytes[i] = static_cast<uint8_t>(value);
  }
  return bytes;
}

template <class T>
void Own(std::vector<T> values, Tensor& to) {
  const auto owner = std::make_shared<const std::vector<T>>(std::move(values));
  to.data = owner->empty() ? nullptr : owner->data();
  to.data_bytes = owner->size() * sizeof(T);
  to.owner = owner;
}

class ConstantMaker {
 public:
  ConstantMaker(TensorProto& from, ExternalData& external, Ledger& ledger)
      : from_(from), external_(external), ledger_(ledger), kept_(external.KeptOf(from)) {}

  Result<Tensor> Make() {
    const Result<Type> type = TypeFrom(from_.data_type());
    if (!type.ok()) return type.status();
    Result<Shape> shape = ShapeFrom(from_);
    if (!shape.ok()) return shape.status();
    to_.type = *type;
    to_.shape = std::move(*shape);
    to_.constant = true;
    to_.name = Printable(from_.name());
    const Result<int64_t> count = CountElements(to_.shape);
    if (!count.ok()) return count.status();
    count_ = static_cast<size_t>(*count);
    bits_ = BitsOf(from_.data_type());
    INTAGLIO_RETURN_IF_ERROR(CheckOneField());
    INTAGLIO_RETURN_IF_ERROR(Fill());
    INTAGLIO_RETURN_IF_ERROR(CheckBools());
    return std::move(to_);
  }

 private:
  // CountElements has checked that 8 bytes for each element fit.
  size_t StoredBytes() const { return (count_ * static_cast<size_t>(bits_) + 7) / 8; }

  bool HasRawData() const { return from_.has_raw_data() || kept_ != nullptr; }

  bool IsExternal() const { return from_.data_location() == TensorProto::EXTERNAL; }

  Status CheckOneField() const {
    const int fields = int{HasRawData()} + int{from_.float_data_size() > 0} +
                       int{from_.int32_data_size() > 0} + int{from_.int64_data_size() > 0} +
                       int{from_.string_data_size() > 0} + int{from_.double_data_size() > 0} +
                       int{from_.uint64_data_size() > 0} + int{IsExternal()};
    if (fields > 1) return InvalidArgument("its elements are stored in more than one field");
    return {};
  }

  Status Fill() {
    if (IsExternal()) return FillExternal();
    if (HasRawData()) return FillRaw();
    switch (to_.type) {
      case Type::kFloat32:
        return FillTyped<float>(from_.float_data());
      case Type::kInt64:
        return FillTyped<int64_t>(from_.int64_data());
      case Type::kInt32:
        return FillTyped<int32_t>(from_.int32_data());
      case Type::kInt16:
        return FillNarrow<int16_t>();
      case Type::kUInt16:
        return FillNarrow<uint16_t>();
      case Type::kInt8:
        return bits_ < 8 ? FillPackedInts() : FillNarrow<int8_t>();
      case Type::kUInt8:
      case Type::kBool:
        return bits_ < 8 ? FillPackedInts() : FillNarrow<uint8_t>();
    }
    return {};
  }

  Status WrongCount(size_t stored, const char* what) const {
    return InvalidArgument("has " + std::to_string(stored) + " " + what + "; its shape " +
                           ToString(to_.shape) + " needs " + std::to_string(count_));
  }

  Status FillExternal() {
    if (count_ == 0) return {};
    Result<MappedFile> data = external_.Find(from_, StoredBytes());
    if (!data.ok()) return data.status();
    return FillBytes(data->bytes, std::move(data->owner));
  }

  Status FillRaw() {
    const size_t size = kept_ != nullptr ? kept_->bytes.size() : from_.raw_data().size();
    if (size != StoredBytes()) {
      return InvalidArgument("has " + std::to_string(size) + " bytes; its type and shape " +
                             ToString(to_.shape) + " need " + std::to_string(StoredBytes()));
    }
    if (kept_ != nullptr) return FillBytes(kept_->bytes, kept_->owner);
    const auto owner = std::make_shared<std::string>(std::move(*from_.mutable_raw_data()));
    return FillBytes({reinterpret_cast<const uint8_t*>(owner->data()), owner->size()}, owner);
  }

  Status FillBytes(std::span<const uint8_t> bytes, std::shared_ptr<const void> owner) {
    if (bits_ < 8) {
      INTAGLIO_RETURN_IF_ERROR(ledger_.Charge(count_));
      Own(Unpack(bytes, count_, bits_, IsSigned(to_.type)), to_);
      return {};
    }
    to_.data = bytes.empty() ? nullptr : bytes.data();
    to_.data_bytes = bytes.size();
    to_.owner = std::move(owner);
    return {};
  }

  template <class T, class Field>
  Status FillTyped(const Field& field) {
    const auto stored = static_cast<size_t>(field.size());
    if (stored != count_) return WrongCount(stored, "elements");
    INTAGLIO_RETURN_IF_ERROR(ledger_.Charge(count_ * sizeof(T)));
    Own(std::vector<T>(field.begin(), field.end()), to_);
    return {};
  }

  // Elements that are stored as int32.
  template <class T>
  Status FillNarrow() {
    const auto stored = static_cast<size_t>(from_.int32_data_size());
    if (stored != count_) return WrongCount(stored, "elements");
    INTAGLIO_RETURN_IF_ERROR(ledger_.Charge(count_ * sizeof(T)));
    std::vector<T> values;
    values.reserve(count_);
    for (const int32_t value : from_.int32_data()) {
      if (!std::in_range<T>(value)) {
        return InvalidArgument("has the element " + std::to_string(value) + ", which is no " +
                               NameOfType(from_.data_type()));
      }
      values.push_back(static_cast<T>(value));
    }
    Own(std::move(values), to_);
    return {};
  }

  // Each int32 holds one byte of elements.
  Status FillPackedInts() {
    const auto stored = static_cast<size_t>(from_.int32_data_size());
    if (stored != StoredBytes()) return WrongCount(stored, "packed bytes");
    INTAGLIO_RETURN_IF_ERROR(ledger_.Charge(count_ + stored));
    std::vector<uint8_t> bytes;
    bytes.reserve(stored);
    for (const int32_t value : from_.int32_data()) {
      if (value < -128 || value > 255) {
        return InvalidArgument("has packed elements in " + std::to_string(value) +
                               ", which is no byte");
      }
      bytes.push_back(static_cast<uint8_t>(value));
    }
    Own(Unpack(bytes, count_, bits_, IsSigned(to_.type)), to_);
    return {};
  }

  Status CheckBools() const {
    if (to_.type != Type::kBool) return {};
    const auto* const bytes = static_cast<const uint8_t*>(to_.data);
    for (size_t i = 0; i < to_.data_bytes; ++i) {
      if (bytes[i] > 1) return InvalidArgument("has a bool of " + std::to_string(bytes[i]));
    }
    return {};
  }

  TensorProto& from_;
  ExternalData& external_;
  Ledger& ledger_;
  const MappedFile* const kept_;  // what raw_data would be
  Tensor to_;
  size_t count_ = 0;
  int bits_ = 8;
};

}  // namespace

std::string NameOfType(int data_type) {
  const TypeName* const type = FindType(data_type);
  return type == nullptr ? "type " + std::to_string(data_type) : type->name;
}

int BitsOf(int data_type) { return FindType(data_type)->bits; }

Result<Type> TypeFrom(int data_type) {
  const TypeName* const type = FindType(data_type);
  if (type != nullptr && type->type) return *type->type;
  const bool is_wide = data_type == TensorProto::DOUBLE;
  return Unsupported(NameOfType(data_type) + " elements are not supported" +
                     (is_wide ? ", unless they are read as float32 (float64_as_float32)" : ""));
}

Result<Shape> ShapeFrom(const TensorProto& tensor) {
  INTAGLIO_RETURN_IF_ERROR(CheckRank(tensor.dims_size()));
  Shape shape;
  for (const int64_t value : tensor.dims()) {
    const Result<int> dimension = DimensionFrom(value);
    if (!dimension.ok()) return dimension.status();
    shape.push_back(*dimension);
  }
  return shape;
}

bool IsKnown(const TensorShapeProto::Dimension& dimension) {
  // -1 is what some exporters write for a dimension that they do not know.
  return dimension.has_dim_value() && dimension.dim_value() != -1;
}

Result<Shape> ShapeFrom(const TensorShapeProto& from) {
  INTAGLIO_RETURN_IF_ERROR(CheckRank(from.dim_size()));
  Shape shape;
  for (const TensorShapeProto::Dimension& from_dimension : from.dim()) {
    const Result<int> dimension =
        DimensionFrom(IsKnown(from_dimension) ? from_dimension.dim_value() : 1);
    if (!dimension.ok()) return dimension.status();
    shape.push_back(*dimension);
  }
  return shape;
}

Result<Tensor> TakeConstant(TensorProto& tensor, ExternalData& external, Ledger& ledger) {
  return ConstantMaker(tensor, external, ledger).Make();
}

}  // namespace intaglio::nn::onnx
