// DEPTHWISE_CONV_2D of float32. Threads share the lines.
#include <functional>
#include <memory>
#include <utility>

#include "intaglio/nn/ops/linear/alike_windows.h"
#include "intaglio/nn/ops/linear/conv.h"
#include "intaglio/nn/ops/linear/float_panels.h"
#include "intaglio/nn/ops/linear/linear.h"
#include "intaglio/nn/ops/linear/operators.h"

namespace intaglio::nn {
namespace {

class DepthwiseRoutine final : public Routine {
 public:
  Status Run(const RunArguments& arguments) const override {
    const ptrdiff_t stride = arguments.output_stride / ptrdiff_t{sizeof(float)};
    const auto row = [&](int r) {
      auto* const out = static_cast<float*>(arguments.outputs[0]) + r * view.out_width * stride;
      RunRow(static_cast<const float*>(arguments.inputs[0]), r, out, stride);
    };
    arguments.context.Run(view.batch * view.out_height, std::ref(row));
    return {};
  }

  Im2col view;
  int outputs = 0;
  const float* filters = nullptr;  // [taps, outputs]
  FloatFinish finish;
  const FloatLoops* floats = nullptr;

 private:
  // Windows that have the same taps inside the image go together.
  void RunRow(const float* in, int row, float* out, ptrdiff_t stride) const {
    const int y = row % view.out_height * view.stride_height - view.pad_top;
    const TapRange rows(y, view.dilation_height, view.kernel_height, view.height);
    const ptrdiff_t first_y = ptrdiff_t{row / view.out_height} * view.height + y +
                              ptrdiff_t{rows.first} * view.dilation_height;
    WindowTaps w;
    w.x_column = ptrdiff_t{view.dilation_width} * view.channels;
    w.x_row = ptrdiff_t{view.dilation_height} * view.width * view.channels;
    w.x_window = ptrdiff_t{view.stride_width} * view.channels;
    w.out_window = stride;
    w.filter_column = outputs;
    w.filter_row = ptrdiff_t{view.kernel_width} * outputs;
    w.multiplier = outputs / view.channels;
    w.bias = finish.bias.data();
    w.low = finish.bounds.low;
    w.high = finish.bounds.high;
    for (int out_x = 0; out_x < view.out_width; out_x += w.windows) {
      const AlikeWindows run(view, out_x, view.out_width - out_x);
      const TapRange& columns = run.columns;
      w.windows = run.count;
      w.rows = rows.last - rows.first;
      w.columns = columns.last - columns.first;
      if (w.columns == 0) w.rows = 0;
      const ptrdiff_t first_x = run.start + ptrdiff_t{columns.first} * view.dilation_width;
      w.x = w.rows > 0 ? in + (first_y * view.width + first_x) * view.channels : nullptr;
      const int first_tap = w.rows > 0 ? rows.first * view.kernel_width + columns.first : 0;
      w.filter = filters + ptrdiff_t{first_tap} * outputs;
      floats->add_taps(w, outputs, out + out_x * stride);
    }
  }
};

}  // namespace

Result<PreparedLayer> PrepareDepthwiseFloat(const LayerView& layer, const LayerOptions& options,
                                            const Im2col& view) {
  const Tensor& filter = layer.input(1);
  const int outputs = filter.shape[3];
  Result<FloatFinish> finish =
      CheckFloatLayer(layer, layer.op<DepthwiseConv2D>().activation, outputs);
  if (!finish.ok()) return finish.status();
  auto routine = std::make_shared<DepthwiseRoutine>();
  routine->view = view;
  routine->outputs = outputs;
  routine->floats = &FloatLoopsOf(options.kernel, options.float_sums);
  routine->finish = std::move(*finish);
  routine->filters = static_cast<const float*>(filter.data);
  PreparedLayer prepared;
  prepared.macs = CountMacs(layer.output().shape, int64_t{filter.shape[1]} * filter.shape[2]);
  prepared.strides_output = true;
  prepared.routine = std::move(routine);
  return prepared;
}

}  // namespace intaglio::nn
