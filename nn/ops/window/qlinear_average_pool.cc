// QLINEAR_AVERAGE_POOL_2D: means of windows of bytes, computed in float32.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/gemm/float_loops.h"
#include "intaglio/nn/graph/cost.h"
#include "intaglio/nn/graph/ledger.h"
#include "intaglio/nn/ops/support/half_even.h"
#include "intaglio/nn/ops/support/parallel.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/ops/window/operators.h"
#include "intaglio/nn/ops/window/pool_2d.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {
namespace {

// Padding along one dimension that counts.
struct Counted {
  int before = 0;
  int behind = 0;

  // How many elements of a window count.
  int64_t In(const WindowAxis& axis, int out) const {
    const int64_t start = int64_t{out} * axis.stride - axis.pad;
    const int64_t begin = std::max<int64_t>(start, -before);
    const int64_t end = std::min<int64_t>(start + axis.kernel, int64_t{axis.in} + behind);
    return std::max<int64_t>(0, end - begin);
  }
  int64_t MostIn(const WindowAxis& axis) const {
    return std::min<int64_t>(axis.kernel, int64_t{axis.in} + before + behind);
  }
};

class AverageRoutine final : public Routine {
 public:
  Status Run(const RunArguments& arguments) const override {
    const ptrdiff_t bytes = window.x.out * arguments.output_stride;  // of a line
    ForParts(arguments.context, ptrdiff_t{batch} * window.y.out,
             kLeastBytesOfThread / std::max<ptrdiff_t>(1, bytes) + 1,
             [&](ptrdiff_t begin, ptrdiff_t end) {
               for (ptrdiff_t line = begin; line < end; ++line) AverageLine(arguments, line);
             });
    return {};
  }

  Window window;
  Counted rows;
  Counted columns;
  int batch = 0;
  int channels = 0;
  WindowOfBytes bytes;  // with what is the same in all windows
  const FloatLoops* floats = nullptr;

 private:
  void AverageLine(const RunArguments& arguments, ptrdiff_t line) const {
    const WindowAxis& y = window.y;
    const WindowAxis& x = window.x;
    const auto* const image =
        static_cast<const uint8_t*>(arguments.inputs[0]) + line / y.out * y.in * x.in * channels;
    const ptrdiff_t stride = arguments.output_stride;
    auto* out = static_cast<uint8_t*>(arguments.outputs[0]) + line * x.out * stride;
    const auto out_y = static_cast<int>(line % y.out);
    const Taps taps_y(y, out_y);
    const int64_t height = rows.In(y, out_y);
    WindowOfBytes w = bytes;
    w.rows = taps_y.count();
    for (int out_x = 0; out_x < x.out; ++out_x, out += stride) {
      const Taps taps_x(x, out_x);
      w.columns = taps_x.count();
      w.divisor = static_cast<float>(height * columns.In(x, out_x));
      if (w.rows > 0 && w.columns > 0) {
        w.x = image + (ptrdiff_t{taps_y.begin} * x.in + taps_x.begin) * channels;
      } else {
        w.rows = 0;
      }
      floats->average_bytes(w, channels, out);
      w.rows = taps_y.count();
    }
  }
};

ShapesResult InferAverage(const LayerView& layer) {
  const auto& op = layer.op<QLinearAveragePool2D>();
  const Result<Window> window = PlaceWindow(layer, op.filter, op.stride, {1, 1}, op.padding);
  if (!window.ok()) return window.status();
  const Shape& shape = layer.input(0).shape;
  return std::vector<Shape>{{shape[0], window->y.out, window->x.out, shape[3]}};
}

// Counts of windows are exact in float32, and each is at least 1.
Status CheckCounts(const LayerView& layer, const AverageRoutine& routine) {
  const auto check = [&](const Counted& counted, const WindowAxis& axis) -> Status {
    if (counted.before < 0 || counted.behind < 0) {
      return layer.Invalid("a negative amount of padding counts");
    }
    for (const int out : {0, axis.out - 1}) {
      if (axis.out > 0 && counted.In(axis, out) == 0) {
        return layer.Invalid("in a window of " + std::to_string(axis.kernel) +
                             " elements none counts");
      }
    }
    return {};
  };
  const Window& w = routine.window;
  INTAGLIO_RETURN_IF_ERROR(check(routine.rows, w.y));
  INTAGLIO_RETURN_IF_ERROR(check(routine.columns, w.x));
  const int64_t most = routine.rows.MostIn(w.y) * routine.columns.MostIn(w.x);
  if (most <= int64_t{1} << 22) return {};
  return layer.Unsupported("a window covers " + std::to_string(most) +
                           " elements; at most 2^22 are supported");
}

Result<PreparedLayer> PrepareAverage(const LayerView& layer, const LayerOptions& options) {
  const auto& op = layer.op<QLinearAveragePool2D>();
  const Result<Window> window = PlaceWindow(layer, op.filter, op.stride, {1, 1}, op.padding);
  if (!window.ok()) return window.status();
  const Result<Affine> from = AffineOf(layer, layer.input(0));
  if (!from.ok()) return from.status();
  const Result<HalfEvenQuantizer> to = OutputQuantizer(layer);
  if (!to.ok()) return to.status();
  if (SizeOf(layer.output().type) != 1) {
    return layer.Unsupported(std::string("the output is ") + NameOf(layer.output().type) +
                             "; int8 or uint8 is supported");
  }
  const Shape& shape = layer.input(0).shape;
  auto routine = std::make_shared<AverageRoutine>();
  routine->window = *window;
  routine->rows = {op.counted.top, op.counted.bottom};
  routine->columns = {op.counted.left, op.counted.right};
  INTAGLIO_RETURN_IF_ERROR(CheckCounts(layer, *routine));
  routine->batch = shape[0];
  routine->channels = shape[3];
  WindowOfBytes& bytes = routine->bytes;
  bytes.x_row = ptrdiff_t{window->x.in} * shape[3];
  bytes.x_column = shape[3];
  bytes.is_signed = layer.input(0).type == Type::kInt8;
  bytes.zero_point = from->zero_point;
  bytes.scale = from->scale;
  bytes.to = to->of_bytes();
  routine->floats = &FloatLoopsOf(options.kernel);
  PreparedLayer prepared;
  prepared.strides_output = true;
  prepared.routine = std::move(routine);
  return prepared;
}

int64_t CountReads(const LayerView& layer) {
  const Extent filter = layer.op<QLinearAveragePool2D>().filter;
  const Shape& in = layer.input(0).shape;
  const int64_t window = int64_t{std::min(filter.height, in[1])} * std::min(filter.width, in[2]);
  return MultiplySaturated(CountOrMax(layer.output()), window);
}

}  // namespace

constinit const OperatorRow QLinearAveragePool2D::kRow = {
    .name = "QLINEAR_AVERAGE_POOL_2D",
    .min_inputs = 1,
    .max_inputs = 1,
    .types = kEightBit,
    .infer = InferAverage,
    .candidates = Candidate{"float32", PrepareAverage},
    .extra_work = CountReads};

}  // namespace intaglio::nn
