// AVERAGE_POOL_2D, MAX_POOL_2D and L2_POOL_2D of float32.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "intaglio/gemm/float_loops.h"
#include "intaglio/nn/ops/support/binary.h"
#include "intaglio/nn/ops/support/parallel.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/ops/window/pool_2d.h"

namespace intaglio::nn {
namespace {

class PoolRoutine final : public Routine {
 public:
  Status Run(const RunArguments& arguments) const override {
    const int height = window.y.out;
    const ptrdiff_t bytes = window.x.out * arguments.output_stride;  // of a line
    ForParts(arguments.context, ptrdiff_t{batch} * height,
             kLeastBytesOfThread / std::max<ptrdiff_t>(1, bytes) + 1,
             [&](ptrdiff_t begin, ptrdiff_t end) {
               for (int first = 0; first < channels; first += kBlock) {
                 const int count = std::min(kBlock, channels - first);
                 for (ptrdiff_t l = begin; l < end; ++l) PoolLine(arguments, l, first, count);
               }
             });
    return {};
  }

  PoolKind kind = PoolKind::kAverage;
  Window window;
  int batch = 0;
  int channels = 0;
  Bounds<float> bounds{Activation::kNone};
  const FloatLoops* floats = nullptr;

 private:
  // So many channels are pooled at once that the pixels that windows share stay in L1.
  static constexpr int kBlock = 64;

  // `count` channels from `first` on.
  void PoolLine(const RunArguments& arguments, ptrdiff_t line, int first, int count) const {
    const WindowAxis& y = window.y;
    const WindowAxis& x = window.x;
    const auto* image = static_cast<const float*>(arguments.inputs[0]) +
                        line / y.out * y.in * x.in * channels + first;
    const ptrdiff_t stride = arguments.output_stride / ptrdiff_t{sizeof(float)};
    float* out = static_cast<float*>(arguments.outputs[0]) + line * x.out * stride + first;
    const Taps rows(y, static_cast<int>(line % y.out));
    WindowPixels pixels;
    pixels.rows = rows.count();
    pixels.x_row = ptrdiff_t{x.in} * channels;
    pixels.x_column = channels;
    pixels.low = bounds.low;
    pixels.high = bounds.high;
    for (int out_x = 0; out_x < x.out; ++out_x, out += stride) {
      const Taps cols(x, out_x);
      pixels.columns = cols.count();
      pixels.x = image + (ptrdiff_t{rows.begin} * x.in + cols.begin) * channels;
      floats->pool(kind, pixels, count, out);
    }
  }
};

}  // namespace

Result<PreparedLayer> PreparePoolFloat(const LayerView& layer, const LayerOptions& options,
                                       const Window& window, Activation activation, PoolKind kind) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  const Shape& shape = layer.input(0).shape;
  auto routine = std::make_shared<PoolRoutine>();
  routine->kind = kind;
  routine->window = window;
  routine->batch = shape[0];
  routine->channels = shape[3];
  routine->bounds = Bounds<float>(activation);
  routine->floats = &FloatLoopsOf(options.kernel);
  PreparedLayer prepared;
  prepared.strides_output = true;
  prepared.routine = std::move(routine);
  return prepared;
}

}  // namespace intaglio::nn
