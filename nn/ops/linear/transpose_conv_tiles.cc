// TRANSPOSE_CONV of float32 whose filter is as large as its stride: every input pixel makes a tile
// of the output alone. A line of the output is a product of a line of the input and the filter's
// taps of that line, with the sums in the order of the general routine.
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "intaglio/nn/ops/linear/float_panels.h"
#include "intaglio/nn/ops/linear/linear.h"
#include "intaglio/nn/ops/linear/operators.h"
#include "intaglio/nn/ops/linear/transpose_conv.h"
#include "intaglio/nn/ops/support/parallel.h"
#include "intaglio/nn/routine/packed_once.h"

namespace intaglio::nn {
namespace {

using Filters = std::vector<FloatPanels>;  // of each line of taps, [taps of the line, channels]

class TilesRoutine final : public Routine {
 public:
  Status Run(const RunArguments& arguments) const override {
    const auto* const in = static_cast<const float*>(arguments.inputs[0]);
    auto* const out = static_cast<float*>(arguments.outputs[0]);
    const ptrdiff_t tile_line = ptrdiff_t{scatter.x.kernel} * scatter.channels;
    const ptrdiff_t line = scatter.x.in * tile_line;
    // The output has the lines of all images one after the other, as the input has.
    const ptrdiff_t rows = ptrdiff_t{scatter.batch} * scatter.y.in;
    const ptrdiff_t row_bytes = line * scatter.y.kernel * ptrdiff_t{sizeof(float)};
    ForParts(arguments.context, rows, kLeastBytesOfThread / row_bytes + 1,
             [&](ptrdiff_t begin, ptrdiff_t end) {
               for (ptrdiff_t row = begin; row < end; ++row) {
                 float* to = out + row * scatter.y.kernel * line;
                 for (const FloatPanels& taps : *filters) {
                   taps.Multiply(in + row * scatter.row_inputs(), scatter.depth, scatter.x.in, 0,
                                 taps.count(), finish, 0, to, tile_line);
                   to += line;
                 }
               }
             });
    return {};
  }

  Scatter scatter;
  std::shared_ptr<const Filters> filters;
  FloatFinish finish;  // of a line of a tile
};

Result<std::shared_ptr<const Filters>> PackFilters(const LayerView& layer,
                                                   const LayerOptions& options,
                                                   const Scatter& scatter) {
  const std::vector<std::byte> by_tap = FiltersByTap(layer);
  const auto* from = reinterpret_cast<const float*>(by_tap.data());
  const int columns = scatter.x.kernel * scatter.channels;
  auto filters = std::make_shared<Filters>();
  for (int ky = 0; ky < scatter.y.kernel; ++ky, from += ptrdiff_t{columns} * scatter.depth) {
    filters->emplace_back(from, columns, scatter.depth,
                          FloatLoopsOf(options.kernel, options.float_sums));
  }
  return std::shared_ptr<const Filters>(std::move(filters));
}

bool IsTiled(const ScatterAxis& axis) {
  return axis.kernel == axis.stride && axis.pad == 0 && axis.out / axis.kernel == axis.in &&
         axis.out % axis.kernel == 0;
}

}  // namespace

const char* WhyNotTiles(const LayerView& layer, const LayerOptions&) {
  const Result<Scatter> scatter = ScatterOf(layer);
  if (!scatter.ok()) return nullptr;  // preparing says what is wrong
  if (IsTiled(scatter->y) && IsTiled(scatter->x)) return nullptr;
  return "the filter's windows do not lie side by side";
}

Result<PreparedLayer> PrepareTransposeConvTiles(const LayerView& layer, const LayerOptions& options,
                                                const Scatter& scatter) {
  Result<FloatFinish> finish =
      CheckFloatLayer(layer, layer.op<TransposeConv>().activation, scatter.channels);
  if (!finish.ok()) return finish.status();
  auto routine = std::make_shared<TilesRoutine>();
  routine->scatter = scatter;
  routine->finish = std::move(*finish);
  std::vector<float>& bias = routine->finish.bias;
  bias.resize(static_cast<size_t>(scatter.x.kernel) * bias.size());
  for (size_t i = static_cast<size_t>(scatter.channels); i < bias.size(); ++i) {
    bias[i] = bias[i - static_cast<size_t>(scatter.channels)];
  }
  bool is_new = false;
  auto filters = PackOnce<Filters>(
      options,
      {KeyOf(layer.input(1).data), scatter.channels, scatter.y.kernel, scatter.x.kernel,
       scatter.depth},
      [&] { return PackFilters(layer, options, scatter); }, is_new);
  if (!filters.ok()) return filters.status();
  routine->filters = std::move(*filters);
  PreparedLayer prepared;
  prepared.packed_inputs = 1 << 1;  // the weights
  prepared.macs = CountMacs(layer.input(0).shape, scatter.columns());
  for (const FloatPanels& taps : *routine->filters) {
    if (is_new) prepared.constant_bytes += taps.bytes();
  }
  prepared.routine = std::move(routine);
  return prepared;
}

}  // namespace intaglio::nn
