// Arrays of Python, seen in place: through the buffer protocol (NumPy) or DLPack (PyTorch, JAX).
#ifndef INTAGLIO_BINDINGS_PYTHON_SRC_ARRAY_H_
#define INTAGLIO_BINDINGS_PYTHON_SRC_ARRAY_H_

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/type.h"

namespace intaglio::python {

// Names an array in messages: "input 'image'".
struct ArrayName {
  const char* role = "";
  const std::string* name = nullptr;

  std::string ToString() const;
};

enum class Access : uint8_t { kRead, kWrite };

// A view of one array. Keeps the array alive and in its place. Opening and closing need the GIL;
// the elements may be used without it.
class ArrayView {
 public:
  ArrayView() = default;
  ~ArrayView();
  ArrayView(const ArrayView&) = delete;
  ArrayView& operator=(const ArrayView&) = delete;

  // Raises DtypeError for what is no array in the host's memory, or has an element type that the
  // engine lacks; LayoutError for an array that cannot be written, if that is asked for.
  void Open(nanobind::handle array, Access access, const ArrayName& name);

  void* data() const { return data_; }
  Type type() const { return type_; }
  size_t rank() const { return rank_; }
  int64_t extent(size_t i) const;
  // In bytes.
  int64_t stride(size_t i) const;

  // Raises DtypeError, ShapeError or LayoutError unless the array has this type and shape and is
  // contiguous in C order.
  void Require(Type type, const std::vector<int>& shape, const ArrayName& name) const;

 private:
  void OpenBuffer(nanobind::handle array, Access access, const ArrayName& name);
  void OpenDlpack(nanobind::handle array, Access access, const ArrayName& name);
  bool HasShape(const std::vector<int>& shape) const;
  bool IsContiguous() const;
  std::string ShapeText() const;

  Py_buffer buffer_ = {};
  std::optional<nanobind::ndarray<>> writable_;
  std::optional<nanobind::ndarray<nanobind::ro>> readable_;
  const int64_t* dlpack_shape_ = nullptr;
  const int64_t* dlpack_strides_ = nullptr;
  void* data_ = nullptr;
  size_t rank_ = 0;
  Type type_ = Type::kInt8;
};

// Some objects, on the stack where they are few. No more are made than asked for.
template <class T, size_t kFew = 4>
class Few {
 public:
  explicit Few(size_t count) : count_(count) {
    if (count > kFew) many_ = std::make_unique<T[]>(count);
    items_ = many_ ? many_.get() : reinterpret_cast<T*>(few_);
    if (!many_) std::uninitialized_value_construct_n(items_, count);
  }
  ~Few() {
    if (!many_) std::destroy_n(items_, count_);
  }
  Few(const Few&) = delete;
  Few& operator=(const Few&) = delete;

  T& operator[](size_t i) { return items_[i]; }
  T* begin() { return items_; }
  size_t size() const { return count_; }

 private:
  alignas(T) std::byte few_[kFew * sizeof(T)];
  std::unique_ptr<T[]> many_;
  size_t count_;
  T* items_;
};

// NumPy's name of a shape: "(1, 8, 8, 1)".
std::string ShapeText(const std::vector<int>& shape);

// Makes arrays of NumPy of one type and shape, with undefined elements.
class ArrayMaker {
 public:
  ArrayMaker(Type type, const std::vector<int>& shape);
  nanobind::object Make() const;
  nanobind::object dtype() const { return arguments_[1]; }
  nanobind::object shape() const { return arguments_[0]; }

 private:
  nanobind::object empty_;  // numpy.empty
  nanobind::tuple arguments_;
};

}  // namespace intaglio::python

#endif  // INTAGLIO_BINDINGS_PYTHON_SRC_ARRAY_H_
