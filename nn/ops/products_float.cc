// CONV_2D, FULLY_CONNECTED and DEPTHWISE_CONV_2D of float32. Rows of a convolution's matrix are
// gathered a chunk at a time; threads share the blocks of a chunk.
#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "intaglio/nn/ops/float_panels.h"
#include "intaglio/nn/ops/linear.h"
#include "intaglio/nn/ops/products.h"

namespace intaglio::nn {
namespace {

constexpr int kBlock = 32;          // rows
constexpr int kGathered = 1 << 18;  // elements of a chunk, or of a block if that is more

// The taps [first, last) of a window that lie inside the image in one dimension.
struct TapRange {
  TapRange(int start, int dilation, int taps, int extent) {
    first = start >= 0 ? 0 : (-start + dilation - 1) / dilation;
    last = start >= extent ? 0 : std::min(taps, (extent - start + dilation - 1) / dilation);
    first = std::min(first, last);
  }
  int first;
  int last;
};

// Row `row` of the view's matrix.
void Gather(const Im2col& view, const float* in, int row, float* to) {
  const int x = row % view.out_width * view.stride_width - view.pad_left;
  const int y = row / view.out_width % view.out_height * view.stride_height - view.pad_top;
  const int n = row / view.out_width / view.out_height;
  const ptrdiff_t channels = view.group_channels;
  const ptrdiff_t line = view.kernel_width * channels;
  const TapRange columns(x, view.dilation_width, view.kernel_width, view.width);
  // Taps that are neighbours in the image are copied together.
  const bool adjacent = view.dilation_width == 1 && view.group_channels == view.channels;
  const int run = adjacent ? std::max(1, columns.last - columns.first) : 1;
  for (int ky = 0; ky < view.kernel_height; ++ky, to += line) {
    const int in_y = y + ky * view.dilation_height;
    if (in_y < 0 || in_y >= view.height) {
      std::fill_n(to, line, 0.0f);
      continue;
    }
    std::fill_n(to, columns.first * channels, 0.0f);
    const float* const from =
        in + (ptrdiff_t{n} * view.height + in_y) * view.width * view.channels + view.first_channel;
    for (int kx = columns.first; kx < columns.last; kx += run) {
      const ptrdiff_t in_x = x + ptrdiff_t{kx} * view.dilation_width;
      std::memcpy(to + kx * channels, from + in_x * view.channels,
                  static_cast<size_t>(run * channels) * sizeof(float));
    }
    std::fill_n(to + columns.last * channels, line - columns.last * channels, 0.0f);
  }
}

class ProductRoutine final : public Routine {
 public:
  Status Run(const RunArguments& arguments) const override {
    for (int g = 0; g < shape.groups; ++g) RunGroup(arguments, g);
    return {};
  }

  size_t scratch_bytes() const {
    if (shape.pointwise) return 0;
    return static_cast<size_t>(chunk) * static_cast<size_t>(shape.depth()) * sizeof(float);
  }

  ProductShape shape;
  int chunk = 0;  // rows
  FloatFinish finish;
  std::vector<FloatPanels> filters;  // per group

 private:
  void RunGroup(const RunArguments& arguments, int group) const {
    const auto* const in = static_cast<const float*>(arguments.inputs[0]);
    auto* const out = static_cast<float*>(arguments.outputs[0]);
    const ptrdiff_t out_stride = arguments.output_stride / ptrdiff_t{sizeof(float)};
    Im2col view = shape.view;
    view.first_channel = group * view.group_channels;
    const int channel = group * shape.group_outputs();
    for (int first = 0; first < shape.rows(); first += chunk) {
      const int rows = std::min(chunk, shape.rows() - first);
      const auto block = [&](int b) {
        const int begin = b * kBlock;
        const int count = std::min(kBlock, rows - begin);
        const float* x = in + ptrdiff_t{first + begin} * view.channels + view.first_channel;
        ptrdiff_t stride = view.channels;
        if (!shape.pointwise) {
          stride = shape.depth();
          float* const gathered = static_cast<float*>(arguments.scratch) + begin * stride;
          for (int r = 0; r < count; ++r)
            Gather(view, in, first + begin + r, gathered + r * stride);
          x = gathered;
        }
        float* const to = out + (first + begin) * out_stride + channel;
        filters[static_cast<size_t>(group)].Multiply(x, stride, count, finish, channel, to,
                                                     out_stride);
      };
      arguments.context.Run((rows + kBlock - 1) / kBlock, std::ref(block));
    }
  }
};

class DepthwiseRoutine final : public Routine {
 public:
  Status Run(const RunArguments& arguments) const override {
    const ptrdiff_t stride = arguments.output_stride / ptrdiff_t{sizeof(float)};
    const auto row = [&](int r) {
      auto* out = static_cast<float*>(arguments.outputs[0]) + r * view.out_width * stride;
      for (int x = 0; x < view.out_width; ++x, out += stride) {
        RunPixel(static_cast<const float*>(arguments.inputs[0]), r, x, out);
      }
    };
    arguments.context.Run(view.batch * view.out_height, std::ref(row));
    return {};
  }

  Im2col view;
  int outputs = 0;
  std::vector<float> filters;  // [taps, outputs]
  FloatFinish finish;
  const WideRoutines* wide = nullptr;

 private:
  void RunPixel(const float* in, int row, int out_x, float* out) const {
    const int y = row % view.out_height * view.stride_height - view.pad_top;
    const int x = out_x * view.stride_width - view.pad_left;
    const TapRange rows(y, view.dilation_height, view.kernel_height, view.height);
    const TapRange columns(x, view.dilation_width, view.kernel_width, view.width);
    const ptrdiff_t first_y = ptrdiff_t{row / view.out_height} * view.height + y +
                              ptrdiff_t{rows.first} * view.dilation_height;
    const ptrdiff_t first_x = x + ptrdiff_t{columns.first} * view.dilation_width;
    const int first_tap = rows.first * view.kernel_width + columns.first;
    WindowTaps w;
    w.rows = rows.last - rows.first;
    w.columns = columns.last - columns.first;
    if (w.columns == 0) w.rows = 0;
    if (w.rows > 0) w.x = in + (first_y * view.width + first_x) * view.channels;
    w.x_column = ptrdiff_t{view.dilation_width} * view.channels;
    w.x_row = ptrdiff_t{view.dilation_height} * view.width * view.channels;
    w.filter = filters.data() + ptrdiff_t{first_tap} * outputs;
    w.filter_column = outputs;
    w.filter_row = ptrdiff_t{view.kernel_width} * outputs;
    w.bias = finish.bias.data();
    w.low = finish.bounds.low;
    w.high = finish.bounds.high;
    if (outputs == view.channels) return wide->add_taps(w, outputs, out);
    AddTaps(w, out);
  }

  // Of channels that make several.
  void AddTaps(const WindowTaps& w, float* out) const {
    const int multiplier = outputs / view.channels;
    for (int o = 0; o < outputs; ++o) {
      float sum = 0;
      for (int row = 0; row < w.rows; ++row) {
        for (int column = 0; column < w.columns; ++column) {
          sum += w.x[row * w.x_row + column * w.x_column + o / multiplier] *
                 w.filter[row * w.filter_row + column * w.filter_column + o];
        }
      }
      out[o] = finish(sum, static_cast<size_t>(o));
    }
  }
};

}  // namespace

Result<PreparedLayer> PrepareProductFloat(const LayerView& layer, const LayerOptions& options,
                                          const ProductShape& shape) {
  Result<FloatFinish> finish = CheckFloatLayer(layer, shape.activation, shape.outputs);
  if (!finish.ok()) return finish.status();
  const int depth = shape.depth();
  auto routine = std::make_shared<ProductRoutine>();
  routine->shape = shape;
  routine->finish = std::move(*finish);
  const int most = std::max(1, kGathered / std::max(1, depth) / kBlock) * kBlock;
  routine->chunk = std::max(1, shape.pointwise ? shape.rows() : std::min(most, shape.rows()));
  PreparedLayer prepared;
  prepared.packed_inputs = 1 << 1;  // the weights
  for (int g = 0; g < shape.groups; ++g) {
    const auto* const weights = static_cast<const float*>(layer.input(1).data) +
                                ptrdiff_t{g} * shape.group_outputs() * depth;
    routine->filters.emplace_back(weights, shape.group_outputs(), depth,
                                  WideRoutinesOf(options.kernel));
    prepared.constant_bytes += routine->filters.back().bytes();
  }
  prepared.name = RoutineName(Type::kFloat32, "gemm");
  prepared.macs = CountMacs({shape.rows(), shape.outputs}, depth);
  prepared.scratch_bytes = routine->scratch_bytes();
  prepared.strides_output = true;
  prepared.routine = std::move(routine);
  return prepared;
}

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
  routine->wide = &WideRoutinesOf(options.kernel);
  routine->finish = std::move(*finish);
  routine->filters.resize(filter.data_bytes / sizeof(float));
  std::memcpy(routine->filters.data(), filter.data, filter.data_bytes);
  PreparedLayer prepared;
  prepared.name = RoutineName(Type::kFloat32, "depthwise");
  prepared.macs = CountMacs(layer.output().shape, int64_t{filter.shape[1]} * filter.shape[2]);
  prepared.packed_inputs = 1 << 1;  // the weights
  prepared.constant_bytes = filter.data_bytes;
  prepared.strides_output = true;
  prepared.routine = std::move(routine);
  return prepared;
}

}  // namespace intaglio::nn
