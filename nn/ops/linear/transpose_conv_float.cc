// TRANSPOSE_CONV of float32: every element of the input adds its products one by one, in the order
// of the input.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "intaglio/nn/ops/linear/float_panels.h"
#include "intaglio/nn/ops/linear/linear.h"
#include "intaglio/nn/ops/linear/operators.h"
#include "intaglio/nn/ops/linear/transpose_conv.h"
#include "intaglio/nn/routine/packed_once.h"

namespace intaglio::nn {
namespace {

using Filters = std::vector<float>;  // [depth, kernel height, kernel width, channels]

class TransposeConvRoutine final : public Routine {
 public:
  Status Run(const RunArguments& arguments) const override {
    const auto* in = static_cast<const float*>(arguments.inputs[0]);
    auto* out = static_cast<float*>(arguments.outputs[0]);
    for (int n = 0; n < scatter.batch; ++n, out += scatter.image()) {
      std::fill_n(out, scatter.image(), 0.0f);
      for (int y = 0; y < scatter.y.in; ++y) {
        for (int x = 0; x < scatter.x.in; ++x) {
          const float* filter = filters->data();
          for (int c = 0; c < scatter.depth; ++c, filter += scatter.columns()) {
            AddElement(*in++, filter, y, x, out);
          }
        }
      }
      const auto channels = static_cast<size_t>(scatter.channels);
      for (ptrdiff_t i = 0; i < scatter.image(); ++i) {
        out[i] = finish(out[i], static_cast<size_t>(i) % channels);
      }
    }
    return {};
  }

  Scatter scatter;
  std::shared_ptr<const Filters> filters;
  FloatFinish finish;
  const FloatLoops* floats = nullptr;

 private:
  // The taps of a line of the filter are neighbours in the image, too.
  void AddElement(float value, const float* filter, int y, int x, float* image) const {
    const ptrdiff_t channels = scatter.channels;
    const int out_x = x * scatter.x.stride - scatter.x.pad;
    const int first = std::max(0, -out_x);
    const int last = std::min(scatter.x.kernel, scatter.x.out - out_x);
    if (first >= last) return;
    for (int ky = 0; ky < scatter.y.kernel; ++ky) {
      const int out_y = y * scatter.y.stride - scatter.y.pad + ky;
      if (out_y < 0 || out_y >= scatter.y.out) continue;
      floats->add_multiple(value, filter + (ky * scatter.x.kernel + first) * channels,
                           (last - first) * channels,
                           image + (ptrdiff_t{out_y} * scatter.x.out + out_x + first) * channels);
    }
  }
};

Result<std::shared_ptr<const Filters>> MakeFilters(const LayerView& layer, const Scatter& scatter) {
  const auto* from = static_cast<const float*>(layer.input(1).data);  // [channels, taps, depth]
  const ptrdiff_t channels = scatter.channels;
  const ptrdiff_t columns = scatter.columns();
  auto filters = std::make_shared<Filters>(layer.input(1).data_bytes / sizeof(float));
  for (ptrdiff_t o = 0; o < channels; ++o) {
    for (ptrdiff_t column = o; column < columns; column += channels, from += scatter.depth) {
      float* const to = filters->data() + column;
      for (ptrdiff_t c = 0; c < scatter.depth; ++c) to[c * columns] = from[c];
    }
  }
  return std::shared_ptr<const Filters>(std::move(filters));
}

}  // namespace

Result<PreparedLayer> PrepareTransposeConvFloat(const LayerView& layer, const LayerOptions& options,
                                                const Scatter& scatter) {
  Result<FloatFinish> finish =
      CheckFloatLayer(layer, layer.op<TransposeConv>().activation, scatter.channels);
  if (!finish.ok()) return finish.status();
  auto routine = std::make_shared<TransposeConvRoutine>();
  routine->scatter = scatter;
  routine->finish = std::move(*finish);
  routine->floats = &FloatLoopsOf(options.kernel, options.float_sums);
  bool is_new = false;
  auto filters = PackOnce<Filters>(
      options,
      {KeyOf(layer.input(1).data), scatter.channels, scatter.y.kernel, scatter.x.kernel,
       scatter.depth},
      [&] { return MakeFilters(layer, scatter); }, is_new);
  if (!filters.ok()) return filters.status();
  routine->filters = std::move(*filters);
  PreparedLayer prepared;
  prepared.macs = CountMacs(layer.input(0).shape, scatter.columns());
  if (is_new) prepared.constant_bytes = layer.input(1).data_bytes;
  prepared.routine = std::move(routine);
  return prepared;
}

}  // namespace intaglio::nn
