// TRANSPOSE_CONV: every input pixel adds its products with all taps of all filters to the output,
// stride apart. The products of a row of pixels are one matrix product, whose int32 results are
// then added where they belong.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/gemm/gemm.h"
#include "intaglio/nn/ops/binary.h"
#include "intaglio/nn/ops/checks.h"
#include "intaglio/nn/ops/linear.h"
#include "intaglio/nn/ops/ops.h"
#include "intaglio/nn/ops/routine.h"

namespace intaglio::nn {
namespace {

// One dimension: input i adds to the outputs i * stride - pad + tap that exist.
struct Axis1 {
  int in = 0;
  int kernel = 1;
  int stride = 1;
  int pad = 0;
  int out = 0;
};

struct Places {
  Axis1 y;
  Axis1 x;
};

Result<Axis1> PlaceAxis(const LayerView& layer, int in, int kernel, int stride, int out) {
  if (in < 1 || kernel < 1 || stride < 1 || out < 1) {
    return layer.Invalid("cannot place " + std::to_string(in) + " inputs, a filter of " +
                         std::to_string(kernel) + " and the stride " + std::to_string(stride) +
                         " in " + std::to_string(out) + " outputs");
  }
  // The padding of a convolution from the output back to the input, whose extent it fixes itself.
  int64_t pad = 0;
  if (layer.op<TransposeConv>().padding.kind == Padding::Kind::kSame) {
    const int64_t back = (int64_t{out} + stride - 1) / stride;
    pad = std::max<int64_t>(0, (back - 1) * stride + kernel - out) / 2;
  }
  if (int64_t{in} * stride + kernel > std::numeric_limits<int>::max()) {
    return layer.Invalid("the stride " + std::to_string(stride) + " is too large");
  }
  return Axis1{in, kernel, stride, static_cast<int>(pad), out};
}

Result<Places> PlacesOf(const LayerView& layer) {
  INTAGLIO_RETURN_IF_ERROR(CheckImage(layer));
  const TransposeConv& op = layer.op<TransposeConv>();
  const Shape& x = layer.input(0).shape;
  const Shape& filter = layer.input(1).shape;
  const bool valid = filter.size() == 4 && op.shape.size() == 4 && op.shape[0] == x[0] &&
                     op.shape[3] == filter[0] && filter[3] == x[3] && x[3] > 0 && filter[0] > 0;
  if (!valid) {
    return layer.Invalid("filters " + ToString(filter) + " do not bring " + ToString(x) + " to " +
                         ToString(op.shape));
  }
  const Result<Axis1> y = PlaceAxis(layer, x[1], filter[1], op.stride.height, op.shape[1]);
  if (!y.ok()) return y.status();
  const Result<Axis1> along = PlaceAxis(layer, x[2], filter[2], op.stride.width, op.shape[2]);
  if (!along.ok()) return along.status();
  return Places{*y, *along};
}

class TransposeConvRoutine final : public Routine {
 public:
  explicit TransposeConvRoutine(PackedMatrix packed) : filters(std::move(packed)) {}

  Status Run(const RunArguments& arguments) const override {
    const auto* in = static_cast<const std::byte*>(arguments.inputs[0]);
    auto* out = static_cast<std::byte*>(arguments.outputs[0]);
    auto* const products = static_cast<int32_t*>(arguments.scratch);
    int32_t* const sums = products + row_products;
    for (int n = 0; n < batch; ++n, out += image) {
      std::fill_n(sums, image, 0);
      for (int y = 0; y < places.y.in; ++y, in += ptrdiff_t{places.x.in} * depth) {
        const ConstMatrix row{
            in, linear.type, places.x.in, depth, depth, Order::kRowMajor, linear.input.zero_point};
        const MutableMatrix to{products, Type::kInt32, places.x.in,
                               columns,  columns,      Order::kRowMajor};
        INTAGLIO_RETURN_IF_ERROR(Gemm(arguments.context, row, filters, to, StandardPipeline()));
        AddRow(products, y, sums);
      }
      if (linear.type == Type::kInt8) {
        Finish(sums, reinterpret_cast<int8_t*>(out));
      } else {
        Finish(sums, reinterpret_cast<uint8_t*>(out));
      }
    }
    return {};
  }

  int batch = 0;
  int depth = 0;
  int channels = 0;
  int columns = 0;  // taps times channels
  ptrdiff_t row_products = 0;
  ptrdiff_t image = 0;  // elements of an output image
  Places places;
  LinearLayer linear;
  Multipliers multipliers;
  PackedMatrix filters;

 private:
  void AddRow(const int32_t* products, int row, int32_t* sums) const {
    for (int i = 0; i < places.x.in; ++i, products += columns) {
      const int32_t* from = products;
      for (int ky = 0; ky < places.y.kernel; ++ky) {
        const int y = row * places.y.stride - places.y.pad + ky;
        for (int kx = 0; kx < places.x.kernel; ++kx, from += channels) {
          const int x = i * places.x.stride - places.x.pad + kx;
          if (y < 0 || y >= places.y.out || x < 0 || x >= places.x.out) continue;
          int32_t* const to = sums + (ptrdiff_t{y} * places.x.out + x) * channels;
          for (int c = 0; c < channels; ++c) to[c] += from[c];
        }
      }
    }
  }

  template <class T>
  void Finish(const int32_t* sums, T* out) const {
    const bool per_channel = multipliers.mantissa.size() > 1;
    for (ptrdiff_t pixel = 0; pixel < image; pixel += channels) {
      for (int c = 0; c < channels; ++c) {
        const size_t i = per_channel ? static_cast<size_t>(c) : 0;
        const int32_t bias = linear.bias.empty() ? 0 : linear.bias[static_cast<size_t>(c)];
        const int32_t scaled =
            Requantize(WrappingAdd(sums[pixel + c], bias), {multipliers.mantissa[i], multipliers.exponent[i]});
        out[pixel + c] =
            static_cast<T>(AddAndClamp(scaled, linear.output.zero_point, linear.clamp));
      }
    }
  }
};

// The filters [O, KH, KW, I] as [KH, KW, O, I]: the columns of the right-hand side.
Result<PackedMatrix> PackFilters(const LayerView& layer, const LinearLayer& linear,
                                 const LayerOptions& options) {
  const Shape& shape = layer.input(1).shape;
  const auto* const from = static_cast<const std::byte*>(layer.input(1).data);
  const auto depth = static_cast<size_t>(shape[3]);
  const int taps = shape[1] * shape[2];
  std::vector<std::byte> columns(layer.input(1).data_bytes);
  std::byte* to = columns.data();
  for (int tap = 0; tap < taps; ++tap) {
    for (int o = 0; o < shape[0]; ++o, to += depth) {
      std::memcpy(
          to,
          from + (static_cast<size_t>(o) * static_cast<size_t>(taps) + static_cast<size_t>(tap)) *
                     depth,
          depth);
    }
  }
  PackOptions pack;
  pack.kernel = options.kernel;
  const ConstMatrix matrix{columns.data(),
                           linear.type,
                           shape[3],
                           taps * shape[0],
                           shape[3],
                           Order::kColMajor,
                           linear.weight_zero_points[0]};
  return Prepack(Side::kRhs, matrix, pack);
}

// Counts fit int, filters of int8 are symmetric.
Status CheckFilters(const LayerView& layer, const LinearLayer& linear) {
  const Shape& shape = layer.input(1).shape;
  const Result<int64_t> columns = CountElements({shape[0], shape[1], shape[2]});
  if (!columns.ok() || *columns > std::numeric_limits<int>::max()) {
    return layer.Unsupported("filters of the shape " + ToString(shape));
  }
  if (linear.type == Type::kUInt8) return {};
  for (const int32_t zero_point : linear.weight_zero_points) {
    if (zero_point != 0) return layer.Unsupported("int8 filters with other zero points than 0");
  }
  return {};
}

}  // namespace

ShapesResult InferTransposeConv(const LayerView& layer) {
  const Result<Places> places = PlacesOf(layer);
  if (!places.ok()) return places.status();
  return std::vector<Shape>{layer.op<TransposeConv>().shape};
}

Result<PreparedLayer> PrepareTransposeConv(const LayerView& layer, const LayerOptions& options) {
  const Result<Places> places = PlacesOf(layer);
  if (!places.ok()) return places.status();
  const Shape& filter = layer.input(1).shape;
  const int64_t depth = *CountElements({filter[1], filter[2], filter[3]});
  Result<LinearLayer> linear =
      CheckLinear(layer, layer.op<TransposeConv>().activation, 0, filter[0], depth);
  if (!linear.ok()) return linear.status();
  INTAGLIO_RETURN_IF_ERROR(CheckFilters(layer, *linear));
  Result<Multipliers> multipliers =
      MakeMultipliers(layer, RealMultipliers(*linear, linear->type == Type::kUInt8));
  if (!multipliers.ok()) return multipliers.status();
  Result<PackedMatrix> packed = PackFilters(layer, *linear, options);
  if (!packed.ok()) return layer.Wrap(packed.status());

  const Shape& out = layer.output().shape;
  const int columns = filter[0] * filter[1] * filter[2];
  const Result<size_t> row_bytes = CountBytes({layer.input(0).shape[2], columns}, Type::kInt32);
  const Result<size_t> image_bytes = CountBytes({out[1], out[2], out[3]}, Type::kInt32);
  if (!row_bytes.ok()) return layer.Wrap(row_bytes.status());
  if (!image_bytes.ok()) return layer.Wrap(image_bytes.status());

  PreparedLayer prepared;
  prepared.macs = CountMacs(layer.input(0).shape, columns);
  prepared.scratch_bytes = *row_bytes + *image_bytes;
  prepared.constant_bytes = packed->bytes();
  prepared.kernel = options.kernel;
  prepared.name = RoutineName(linear->type, "gemm");
  auto routine = std::make_shared<TransposeConvRoutine>(std::move(*packed));
  routine->batch = layer.input(0).shape[0];
  routine->depth = filter[3];
  routine->channels = filter[0];
  routine->columns = columns;
  routine->row_products = static_cast<ptrdiff_t>(*row_bytes / sizeof(int32_t));
  routine->image = static_cast<ptrdiff_t>(*image_bytes / sizeof(int32_t));
  routine->places = *places;
  routine->linear = std::move(*linear);
  routine->multipliers = std::move(*multipliers);
  prepared.routine = std::move(routine);
  return prepared;
}

}  // namespace intaglio::nn
