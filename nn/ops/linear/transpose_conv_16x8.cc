// TRANSPOSE_CONV of int16 inputs and int8 weights: two products of 8 bits for every row of pixels
// (linear16.h), added as int64.
#include <algorithm>
#include <memory>
#include <utility>

#include "intaglio/nn/ops/linear/linear16.h"
#include "intaglio/nn/ops/linear/operators.h"
#include "intaglio/nn/ops/linear/transpose_conv.h"

namespace intaglio::nn {
namespace {

class TransposeConvRoutine final : public Routine {
 public:
  explicit TransposeConvRoutine(PackedMatrix packed) : filters(std::move(packed)) {}

  Status Run(const RunArguments& arguments) const override {
    const auto* in = static_cast<const int16_t*>(arguments.inputs[0]);
    auto* out = static_cast<int16_t*>(arguments.outputs[0]);
    auto* const sums = static_cast<int64_t*>(arguments.scratch);
    const Halves halves = HalvesIn(sums + scatter.image(), scatter.row_inputs());
    for (int n = 0; n < scatter.batch; ++n, out += scatter.image()) {
      std::fill_n(sums, scatter.image(), 0);
      for (int y = 0; y < scatter.y.in; ++y, in += scatter.row_inputs()) {
        Split(in, scatter.row_inputs(), halves);
        INTAGLIO_RETURN_IF_ERROR(
            AddRow(arguments, halves, {Type::kInt8, halves.high, 256}, y, sums));
        INTAGLIO_RETURN_IF_ERROR(AddRow(arguments, halves, {Type::kUInt8, halves.low, 1}, y, sums));
      }
      layer.Finish(sums, scatter.image(), out);
    }
    return {};
  }

  Scatter scatter;
  Linear16 layer;
  PackedMatrix filters;

 private:
  struct Half {
    Type type;
    const void* data;
    int64_t weight;
  };

  Status AddRow(const RunArguments& arguments, const Halves& halves, const Half& half, int row,
                int64_t* sums) const {
    const ConstMatrix x{half.data,        half.type, scatter.x.in, scatter.depth, scatter.depth,
                        Order::kRowMajor, 0};
    const MutableMatrix to{halves.products,   Type::kInt32,      scatter.x.in,
                           scatter.columns(), scatter.columns(), Order::kRowMajor};
    INTAGLIO_RETURN_IF_ERROR(Gemm(arguments.context, x, filters, to, StandardPipeline()));
    scatter.AddRow(halves.products, row, half.weight, sums);
    return {};
  }
};

}  // namespace

Result<PreparedLayer> PrepareTransposeConv16x8(const LayerView& layer, const LayerOptions& options,
                                               const Scatter& scatter) {
  const int64_t depth = int64_t{scatter.y.kernel} * scatter.x.kernel * scatter.depth;
  Result<Linear16> linear =
      CheckLinear16(layer, layer.op<TransposeConv>().activation, 0, scatter.channels, depth);
  if (!linear.ok()) return linear.status();
  Result<PackedOf<PackedMatrix>> packed = PackByTap(layer, options, 0);
  if (!packed.ok()) return packed.status();
  const Shape& out = layer.output().shape;
  const Result<size_t> image_bytes = CountBytes({out[1], out[2], out[3]}, Type::kInt64);
  if (!image_bytes.ok()) return layer.Wrap(image_bytes.status());
  const Result<size_t> row_bytes = HalvesBytes(layer, scatter.row_inputs(), scatter.row_products());
  if (!row_bytes.ok()) return row_bytes.status();

  PreparedLayer prepared;
  prepared.kernel = options.kernel;
  prepared.macs = CountMacs(layer.input(0).shape, scatter.columns());
  prepared.scratch_bytes = *image_bytes + *row_bytes;
  prepared.constant_bytes = packed->new_bytes;
  auto routine = std::make_shared<TransposeConvRoutine>(std::move(packed->form));
  routine->scatter = scatter;
  routine->layer = std::move(*linear);
  prepared.routine = std::move(routine);
  return prepared;
}

}  // namespace intaglio::nn
