#include "intaglio/bindings/python/src/array.h"

#include <nanobind/stl/string.h>

#include <cstring>

#include "intaglio/bindings/python/src/errors.h"

namespace intaglio::python {
namespace {

namespace nb = nanobind;

enum class Kind : uint8_t { kSigned, kUnsigned, kFloat, kBool, kOther };

const char* NameOf(Kind kind) {
  switch (kind) {
    case Kind::kSigned:
      return "int";
    case Kind::kUnsigned:
      return "uint";
    case Kind::kFloat:
      return "float";
    case Kind::kBool:
      return "bool";
    case Kind::kOther:
      break;
  }
  return "?";
}

std::optional<Type> TypeFrom(Kind kind, size_t bits) {
  if (kind == Kind::kBool && bits == 8) return Type::kBool;
  if (kind == Kind::kFloat && bits == 32) return Type::kFloat32;
  if (kind == Kind::kUnsigned && bits == 8) return Type::kUInt8;
  if (kind == Kind::kUnsigned && bits == 16) return Type::kUInt16;
  if (kind != Kind::kSigned) return std::nullopt;
  switch (bits) {
    case 8:
      return Type::kInt8;
    case 16:
      return Type::kInt16;
    case 32:
      return Type::kInt32;
    case 64:
      return Type::kInt64;
    default:
      return std::nullopt;
  }
}

// The letters of the module struct, behind a mark of the byte order that is this machine's.
Kind KindOfFormat(const char* format) {
  if (format == nullptr) return Kind::kUnsigned;
  if (std::strchr("@=<|", format[0]) != nullptr && format[0] != '\0') ++format;
  if (format[0] == '\0' || format[1] != '\0') return Kind::kOther;
  if (std::strchr("bhilqn", format[0]) != nullptr) return Kind::kSigned;
  if (std::strchr("BHILQN", format[0]) != nullptr) return Kind::kUnsigned;
  if (std::strchr("efdg", format[0]) != nullptr) return Kind::kFloat;
  return format[0] == '?' ? Kind::kBool : Kind::kOther;
}

Kind KindOfDlpack(uint8_t code) {
  switch (static_cast<nb::dlpack::dtype_code>(code)) {
    case nb::dlpack::dtype_code::Int:
      return Kind::kSigned;
    case nb::dlpack::dtype_code::UInt:
      return Kind::kUnsigned;
    case nb::dlpack::dtype_code::Float:
      return Kind::kFloat;
    case nb::dlpack::dtype_code::Bool:
      return Kind::kBool;
    default:
      return Kind::kOther;
  }
}

Type RequireType(Kind kind, size_t bits, const std::string& code, const ArrayName& name) {
  const std::optional<Type> type = TypeFrom(kind, bits);
  if (type) return *type;
  const std::string text = kind == Kind::kOther || kind == Kind::kBool
                               ? "of code '" + code + "'"
                               : NameOf(kind) + std::to_string(bits);
  Raise("DtypeError", name.ToString() + ": no model takes the dtype " + text);
}

}  // namespace

std::string ArrayName::ToString() const {
  return name == nullptr ? role : std::string(role) + " '" + *name + "'";
}

ArrayView::~ArrayView() {
  if (buffer_.obj != nullptr) PyBuffer_Release(&buffer_);
}

void ArrayView::Open(nb::handle array, Access access, const ArrayName& name) {
  if (PyObject_CheckBuffer(array.ptr()) != 0) {
    OpenBuffer(array, access, name);
  } else {
    OpenDlpack(array, access, name);
  }
}

void ArrayView::OpenBuffer(nb::handle array, Access access, const ArrayName& name) {
  if (PyObject_GetBuffer(array.ptr(), &buffer_, PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
    nb::python_error error;
    Raise("DtypeError", name.ToString() + ": " + error.what());
  }
  if (access == Access::kWrite && buffer_.readonly != 0) {
    Raise("LayoutError", name.ToString() + ": the array is read-only");
  }
  data_ = buffer_.buf;
  rank_ = static_cast<size_t>(buffer_.ndim);
  type_ = RequireType(KindOfFormat(buffer_.format), 8 * static_cast<size_t>(buffer_.itemsize),
                      buffer_.format == nullptr ? "" : buffer_.format, name);
}

void ArrayView::OpenDlpack(nb::handle array, Access access, const ArrayName& name) {
  const auto take = [&](const auto& tensor) {
    if (tensor.device_type() != nb::device::cpu::value) {
      Raise("DtypeError", name.ToString() + ": the array is not in the host's memory");
    }
    data_ = const_cast<void*>(static_cast<const void*>(tensor.data()));
    rank_ = tensor.ndim();
    dlpack_shape_ = tensor.shape_ptr();
    dlpack_strides_ = tensor.stride_ptr();
    const nb::dlpack::dtype dtype = tensor.dtype();
    type_ = RequireType(dtype.lanes == 1 ? KindOfDlpack(dtype.code) : Kind::kOther, dtype.bits,
                        std::to_string(dtype.code), name);
  };
  nb::ndarray<nb::ro> readable;
  if (!nb::try_cast(array, readable, false)) {
    Raise("DtypeError", name.ToString() +
                            ": needs an array of NumPy, or one that has DLPack; got " +
                            nb::cast<std::string>(nb::type_name(array.type())));
  }
  if (access == Access::kRead) {
    readable_.emplace(std::move(readable));
    return take(*readable_);
  }
  nb::ndarray<> writable;
  if (!nb::try_cast(array, writable, false)) {
    Raise("LayoutError", name.ToString() + ": the array is read-only");
  }
  writable_.emplace(std::move(writable));
  take(*writable_);
}

int64_t ArrayView::extent(size_t i) const {
  return dlpack_shape_ != nullptr ? dlpack_shape_[i] : buffer_.shape[i];
}

int64_t ArrayView::stride(size_t i) const {
  if (dlpack_strides_ != nullptr) {
    return dlpack_strides_[i] * static_cast<int64_t>(SizeOf(type_));
  }
  return buffer_.strides[i];
}

bool ArrayView::HasShape(const std::vector<int>& shape) const {
  if (rank_ != shape.size()) return false;
  for (size_t i = 0; i < rank_; ++i) {
    if (extent(i) != shape[i]) return false;
  }
  return true;
}

bool ArrayView::IsContiguous() const {
  for (size_t i = 0; i < rank_; ++i) {
    if (extent(i) == 0) return true;
  }
  auto dense = static_cast<int64_t>(SizeOf(type_));
  for (size_t i = rank_; i-- > 0;) {
    if (extent(i) != 1 && stride(i) != dense) return false;
    dense *= extent(i);
  }
  return true;
}

std::string ArrayView::ShapeText() const {
  std::vector<int> shape(rank_);
  for (size_t i = 0; i < rank_; ++i) shape[i] = static_cast<int>(extent(i));
  return python::ShapeText(shape);
}

void ArrayView::Require(Type type, const std::vector<int>& shape, const ArrayName& name) const {
  if (type_ != type) {
    Raise("DtypeError", name.ToString() + ": the dtype is " + intaglio::NameOf(type_) +
                            ", the model's is " + intaglio::NameOf(type));
  }
  if (!HasShape(shape)) {
    Raise("ShapeError", name.ToString() + ": the shape is " + ShapeText() + ", the model's is " +
                            python::ShapeText(shape));
  }
  if (!IsContiguous()) {
    Raise("LayoutError", name.ToString() +
                             ": the elements are not contiguous in C order; "
                             "numpy.ascontiguousarray makes a copy that is");
  }
}

std::string ShapeText(const std::vector<int>& shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

ArrayMaker::ArrayMaker(Type type, const std::vector<int>& shape) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  empty_ = numpy.attr("empty");
  nb::list extents;
  for (const int extent : shape) extents.append(extent);
  arguments_ = nb::make_tuple(nb::tuple(extents), numpy.attr("dtype")(intaglio::NameOf(type)));
}

nb::object ArrayMaker::Make() const {
  PyObject* const array = PyObject_CallObject(empty_.ptr(), arguments_.ptr());
  if (array == nullptr) throw nb::python_error();
  return nb::steal(array);
}

}  // namespace intaglio::python
