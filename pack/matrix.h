// Views of matrices in the caller's memory. A view owns nothing.
#ifndef INTAGLIO_PACK_MATRIX_H_
#define INTAGLIO_PACK_MATRIX_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/fixedpoint/type.h"

namespace intaglio {

enum class Order : uint8_t { kRowMajor, kColMajor };

// A quantized matrix to read: element (r, c) stands for scale * (q - zero_point), and lies at
// data[r * stride + c] in row-major order, at data[c * stride + r] in column-major order.
struct ConstMatrix {
  const void* data = nullptr;
  Type type = Type::kInt8;
  int rows = 0;
  int cols = 0;
  ptrdiff_t stride = 0;  // in elements; at least the length of a row (column-major: of a column)
  Order order = Order::kRowMajor;
  int32_t zero_point = 0;
};

// A matrix to write; laid out as above.
struct MutableMatrix {
  void* data = nullptr;
  Type type = Type::kInt8;
  int rows = 0;
  int cols = 0;
  ptrdiff_t stride = 0;
  Order order = Order::kRowMajor;
};

// The dense (unpadded) stride of a matrix.
constexpr ptrdiff_t DenseStride(int rows, int cols, Order order) {
  return order == Order::kRowMajor ? cols : rows;
}

// Dense matrices of a type known at compile time.
template <class T>
ConstMatrix MakeConstMatrix(const T* data, int rows, int cols, Order order = Order::kRowMajor,
                            int32_t zero_point = 0) {
  return {data, TypeOf<T>, rows, cols, DenseStride(rows, cols, order), order, zero_point};
}
template <class T>
MutableMatrix MakeMatrix(T* data, int rows, int cols, Order order = Order::kRowMajor) {
  return {data, TypeOf<T>, rows, cols, DenseStride(rows, cols, order), order};
}

// The same memory read as the transposed matrix.
template <class View>
View Transposed(View view) {
  const int rows = view.rows;
  view.rows = view.cols;
  view.cols = rows;
  view.order = view.order == Order::kRowMajor ? Order::kColMajor : Order::kRowMajor;
  return view;
}

// True where element (r, c + 1) follows element (r, c) in memory.
template <class View>
constexpr bool RowsAreContiguous(const View& view) {
  return view.order == Order::kRowMajor || view.cols == 1;
}

}  // namespace intaglio

#endif  // INTAGLIO_PACK_MATRIX_H_
