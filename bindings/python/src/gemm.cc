#include "intaglio/bindings/python/src/gemm.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "intaglio/bindings/python/src/array.h"
#include "intaglio/bindings/python/src/errors.h"
#include "intaglio/bindings/python/src/gil.h"
#include "intaglio/fixedpoint/quantize_multiplier.h"
#include "intaglio/gemm/gemm.h"

namespace intaglio::python {
namespace {

namespace nb = nanobind;

// What gemm() takes besides the operands.
struct Arguments {
  nb::object bias;
  nb::object scale;
  int32_t zero_point = 0;
  nb::object out;
  int32_t a_zero_point = 0;
  int32_t b_zero_point = 0;
  std::optional<std::pair<int32_t, int32_t>> clamp;
  std::string rounding;
  int threads = 1;
};

int Extent(const ArrayView& view, size_t i, const ArrayName& name) {
  if (view.extent(i) > std::numeric_limits<int>::max()) {
    Raise("ShapeError", name.ToString() + ": a dimension is longer than 2^31 - 1");
  }
  return static_cast<int>(view.extent(i));
}

// Fills in rows, columns, stride and order. One of the two directions must be dense.
template <class Matrix>
Matrix MatrixOf(const ArrayView& view, const ArrayName& name) {
  if (view.rank() != 2) {
    Raise("ShapeError",
          name.ToString() + ": needs two dimensions, got " + std::to_string(view.rank()));
  }
  const int rows = Extent(view, 0, name);
  const int cols = Extent(view, 1, name);
  const auto size = static_cast<int64_t>(SizeOf(view.type()));
  Matrix matrix;
  matrix.data = view.data();
  matrix.type = view.type();
  matrix.rows = rows;
  matrix.cols = cols;
  const auto is_line = [&](size_t along, size_t across, int length) {
    const int64_t stride = view.stride(across);
    const bool dense = view.extent(along) == 1 || view.stride(along) == size;
    if (!dense) return false;
    matrix.stride = view.extent(across) <= 1 ? length : stride / size;
    return view.extent(across) <= 1 || (stride % size == 0 && stride / size >= length);
  };
  if (is_line(1, 0, cols)) {
    matrix.order = Order::kRowMajor;
  } else if (is_line(0, 1, rows)) {
    matrix.order = Order::kColMajor;
  } else {
    Raise("LayoutError", name.ToString() + ": neither rows nor columns are contiguous");
  }
  return matrix;
}

// A dense vector of `type`, of `length` elements.
void OpenVector(ArrayView& view, nb::handle array, Type type, int length, const ArrayName& name) {
  view.Open(array, Access::kRead, name);
  view.Require(type, {length}, name);
}

Type TypeNamed(const std::string& name) {
  for (const Type type : {Type::kInt8, Type::kUInt8, Type::kInt16, Type::kInt32, Type::kFloat32}) {
    if (name == NameOf(type)) return type;
  }
  Raise("DtypeError", "out: a product is int8, uint8, int16, int32 or float32, not '" + name + "'");
}

Scaling ScalingNamed(const std::string& rounding) {
  if (rounding == "half_even") return Scaling::kFloatHalfEven;
  if (rounding == "single") return Scaling::kSingleRounding;
  if (rounding == "double") return Scaling::kDoubleRounding;
  Raise("ArgumentError", "rounding: 'half_even', 'single' or 'double', not '" + rounding + "'");
}

// "int8", numpy.int8 and numpy.dtype("int8") name a dtype. All else is an array.
std::optional<std::string> DtypeName(nb::handle out) {
  if (nb::isinstance<nb::str>(out)) return nb::cast<std::string>(out);
  if (PyObject_CheckBuffer(out.ptr()) != 0) return std::nullopt;
  const nb::object dtype = nb::module_::import_("numpy").attr("dtype");
  if (PyType_Check(out.ptr()) == 0 && !nb::isinstance(out, dtype)) return std::nullopt;
  return nb::cast<std::string>(dtype(out).attr("name"));
}

// Whether it is a number of Python, or a scalar of NumPy or the like.
bool IsNumber(nb::handle value) {
  if (PyFloat_Check(value.ptr()) || PyLong_Check(value.ptr())) return true;
  int rank = -1;
  return nb::try_cast(nb::getattr(value, "ndim", nb::none()), rank) && rank == 0;
}

[[noreturn]] void RaiseBadNumber(const char* role) {
  nb::python_error error;
  Raise("ArgumentError", std::string(role) + ": " + error.what());
}

double FloatFrom(nb::handle value, const char* role) {
  const double number = PyFloat_AsDouble(value.ptr());
  if (PyErr_Occurred() != nullptr) RaiseBadNumber(role);
  return number;
}

int32_t Int32From(nb::handle value, const char* role) {
  const nb::object integer = nb::steal(PyNumber_Index(value.ptr()));
  if (!integer.is_valid()) RaiseBadNumber(role);
  int32_t number = 0;
  if (!nb::try_cast(integer, number)) Raise("ArgumentError", std::string(role) + ": no int32");
  return number;
}

// A standard pipeline with the arrays that it points to.
class Finish {
 public:
  Finish(const Arguments& arguments, Type output, int columns) {
    pipeline_.output = output;
    pipeline_.zero_point = arguments.zero_point;
    if (arguments.clamp) {
      std::tie(pipeline_.clamp_min, pipeline_.clamp_max) = *arguments.clamp;
    }
    if (!arguments.bias.is_none()) {
      OpenVector(bias_, arguments.bias, Type::kInt32, columns, {"bias"});
      pipeline_.bias = static_cast<const int32_t*>(bias_.data());
    }
    if (!arguments.scale.is_none()) SetScale(arguments, columns);
  }
  Finish(const Finish&) = delete;
  Finish& operator=(const Finish&) = delete;

  const StandardPipeline& pipeline() const { return pipeline_; }

 private:
  void SetScale(const Arguments& arguments, int columns) {
    if (IsNumber(arguments.scale)) {
      one_scale_ = FloatFrom(arguments.scale, "scale");
      one_float_ = static_cast<float>(one_scale_);
      pipeline_.scale = &one_float_;
    } else {
      OpenVector(scales_, arguments.scale, Type::kFloat32, columns, {"scale"});
      pipeline_.scale = static_cast<const float*>(scales_.data());
      pipeline_.per_channel = true;
    }
    pipeline_.scaling =
        pipeline_.output == Type::kFloat32 ? Scaling::kToFloat : ScalingNamed(arguments.rounding);
    if (pipeline_.scaling == Scaling::kSingleRounding ||
        pipeline_.scaling == Scaling::kDoubleRounding) {
      SetMultipliers(pipeline_.per_channel ? columns : 1);
    }
  }

  void SetMultipliers(int count) {
    for (int i = 0; i < count; ++i) {
      const Result<QuantizedMultiplier> multiplier =
          QuantizeMultiplier(pipeline_.per_channel ? pipeline_.scale[i] : one_scale_);
      RaiseIfError(multiplier.status(), "ArgumentError");
      mantissas_.push_back(multiplier->mantissa);
      exponents_.push_back(multiplier->exponent);
    }
    pipeline_.mantissa = mantissas_.data();
    pipeline_.exponent = exponents_.data();
  }

  StandardPipeline pipeline_;
  ArrayView bias_;
  ArrayView scales_;
  double one_scale_ = 0;
  float one_float_ = 0;
  std::vector<int32_t> mantissas_;
  std::vector<int32_t> exponents_;
};

// A context of the calling thread, kept from call to call.
Context& ContextOfThread(int threads) {
  thread_local std::unique_ptr<Context> context;
  if (threads < 1 || threads > 4096) {
    Raise("ArgumentError", "threads: a number from 1 to 4096, not " + std::to_string(threads));
  }
  if (!context || context->threads() != threads) context = std::make_unique<Context>(threads);
  return *context;
}

nb::object Gemm(nb::handle a, nb::handle b, const Arguments& arguments) {
  ArrayView a_view;
  ArrayView b_view;
  a_view.Open(a, Access::kRead, {"a"});
  ConstMatrix lhs = MatrixOf<ConstMatrix>(a_view, {"a"});
  lhs.zero_point = arguments.a_zero_point;
  ConstMatrix rhs;
  const PackedMatrix* packed = nullptr;
  if (nb::isinstance<PackedMatrix>(b)) {
    packed = nb::cast<const PackedMatrix*>(b);
    if (arguments.b_zero_point != 0) {
      Raise("ArgumentError", "b_zero_point: a packed matrix has its own");
    }
  } else {
    b_view.Open(b, Access::kRead, {"b"});
    rhs = MatrixOf<ConstMatrix>(b_view, {"b"});
    rhs.zero_point = arguments.b_zero_point;
  }
  const int columns = packed != nullptr ? packed->cols() : rhs.cols;
  nb::object out = arguments.out;
  if (const auto dtype = DtypeName(out)) {
    out = ArrayMaker(TypeNamed(*dtype), {lhs.rows, columns}).Make();
  }
  ArrayView out_view;
  out_view.Open(out, Access::kWrite, {"out"});
  const MutableMatrix dst = MatrixOf<MutableMatrix>(out_view, {"out"});
  const Finish finish(arguments, dst.type, columns);
  Context& context = ContextOfThread(arguments.threads);
  Status status;
  {
    const GilRelease release;
    status = intaglio::Gemm(context, lhs, packed != nullptr ? Operand(*packed) : Operand(rhs), dst,
                            finish.pipeline());
  }
  RaiseIfError(status, "ArgumentError");
  return out;
}

PackedMatrix Pack(nb::handle matrix, nb::handle zero_point, const std::string& kernel) {
  ArrayView view;
  view.Open(matrix, Access::kRead, {"b"});
  ConstMatrix source = MatrixOf<ConstMatrix>(view, {"b"});
  PackOptions options;
  options.kernel = kernel;
  ArrayView points;
  if (IsNumber(zero_point)) {
    source.zero_point = Int32From(zero_point, "zero_point");
  } else {
    OpenVector(points, zero_point, Type::kInt32, source.cols, {"zero_point"});
    const auto* const first = static_cast<const int32_t*>(points.data());
    options.channel_zero_points.assign(first, first + source.cols);
  }
  Result<PackedMatrix> packed = InvalidArgument("");
  {
    const GilRelease release;
    packed = Prepack(Side::kRhs, source, options);
  }
  RaiseIfError(packed.status(), "ArgumentError");
  return std::move(*packed);
}

constexpr const char* kPackDoc =
    R"(Packs the right-hand matrix of many products, once, for the kernel of this CPU.

``b`` is an int8 or uint8 array of shape (depth, columns), of which rows or columns are
contiguous; it is read, and not kept. ``zero_point`` is one number, or an int32 array with one for
each column. ``kernel`` is one of those that ``python -m intaglio cpu`` lists; empty: the best.)";

constexpr const char* kGemmDoc =
    R"(Computes ``a @ b`` exactly, and finishes it: ``out = round(scale * (a @ b + bias)) + zero_point``.

``a`` is an int8 or uint8 array of shape (rows, depth), ``b`` one of shape (depth, columns) or the
result of pack(). Rows or columns must be contiguous; nothing is copied.

bias: an int32 array with one number for each column.
scale: a number, or a float32 array with one for each column. None: the int32 sums as they are.
zero_point: of the result.
out: the dtype of the result, or an array that receives it: int8, uint8, int16, int32, float32.
a_zero_point, b_zero_point: of the operands. A packed matrix has its own.
clamp: a pair (lowest, highest), in the numbers of the result. The dtype always clamps.
rounding: 'half_even', as ONNX; 'single' or 'double', the two of TFLite.
threads: the number of threads that compute, including the caller's.

Returns the result. The same bits come out on every CPU, with any number of threads.)";

}  // namespace

void BindGemm(nb::module_& module) {
  nb::class_<PackedMatrix>(module, "Packed",
                           "A right-hand matrix that pack() made. Threads may share it.")
      .def_prop_ro(
          "shape",
          [](const PackedMatrix& packed) { return nb::make_tuple(packed.rows(), packed.cols()); },
          nb::sig("def shape(self) -> tuple[int, int]"), "(depth, columns)")
      .def_prop_ro("nbytes", &PackedMatrix::bytes, "The bytes of memory that it takes.")
      .def("__repr__", [](const PackedMatrix& packed) {
        return "<intaglio.Packed " + std::to_string(packed.rows()) + " x " +
               std::to_string(packed.cols()) + ">";
      });
  module.def("pack", &Pack, nb::arg("b"), nb::kw_only(), nb::arg("zero_point") = 0,
             nb::arg("kernel") = "",
             nb::sig("def pack(b: object, *, zero_point: object = 0, kernel: str = '') -> Packed"),
             kPackDoc);
  module.def(
      "gemm",
      [](nb::handle a, nb::handle b, nb::object bias, nb::object scale, int32_t zero_point,
         nb::object out, int32_t a_zero_point, int32_t b_zero_point,
         std::optional<std::pair<int32_t, int32_t>> clamp, std::string rounding, int threads) {
        return Gemm(a, b,
                    {std::move(bias), std::move(scale), zero_point, std::move(out), a_zero_point,
                     b_zero_point, clamp, std::move(rounding), threads});
      },
      nb::arg("a"), nb::arg("b"), nb::kw_only(), nb::arg("bias") = nb::none(),
      nb::arg("scale") = nb::none(), nb::arg("zero_point") = 0, nb::arg("out") = "int32",
      nb::arg("a_zero_point") = 0, nb::arg("b_zero_point") = 0, nb::arg("clamp") = nb::none(),
      nb::arg("rounding") = "half_even", nb::arg("threads") = 1,
      nb::sig("def gemm(a: object, b: object, *, bias: object = None, scale: object = None, "
              "zero_point: int = 0, out: object = 'int32', a_zero_point: int = 0, "
              "b_zero_point: int = 0, clamp: tuple[int, int] | None = None, "
              "rounding: str = 'half_even', threads: int = 1) -> numpy.ndarray"),
      kGemmDoc);
}

}  // namespace intaglio::python
