#include "intaglio/nn/ops/linear/winograd_layers.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/gemm/float_loops.h"
#include "intaglio/nn/ops/linear/conv.h"
#include "intaglio/nn/ops/linear/float_panels.h"
#include "intaglio/nn/ops/linear/winograd_float.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/parallel.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/ops/support/window.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {
namespace {

using winograd::kFrequencies;
using winograd::kPixels;
using winograd::kSide;
using winograd::kUnder;

// The tiles of images, line by line.
struct Tiles {
  Tiles(int images, int out_height, int out_width)
      : down(out_height / kSide + (out_height % kSide != 0)),
        right(out_width / kSide + (out_width % kSide != 0)),
        count(int64_t{images} * down * right) {}
  int ImageOf(ptrdiff_t tile) const { return static_cast<int>(tile / (ptrdiff_t{down} * right)); }
  int TopOf(ptrdiff_t tile) const { return static_cast<int>(tile / right % down) * kSide; }
  int LeftOf(ptrdiff_t tile) const { return static_cast<int>(tile % right) * kSide; }

  int down;
  int right;
  int64_t count;
};

Result<Window> WindowOf(const LayerView& layer) {
  if (layer.input(0).shape.size() != 4) return layer.Invalid("the input is no image");
  return PlaceWindow(layer, {3, 3}, {}, {}, layer.op<WinogradTransform>().padding);
}

Result<Shape> FrequenciesOf(const LayerView& layer, int64_t tiles, int64_t channels) {
  constexpr int64_t kMost = std::numeric_limits<int>::max();
  if (tiles > kMost || channels > kMost / kFrequencies) {
    return layer.Unsupported("has too many tiles or channels");
  }
  return Shape{static_cast<int>(tiles), 1, 1, static_cast<int>(kFrequencies * channels)};
}

ShapesResult InferTransform(const LayerView& layer) {
  const Result<Window> window = WindowOf(layer);
  if (!window.ok()) return window.status();
  const Shape& x = layer.input(0).shape;
  const Result<Shape> shape =
      FrequenciesOf(layer, Tiles(x[0], window->y.out, window->x.out).count, x[3]);
  if (!shape.ok()) return shape.status();
  return std::vector<Shape>{*shape};
}

ShapesResult InferFinish(const LayerView& layer) {
  const Shape& shape = layer.op<WinogradFinish>().shape;
  if (shape.size() != 4) return layer.Invalid("the output is no image");
  const Result<Shape> from =
      FrequenciesOf(layer, Tiles(shape[0], shape[1], shape[2]).count, shape[3]);
  if (!from.ok()) return from.status();
  if (layer.input(0).shape != *from) {
    return layer.Invalid("the products are " + ToString(layer.input(0).shape) + ", not " +
                         ToString(*from));
  }
  return std::vector<Shape>{shape};
}

// Tiles of a thread that is worth its waking.
ptrdiff_t LeastTiles(ptrdiff_t channels) {
  const ptrdiff_t bytes = kFrequencies * channels * ptrdiff_t{sizeof(float)};
  return kLeastBytesOfThread / std::max<ptrdiff_t>(1, bytes) + 1;
}

Result<PreparedLayer> PrepareTransform(const LayerView& layer, const LayerOptions& options) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  const Result<Window> placed = WindowOf(layer);
  if (!placed.ok()) return placed.status();
  const Shape& x = layer.input(0).shape;
  const auto channels = ptrdiff_t{x[3]};
  PreparedLayer prepared;
  prepared.routine = RoutineOf(
      [window = *placed, channels, height = x[1], width = x[2],
       tiles = Tiles(x[0], placed->y.out, placed->x.out),
       outside = std::vector<float>(static_cast<size_t>(channels)),
       &floats = FloatLoopsOf(options.kernel, options.float_sums)](const RunArguments& arguments) {
        const auto* const in = static_cast<const float*>(arguments.inputs[0]);
        auto* const out = static_cast<float*>(arguments.outputs[0]);
        const auto transform = [&](ptrdiff_t begin, ptrdiff_t end) {
          for (ptrdiff_t t = begin; t < end; ++t) {
            const float* under[kFrequencies];
            for (int i = 0; i < kFrequencies; ++i) {
              const int row = tiles.TopOf(t) - window.y.pad + i / kUnder;
              const int col = tiles.LeftOf(t) - window.x.pad + i % kUnder;
              const bool inside = row >= 0 && row < height && col >= 0 && col < width;
              const ptrdiff_t pixel = (ptrdiff_t{tiles.ImageOf(t)} * height + row) * width + col;
              under[i] = inside ? in + pixel * channels : outside.data();
            }
            floats.transform_tile(under, channels, out + t * kFrequencies * channels, channels);
          }
        };
        ForParts(arguments.context, tiles.count, LeastTiles(channels), transform);
      });
  return prepared;
}

Result<PreparedLayer> PrepareFinish(const LayerView& layer, const LayerOptions& options) {
  const WinogradFinish& op = layer.op<WinogradFinish>();
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  Result<FloatFinish> made = MakeFloatFinish(layer, op.activation, op.shape[3]);
  if (!made.ok()) return made.status();
  PreparedLayer prepared;
  prepared.strides_output = true;
  prepared.routine = RoutineOf(
      [finish = std::move(*made), channels = ptrdiff_t{op.shape[3]}, height = op.shape[1],
       width = op.shape[2], tiles = Tiles(op.shape[0], op.shape[1], op.shape[2]),
       &floats = FloatLoopsOf(options.kernel, options.float_sums)](const RunArguments& arguments) {
        const auto* const products = static_cast<const float*>(arguments.inputs[0]);
        auto* const out = static_cast<float*>(arguments.outputs[0]);
        const ptrdiff_t stride = arguments.output_stride / ptrdiff_t{sizeof(float)};
        const auto transform = [&](ptrdiff_t begin, ptrdiff_t end) {
          for (ptrdiff_t t = begin; t < end; ++t) {
            float* to[kPixels];
            for (int i = 0; i < kPixels; ++i) {
              const int row = tiles.TopOf(t) + i / kSide;
              const int col = tiles.LeftOf(t) + i % kSide;
              const ptrdiff_t pixel = (ptrdiff_t{tiles.ImageOf(t)} * height + row) * width + col;
              to[i] = row < height && col < width ? out + pixel * stride : nullptr;
            }
            floats.finish_tile({products + t * kFrequencies * channels, channels,
                                finish.bias.data(), finish.bounds.low, finish.bounds.high, to},
                               channels);
          }
        };
        ForParts(arguments.context, tiles.count, LeastTiles(channels), transform);
      });
  return prepared;
}

constexpr Candidate kTransform = {"tiles", PrepareTransform, kFloat};
constexpr Candidate kFinish = {"tiles", PrepareFinish, kFloat};

TensorId Add(Graph& graph, Tensor tensor, const Shape& shape) {
  tensor.shape = shape;
  graph.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(graph.tensors.size()) - 1;
}

Tensor FloatTensor(const std::string& name) {
  Tensor tensor;
  tensor.name = name;
  tensor.type = Type::kFloat32;
  return tensor;
}

// Constants lie where the file has them until the graph is prepared.
std::vector<float> CopyUnlessAligned(const Tensor& constant) {
  std::vector<float> copy;
  if (reinterpret_cast<uintptr_t>(constant.data) % alignof(float) == 0) return copy;
  copy.resize(constant.data_bytes / sizeof(float));
  std::memcpy(copy.data(), constant.data, copy.size() * sizeof(float));
  return copy;
}

}  // namespace

constinit const OperatorRow WinogradTransform::kRow = {.name = "WINOGRAD_TRANSFORM",
                                                       .min_inputs = 1,
                                                       .max_inputs = 1,
                                                       .types = kFloat,
                                                       .infer = InferTransform,
                                                       .candidates = kTransform};

constinit const OperatorRow WinogradFinish::kRow = {.name = "WINOGRAD_FINISH",
                                                    .min_inputs = 1,
                                                    .max_inputs = 3,
                                                    .types = kFloat,
                                                    .infer = InferFinish,
                                                    .candidates = kFinish};

Result<Graph> WinogradLayers(const LayerView& layer) {
  const Conv2D& op = layer.op<Conv2D>();
  const Tensor& weights = layer.input(1);
  const int channels = weights.shape[3];
  const int outputs = weights.shape[0];
  const Result<FloatFinish> checked = CheckFloatLayer(layer, op.activation, outputs);
  if (!checked.ok()) return checked.status();
  const Shape& y_shape = layer.output().shape;
  const Tiles tiles(y_shape[0], y_shape[1], y_shape[2]);
  const Result<Shape> v_shape = FrequenciesOf(layer, tiles.count, channels);
  const Result<Shape> m_shape = FrequenciesOf(layer, tiles.count, outputs);
  if (!v_shape.ok()) return v_shape.status();
  if (!m_shape.ok()) return m_shape.status();
  const std::vector<float> copy = CopyUnlessAligned(weights);
  const float* const w = copy.empty() ? static_cast<const float*>(weights.data) : copy.data();
  const auto u =
      std::make_shared<const std::vector<float>>(WinogradWeightsOf(w, outputs, channels));
  Tensor filters = FloatTensor("transformed " + weights.name);
  filters.constant = true;
  filters.data = u->data();
  filters.data_bytes = u->size() * sizeof(float);
  filters.owner = u;
  Graph graph;
  const TensorId x = Add(graph, layer.input(0), layer.input(0).shape);
  const TensorId v = Add(graph, FloatTensor("frequencies"), *v_shape);
  const TensorId f = Add(graph, std::move(filters), {(*m_shape)[3], 1, 1, channels});
  const TensorId m = Add(graph, FloatTensor("products"), *m_shape);
  const TensorId y = Add(graph, layer.output(), y_shape);
  Layer finish{WinogradFinish{y_shape, op.activation}, {m}, {y}, ""};
  if (layer.has_input(2)) {
    finish.inputs = {m, kNoTensor, Add(graph, layer.input(2), layer.input(2).shape)};
  }
  graph.inputs = {x};
  graph.outputs = {y};
  graph.layers.push_back({WinogradTransform{op.padding}, {x}, {v}, ""});
  graph.layers.push_back({Conv2D{}, {v, f}, {m}, ""});
  graph.layers.push_back(std::move(finish));
  return graph;
}

}  // namespace intaglio::nn
