#include <limits>
#include <string>

#include "intaglio/bindings/c/forms.h"
#include "intaglio/bindings/c/guard.h"

namespace intaglio::c {
namespace {

static_assert(static_cast<int>(Type::kInt8) == IT_INT8);
static_assert(static_cast<int>(Type::kUInt8) == IT_UINT8);
static_assert(static_cast<int>(Type::kInt16) == IT_INT16);
static_assert(static_cast<int>(Type::kInt32) == IT_INT32);
static_assert(static_cast<int>(Type::kInt64) == IT_INT64);
static_assert(static_cast<int>(Type::kFloat32) == IT_FLOAT32);
static_assert(static_cast<int>(Type::kBool) == IT_BOOL);
static_assert(static_cast<int>(Type::kUInt16) == IT_UINT16);
static_assert(static_cast<int>(kLastType) == IT_UINT16);

bool IsType(it_type type) { return type >= IT_INT8 && type <= IT_UINT16; }

Status SetShape(it_matrix& matrix, int32_t rows, int32_t cols) {
  if (rows < 0 || cols < 0) {
    return InvalidArgument("a matrix of " + std::to_string(rows) + " x " + std::to_string(cols));
  }
  matrix.view.rows = rows;
  matrix.view.cols = cols;
  matrix.view.stride = DenseStride(rows, cols, matrix.view.order);
  return {};
}

Status SetOrder(it_matrix& matrix, it_order order, int64_t stride) {
  if (order != IT_ROW_MAJOR && order != IT_COLUMN_MAJOR) {
    return InvalidArgument("there is no order " + std::to_string(order));
  }
  if (stride < 0 || stride > std::numeric_limits<ptrdiff_t>::max()) {
    return InvalidArgument("stride " + std::to_string(stride));
  }
  ConstMatrix& view = matrix.view;
  const Order checked = order == IT_ROW_MAJOR ? Order::kRowMajor : Order::kColMajor;
  const ptrdiff_t dense = DenseStride(view.rows, view.cols, checked);
  if (stride != 0 && stride < dense) {
    return InvalidArgument("stride " + std::to_string(stride) + " is less than " +
                           std::to_string(dense) + ", the length of a line");
  }
  view.order = checked;
  view.stride = stride == 0 ? dense : static_cast<ptrdiff_t>(stride);
  return {};
}

}  // namespace

Result<Type> TypeFrom(it_type type) {
  if (IsType(type)) return static_cast<Type>(type);
  return InvalidArgument("there is no type " + std::to_string(type));
}

ConstMatrix OperandOf(const it_matrix& matrix, const void* data) {
  ConstMatrix view = matrix.view;
  view.data = data;
  return view;
}

MutableMatrix ResultOf(const it_matrix& matrix, void* data) {
  const ConstMatrix& view = matrix.view;
  return {data, view.type, view.rows, view.cols, view.stride, view.order};
}

Status CheckNoChannels(const it_matrix& matrix, const char* name) {
  if (matrix.channel_zero_points.empty()) return {};
  return InvalidArgument(std::string(name) +
                         " has zero points per channel, which only packed weights may have");
}

}  // namespace intaglio::c

using namespace intaglio::c;
using intaglio::Result;
using intaglio::Status;

size_t it_type_bytes(it_type type) {
  return IsType(type) ? intaglio::SizeOf(static_cast<intaglio::Type>(type)) : 0;
}

const char* it_type_name(it_type type) {
  return IsType(type) ? intaglio::NameOf(static_cast<intaglio::Type>(type)) : "?";
}

it_status* it_matrix_create(it_type type, int32_t rows, int32_t cols, it_matrix** out) {
  return Create(out, [&]() -> Result<std::unique_ptr<it_matrix>> {
    const auto checked = TypeFrom(type);
    if (!checked.ok()) return checked.status();
    auto matrix = std::make_unique<it_matrix>();
    matrix->view.type = *checked;
    INTAGLIO_RETURN_IF_ERROR(SetShape(*matrix, rows, cols));
    return matrix;
  });
}

void it_matrix_destroy(it_matrix* matrix) { delete matrix; }

it_status* it_matrix_set_shape(it_matrix* matrix, int32_t rows, int32_t cols) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(matrix, "matrix"));
    return SetShape(*matrix, rows, cols);
  });
}

it_status* it_matrix_set_order(it_matrix* matrix, it_order order, int64_t stride) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(matrix, "matrix"));
    return SetOrder(*matrix, order, stride);
  });
}

it_status* it_matrix_set_zero_point(it_matrix* matrix, int32_t zero_point) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(matrix, "matrix"));
    matrix->view.zero_point = zero_point;
    return {};
  });
}

it_status* it_matrix_set_channel_zero_points(it_matrix* matrix, const int32_t* zero_points,
                                             size_t count) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(matrix, "matrix"));
    if (count > 0) INTAGLIO_RETURN_IF_ERROR(NotNull(zero_points, "zero_points"));
    matrix->channel_zero_points.assign(zero_points, zero_points + count);
    return {};
  });
}
