// AVERAGE_POOL_2D and MAX_POOL_2D of integers. Both work on the quantized numbers as they are. As
// in TFLite, they do not rescale if the quantizations of input and output differ. The activation
// uses the output's quantization.
#include "intaglio/nn/ops/window/pool_2d.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>

#include "intaglio/gemm/byte_elementwise.h"
#include "intaglio/nn/graph/cost.h"
#include "intaglio/nn/graph/ledger.h"
#include "intaglio/nn/ops/support/divider.h"
#include "intaglio/nn/ops/support/parallel.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/ops/support/window.h"
#include "intaglio/nn/ops/window/operators.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {
namespace {

// Sums and means as int32, one per channel, in scratch.
template <class T>
struct AveragePixel {
  explicit AveragePixel(void* scratch) : sums(static_cast<int32_t*>(scratch)) {}

  void Start(int channels) { std::fill_n(sums, channels, 0); }
  void Take(const T* pixel, int channels) {
    for (int c = 0; c < channels; ++c) sums[c] += pixel[c];
  }
  void Finish(T* out, int channels, int count, Range clamp) {
    const Divider divider(count);
    for (int c = 0; c < channels; ++c) {
      out[c] = static_cast<T>(std::clamp(divider.Round(sums[c]), clamp.min, clamp.max));
    }
  }

  int32_t* sums;
};

// The maximum so far, in scratch, so that output and input may be one memory.
template <class T>
struct MaxPixel {
  explicit MaxPixel(void* scratch) : best(static_cast<T*>(scratch)) {}

  void Start(int channels) { std::fill_n(best, channels, std::numeric_limits<T>::min()); }
  void Take(const T* pixel, int channels) {
    for (int c = 0; c < channels; ++c) best[c] = std::max(best[c], pixel[c]);
  }
  void Finish(T* out, int channels, int, Range clamp) {
    const T low = static_cast<T>(clamp.min);
    const T high = static_cast<T>(clamp.max);
    for (int c = 0; c < channels; ++c) out[c] = std::clamp(best[c], low, high);
  }

  T* best;
};

template <class T, template <class> class Pixel>
class PoolRoutine final : public Routine {
 public:
  explicit PoolRoutine(const PoolShape& shape) : shape_(shape) {}

  Status Run(const RunArguments& arguments) const override {
    const auto* const in = static_cast<const T*>(arguments.inputs[0]);
    auto* out = static_cast<T*>(arguments.outputs[0]);
    const ptrdiff_t stride = arguments.output_stride / ptrdiff_t{sizeof(T)};
    if (shape_.channels == 0) return {};
    Pixel<T> pixel(arguments.scratch);
    const WindowAxis& y = shape_.window.y;
    const WindowAxis& x = shape_.window.x;
    for (int n = 0; n < shape_.batch; ++n) {
      const T* const image = in + ptrdiff_t{n} * y.in * x.in * shape_.channels;
      for (int oy = 0; oy < y.out; ++oy) {
        for (int ox = 0; ox < x.out; ++ox) {
          PoolWindow(image, Taps(y, oy), Taps(x, ox), pixel, out);
          out += stride;
        }
      }
    }
    return {};
  }

 private:
  void PoolWindow(const T* image, const Taps& rows, const Taps& cols, Pixel<T>& pixel,
                  T* out) const {
    const int channels = shape_.channels;
    pixel.Start(channels);
    for (int y = rows.begin; y < rows.end; ++y) {
      const T* in = image + (ptrdiff_t{y} * shape_.window.x.in + cols.begin) * channels;
      for (int x = cols.begin; x < cols.end; ++x, in += channels) pixel.Take(in, channels);
    }
    pixel.Finish(out, channels, rows.count() * cols.count(), shape_.clamp);
  }

  PoolShape shape_;
};

// 8-bit windows, by the kernel's routines on lines of channels; rows of windows are shared out to
// threads.
class BytePoolRoutine final : public Routine {
 public:
  using Function = decltype(LineRoutines::largest);

  static constexpr int kMostTaps = LineRoutines::kMostTaps;  // of a window
  // The bytes of the rows of taps under a strip of windows. L1 holds so many, together with what is
  // computed from them, until the next line of windows uses them again.
  static constexpr ptrdiff_t kStripBytes = 16 << 10;
  static constexpr ptrdiff_t kLeastStrip = 8;  // windows: columns are shared within a strip only
  // Narrower pixels are computed several at a time where they are dense, which saves more than a
  // copy costs.
  static constexpr int kLeastStrided = 64;

  BytePoolRoutine(const PoolShape& shape, Type type, Function function)
      : shape_(shape),
        output_{type == Type::kInt8, 0, shape.clamp.min, shape.clamp.max},
        function_(function) {}

  Status Run(const RunArguments& arguments) const override {
    const auto* const in = static_cast<const uint8_t*>(arguments.inputs[0]);
    auto* const out = static_cast<uint8_t*>(arguments.outputs[0]);
    const ptrdiff_t row_bytes = ptrdiff_t{shape_.window.x.out} * shape_.channels;
    const ptrdiff_t rows = ptrdiff_t{shape_.batch} * shape_.window.y.out;
    if (row_bytes == 0) return {};
    const ptrdiff_t stride = arguments.output_stride;
    ForParts(arguments.context, rows, kLeastBytesOfThread / row_bytes + 1,
             [&](ptrdiff_t first, ptrdiff_t last) {
               for (ptrdiff_t row = first; row < last;) {
                 row += RunBand(in, row, last, stride, out + row * shape_.window.x.out * stride);
               }
             });
    return {};
  }

 private:
  // Rows of windows from this one on, before `last`: as many as lie inside their image, or one.
  // Returns how many. Windows that lie inside the image are one run; those beyond its edges have
  // fewer columns each. `stride`: bytes of the output from one pixel to the next.
  int RunBand(const uint8_t* in, ptrdiff_t row, ptrdiff_t last, ptrdiff_t stride,
              uint8_t* out) const {
    const Window& w = shape_.window;
    const uint8_t* const image = in + row / w.y.out * w.y.in * w.x.in * shape_.channels;
    const auto oy = static_cast<int>(row % w.y.out);
    const Taps rows(w.y, oy);
    const auto lines = static_cast<int>(std::min<ptrdiff_t>(WindowsInside(w.y, oy), last - row));
    const int most = MostOfStrip(rows.count());
    for (int ox = 0; ox < w.x.out;) {
      const Taps columns(w.x, ox);
      const int pixels = std::min(WindowsInside(w.x, ox), most);
      function_(
          {image + (ptrdiff_t{rows.begin} * w.x.in + columns.begin) * shape_.channels,
           ptrdiff_t{w.x.in} * shape_.channels, shape_.channels, rows.count(), columns.count(),
           w.x.stride, pixels, shape_.channels, out, stride, lines, w.y.stride, w.x.out * stride},
          output_);
      ox += pixels;
      out += pixels * stride;
    }
    return lines;
  }

  // How many windows of so many rows make a strip; neighbouring lines of windows that share but few
  // rows need none.
  int MostOfStrip(int rows) const {
    const Window& w = shape_.window;
    if (w.y.stride > 1) return w.x.out;
    const ptrdiff_t step_bytes = ptrdiff_t{rows} * w.x.stride * shape_.channels;
    return static_cast<int>(std::max<ptrdiff_t>(kLeastStrip, kStripBytes / step_bytes));
  }

  // Windows from this one on that lie inside the image; 1 for one that does not.
  static int WindowsInside(const WindowAxis& axis, int out) {
    if (Taps(axis, out).count() < axis.kernel) return 1;
    const int last = (axis.in - axis.kernel + axis.pad) / axis.stride;
    return std::min(last, axis.out - 1) - out + 1;
  }

  PoolShape shape_;
  LineOutput output_;
  Function function_;
};

template <class Op>
Result<Window> WindowOf(const LayerView& layer) {
  const Op& op = layer.op<Op>();
  return PlaceWindow(layer, op.filter, op.stride, {1, 1}, op.padding);
}

template <class Op>
ShapesResult InferPool(const LayerView& layer) {
  const Result<Window> window = WindowOf<Op>(layer);
  if (!window.ok()) return window.status();
  const Shape& shape = layer.input(0).shape;
  return std::vector<Shape>{{shape[0], window->y.out, window->x.out, shape[3]}};
}

// Every window must meet the image, and an average must not overflow: at most 2^22 taps of 8 bits
// or float32, or 2^15 of 16.
Status CheckWindows(const LayerView& layer, const Window& window) {
  for (const WindowAxis& axis : {window.y, window.x}) {
    for (const int out : {0, axis.out - 1}) {
      if (axis.out > 0 && Taps(axis, out).count() == 0) {
        return layer.Invalid("a window of " + std::to_string(axis.kernel) +
                             " elements lies in the padding only");
      }
    }
  }
  const int64_t taps =
      std::min<int64_t>(window.y.kernel, window.y.in) * std::min(window.x.kernel, window.x.in);
  const int bits = layer.output().type == Type::kInt16 ? 15 : 22;
  if (taps <= int64_t{1} << bits) return {};
  return layer.Unsupported("a window covers " + std::to_string(taps) + " elements; at most 2^" +
                           std::to_string(bits) + " are supported");
}

template <class Op>
Result<Window> CheckedWindow(const LayerView& layer) {
  Result<Window> window = WindowOf<Op>(layer);
  if (!window.ok()) return window;
  INTAGLIO_RETURN_IF_ERROR(CheckWindows(layer, *window));
  return window;
}

Result<PoolShape> QuantizedPool(const LayerView& layer, const Window& window,
                                Activation activation) {
  const Result<InOut> q = SameTypeInOut(layer);
  if (!q.ok()) return q.status();
  const Result<Range> clamp = ActivationRange(layer, activation, layer.output().type, q->output);
  if (!clamp.ok()) return clamp.status();
  const Shape& shape = layer.input(0).shape;
  return PoolShape{shape[0], shape[3], window, *clamp};
}

template <class Op>
Result<PoolShape> PoolShapeOf(const LayerView& layer) {
  const Result<Window> window = CheckedWindow<Op>(layer);
  if (!window.ok()) return window.status();
  return QuantizedPool(layer, *window, layer.op<Op>().activation);
}

template <class Op, template <class> class Pixel>
Result<PreparedLayer> PreparePool(const LayerView& layer, const LayerOptions& options,
                                  size_t scratch_per_channel,
                                  BytePoolRoutine::Function LineRoutines::*function) {
  const Result<PoolShape> checked = PoolShapeOf<Op>(layer);
  if (!checked.ok()) return checked.status();
  const PoolShape& pool = *checked;
  const Type type = layer.output().type;
  PreparedLayer prepared;
  if (SizeOf(type) == 1 &&
      int64_t{pool.window.y.kernel} * pool.window.x.kernel <= BytePoolRoutine::kMostTaps) {
    const Result<const LineRoutines*> lines = LinesOf(options.kernel);
    if (!lines.ok()) return layer.Wrap(lines.status());
    prepared.routine = std::make_shared<BytePoolRoutine>(pool, type, (*lines)->*function);
    prepared.strides_output = pool.channels >= BytePoolRoutine::kLeastStrided;
    return prepared;
  }
  prepared.routine =
      VisitType<int8_t, uint8_t, int16_t>(type, [&](auto zero) -> std::shared_ptr<const Routine> {
        return std::make_shared<PoolRoutine<decltype(zero), Pixel>>(pool);
      });
  prepared.scratch_bytes = static_cast<size_t>(pool.channels) * scratch_per_channel;
  prepared.strides_output = true;
  return prepared;
}

ShapesResult InferAveragePool2D(const LayerView& layer) { return InferPool<AveragePool2D>(layer); }

ShapesResult InferMaxPool2D(const LayerView& layer) { return InferPool<MaxPool2D>(layer); }

ShapesResult InferL2Pool2D(const LayerView& layer) { return InferPool<L2Pool2D>(layer); }

}  // namespace

Result<PoolShape> ShapeOfAveragePool2D(const LayerView& layer) {
  return PoolShapeOf<AveragePool2D>(layer);
}

Result<PoolShape> ShapeOfMaxPool2D(const LayerView& layer) { return PoolShapeOf<MaxPool2D>(layer); }

namespace {

template <class Op, PoolKind kKind>
Result<PreparedLayer> PrepareFloat(const LayerView& layer, const LayerOptions& options) {
  const Result<Window> window = CheckedWindow<Op>(layer);
  if (!window.ok()) return window.status();
  return PreparePoolFloat(layer, options, *window, layer.op<Op>().activation, kKind);
}

Result<PreparedLayer> PrepareAverage(const LayerView& layer, const LayerOptions& options) {
  return PreparePool<AveragePool2D, AveragePixel>(layer, options, sizeof(int32_t),
                                                  &LineRoutines::average);
}

constexpr Candidate kAveragePool2DWays[] = {
    {"average_pool", PrepareAverage, kQuantized},
    {"average_pool", PrepareFloat<AveragePool2D, PoolKind::kAverage>, kFloat}};

Result<PreparedLayer> PrepareMax(const LayerView& layer, const LayerOptions& options) {
  return PreparePool<MaxPool2D, MaxPixel>(layer, options, SizeOf(layer.output().type),
                                          &LineRoutines::largest);
}

constexpr Candidate kMaxPool2DWays[] = {
    {"max_pool", PrepareMax, kQuantized},
    {"max_pool", PrepareFloat<MaxPool2D, PoolKind::kLargest>, kFloat}};

// One step for each element that lies in a window.
template <class Pool>
int64_t CountReads(const LayerView& layer) {
  const Extent filter = layer.op<Pool>().filter;
  if (filter.height <= 1 && filter.width <= 1) return 0;
  const Shape& in = layer.input(0).shape;
  const int64_t window = int64_t{std::min(filter.height, in[1])} * std::min(filter.width, in[2]);
  return MultiplySaturated(CountOrMax(layer.output()), window);
}

}  // namespace

constinit const OperatorRow AveragePool2D::kRow = {.name = "AVERAGE_POOL_2D",
                                                   .min_inputs = 1,
                                                   .max_inputs = 1,
                                                   .types = kQuantized | kFloat,
                                                   .infer = InferAveragePool2D,
                                                   .candidates = kAveragePool2DWays,
                                                   .extra_work = CountReads<AveragePool2D>};

constinit const OperatorRow MaxPool2D::kRow = {.name = "MAX_POOL_2D",
                                               .min_inputs = 1,
                                               .max_inputs = 1,
                                               .types = kQuantized | kFloat,
                                               .infer = InferMaxPool2D,
                                               .candidates = kMaxPool2DWays,
                                               .extra_work = CountReads<MaxPool2D>};

constinit const OperatorRow L2Pool2D::kRow = {
    .name = "L2_POOL_2D",
    .min_inputs = 1,
    .max_inputs = 1,
    .types = kFloat,
    .infer = InferL2Pool2D,
    .candidates = Candidate{"l2_pool", PrepareFloat<L2Pool2D, PoolKind::kRootMeanSquare>},
    .extra_work = CountReads<L2Pool2D>};

}  // namespace intaglio::nn
