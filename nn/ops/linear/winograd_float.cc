#include "intaglio/nn/ops/linear/winograd_float.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "intaglio/nn/graph/ledger.h"
#include "intaglio/nn/ops/linear/float_panels.h"
#include "intaglio/nn/ops/linear/linear.h"
#include "intaglio/nn/routine/packed_once.h"
#include "intaglio/nn/routine/routine_name.h"

namespace intaglio::nn {
namespace {

using winograd::kFrequencies;
using winograd::kPixels;
using winograd::kSide;
using winograd::kUnder;

constexpr int kRows = 12;            // of whole tiles of products
constexpr int kTilesOfATask = 4;     // that one thread transforms at once
constexpr int64_t kLine = 16;        // float32 of a line of L1
constexpr int64_t kChunk = 1 << 22;  // bytes of the frequencies of a chunk, by default

int DivideUp(int a, int b) { return a / b + (a % b != 0); }

// Elements from one frequency to the next: an odd number of lines, because 36 streams at a power of
// two would share a set of L1.
int64_t StepOf(int64_t elements) {
  const int64_t lines = (elements + kLine - 1) / kLine;
  return (lines | 1) * kLine;
}

// U = G w G' of each frequency, as a matrix [outputs, channels] in panels.
struct WinogradFilters {
  std::vector<FloatPanels> frequencies;

  size_t bytes() const {
    size_t sum = 0;
    for (const FloatPanels& panels : frequencies) sum += panels.bytes();
    return sum;
  }
};

// G, of one axis. The other one is written out in TransformTaps.
constexpr double kG[kUnder][3] = {{1. / 4, 0, 0},
                                  {-1. / 6, -1. / 6, -1. / 6},
                                  {-1. / 6, 1. / 6, -1. / 6},
                                  {1. / 24, 1. / 12, 1. / 6},
                                  {1. / 24, -1. / 12, 1. / 6},
                                  {0, 0, 1}};

// A line of six elements of U of `count` channels, computed in float64; w: the first tap. to[x] is
// where those of frequency x go.
void TransformTaps(const float* w, int count, int line, float* const (&to)[kUnder]) {
  const double(&g)[3] = kG[line];
  for (int c = 0; c < count; ++c) {
    const float* const tap = w + c;
    double columns[3];
    for (int x = 0; x < 3; ++x) {
      const float* const at = tap + ptrdiff_t{x} * count;
      columns[x] = g[0] * at[0] + g[1] * at[ptrdiff_t{3} * count] + g[2] * at[ptrdiff_t{6} * count];
    }
    const double ends = columns[0] + columns[2];
    const double far = columns[0] / 24 + columns[2] / 6;
    to[0][c] = static_cast<float>(columns[0] / 4);
    to[1][c] = static_cast<float>((ends + columns[1]) / -6);
    to[2][c] = static_cast<float>((ends - columns[1]) / -6);
    to[3][c] = static_cast<float>(far + columns[1] / 12);
    to[4][c] = static_cast<float>(far - columns[1] / 12);
    to[5][c] = static_cast<float>(columns[2]);
  }
}

// A line of frequencies of U, one behind the other.
void TransformLine(const float* weights, int outputs, int channels, int line, float* u) {
  const ptrdiff_t size = ptrdiff_t{outputs} * channels;
  for (int o = 0; o < outputs; ++o) {
    float* to[kUnder];
    for (int x = 0; x < kUnder; ++x) to[x] = u + x * size + ptrdiff_t{o} * channels;
    TransformTaps(weights + ptrdiff_t{o} * 9 * channels, channels, line, to);
  }
}

std::shared_ptr<const WinogradFilters> TransformFilters(const float* weights, int outputs,
                                                        int channels, const FloatLoops& floats) {
  auto filters = std::make_shared<WinogradFilters>();
  const ptrdiff_t size = ptrdiff_t{outputs} * channels;
  std::vector<float> u(static_cast<size_t>(kUnder * size));
  for (int line = 0; line < kUnder; ++line) {
    TransformLine(weights, outputs, channels, line, u.data());
    for (int x = 0; x < kUnder; ++x) {
      filters->frequencies.emplace_back(u.data() + x * size, outputs, channels, floats);
    }
  }
  return filters;
}

// A chunk of tiles at a time: all pixels are transformed, then multiplied, then all results are
// transformed back. Threads share each of these.
class WinogradFloatRoutine final : public Routine {
 public:
  Status Run(const RunArguments& arguments) const override {
    for (int first = 0; first < tiles; first += chunk) {
      RunChunk(arguments, first, std::min(chunk, tiles - first));
    }
    return {};
  }

  void Plan(const ConvShape& shape, int most_tiles) {
    view = shape.view;
    outputs = shape.outputs;
    tiles_x = DivideUp(view.out_width, kSide);
    tiles_y = DivideUp(view.out_height, kSide);
    tiles = view.batch * tiles_y * tiles_x;
    const int64_t tile_bytes =
        int64_t{kFrequencies} * sizeof(float) * (int64_t{view.channels} + outputs);
    const auto fitting = static_cast<int>(std::clamp<int64_t>(kChunk / tile_bytes, 24, 192));
    const int most = most_tiles > 0 ? most_tiles : fitting;
    const int parts = std::max(1, DivideUp(tiles, most));
    chunk = std::max(1, DivideUp(DivideUp(tiles, parts), kRows) * kRows);
    chunk = std::min(chunk, std::max(1, tiles));
    pixels_step = StepOf(int64_t{chunk} * view.channels);
    products_step = StepOf(int64_t{chunk} * outputs);
    outside.resize(static_cast<size_t>(view.channels));
    plain.bias.resize(static_cast<size_t>(outputs));
    plain.bounds = Bounds<float>::Open(Activation::kNone);
  }

  // It may be more than a 32-bit host can address.
  int64_t scratch_bytes() const {
    return kFrequencies * (pixels_step + products_step) * int64_t{sizeof(float)};
  }

  Im2col view;
  int outputs = 0;
  const FloatLoops* floats = nullptr;
  FloatFinish finish;
  FloatFinish plain;  // of the products
  std::shared_ptr<const WinogradFilters> filters;

 private:
  struct Place {
    int image;
    int y;
    int x;
  };
  Place PlaceOf(int tile) const {
    const int within = tile % (tiles_y * tiles_x);
    return {tile / (tiles_y * tiles_x), within / tiles_x * kSide, within % tiles_x * kSide};
  }

  void RunChunk(const RunArguments& arguments, int first, int count) const {
    auto* const pixels = static_cast<float*>(arguments.scratch);
    float* const products = pixels + kFrequencies * pixels_step;
    const auto* const in = static_cast<const float*>(arguments.inputs[0]);
    auto* const out = static_cast<float*>(arguments.outputs[0]);
    const ptrdiff_t stride = arguments.output_stride / ptrdiff_t{sizeof(float)};
    const auto for_tiles = [&](int task, const auto& f) {
      const int begin = task * kTilesOfATask;
      const int end = std::min(count, begin + kTilesOfATask);
      for (int t = begin; t < end; ++t) f(PlaceOf(first + t), t);
    };
    const auto transform = [&](int task) {
      for_tiles(task, [&](const Place& at, int t) {
        TransformTile(in, at, pixels + ptrdiff_t{t} * view.channels);
      });
    };
    const int panels = filters->frequencies[0].count();
    const int parts = std::min(panels, DivideUp(arguments.context.threads(), kRows));
    const auto first_panel = [&](int part) {
      return static_cast<int>(int64_t{panels} * part / parts);
    };
    const auto multiply = [&](int task) {
      const int f = task / parts;
      const int part = task % parts;
      filters->frequencies[static_cast<size_t>(f)].Multiply(
          pixels + f * pixels_step, view.channels, count, first_panel(part), first_panel(part + 1),
          plain, 0, products + f * products_step, outputs);
    };
    const auto finish_tile = [&](int task) {
      for_tiles(task, [&](const Place& at, int t) {
        FinishTile(products + ptrdiff_t{t} * outputs, at, out, stride);
      });
    };
    const int tasks = DivideUp(count, kTilesOfATask);
    arguments.context.Run(tasks, std::ref(transform));
    arguments.context.Run(kFrequencies * parts, std::ref(multiply));
    arguments.context.Run(tasks, std::ref(finish_tile));
  }

  void TransformTile(const float* in, const Place& at, float* to) const {
    const float* under[kFrequencies];
    const float** next = under;
    const ptrdiff_t line = ptrdiff_t{view.width} * view.channels;
    for (int dy = 0; dy < kUnder; ++dy) {
      const int y = at.y - view.pad_top + dy;
      const bool inside = y >= 0 && y < view.height;
      const float* const from = in + (ptrdiff_t{at.image} * view.height + (inside ? y : 0)) * line;
      for (int dx = 0; dx < kUnder; ++dx) {
        const int x = at.x - view.pad_left + dx;
        *next++ = inside && x >= 0 && x < view.width ? from + ptrdiff_t{x} * view.channels
                                                     : outside.data();
      }
    }
    floats->transform_tile(under, view.channels, to, pixels_step);
  }

  void FinishTile(const float* products, const Place& at, float* out, ptrdiff_t stride) const {
    float* to[kPixels];
    for (int i = 0; i < kPixels; ++i) {
      const int y = at.y + i / kSide;
      const int x = at.x + i % kSide;
      const ptrdiff_t pixel = (ptrdiff_t{at.image} * view.out_height + y) * view.out_width + x;
      to[i] = y < view.out_height && x < view.out_width ? out + pixel * stride : nullptr;
    }
    floats->finish_tile(
        {products, products_step, finish.bias.data(), finish.bounds.low, finish.bounds.high, to},
        outputs);
  }

  int tiles = 0;
  int tiles_y = 0;
  int tiles_x = 0;
  int chunk = 0;  // tiles
  int64_t pixels_step = 0;
  int64_t products_step = 0;
  std::vector<float> outside;  // a pixel of the padding
};

}  // namespace

const char* WhyNotWinogradFloat(const LayerView& layer, const LayerOptions& options) {
  const Result<ConvShape> shape = ShapeOfConv2D(layer);
  if (!shape.ok()) return "the layer has an error";
  const Im2col& v = shape->view;
  const bool fits = v.kernel_height == 3 && v.kernel_width == 3 && v.stride_height == 1 &&
                    v.stride_width == 1 && v.dilation_height == 1 && v.dilation_width == 1 &&
                    shape->groups == 1;
  if (!fits) return "it is not a filter of 3x3 taps with stride 1";
  return options.routine.empty() ? "it rounds otherwise; its name is asked for" : nullptr;
}

std::vector<float> WinogradWeightsOf(const float* weights, int outputs, int channels) {
  const ptrdiff_t line_size = kUnder * ptrdiff_t{outputs} * channels;
  std::vector<float> u(static_cast<size_t>(kUnder * line_size));
  for (int line = 0; line < kUnder; ++line) {
    TransformLine(weights, outputs, channels, line, u.data() + line * line_size);
  }
  return u;
}

int64_t BoundWinogradFloat(const LayerView& layer, const LayerOptions&) {
  constexpr int64_t kPanel = 64;          // channels of the widest panels
  constexpr int64_t kOfBuffer = 1 << 13;  // what the memory of a matrix is rounded by
  const Shape& shape = layer.input(1).shape;
  if (shape.size() != 4) return 0;
  const int64_t outputs = (int64_t{shape[0]} + kPanel - 1) / kPanel * kPanel;
  const int64_t elements =
      MultiplySaturated(MultiplySaturated(kFrequencies + kUnder, outputs), shape[3]);
  return AddSaturated(MultiplySaturated(elements, sizeof(float)),
                      kFrequencies * (kOfBuffer + int64_t{sizeof(FloatPanels)}));
}

Result<PreparedLayer> PrepareWinogradFloat(const LayerView& layer, const LayerOptions& options,
                                           const ConvShape& shape) {
  Result<FloatFinish> finish = CheckFloatLayer(layer, shape.activation, shape.outputs);
  if (!finish.ok()) return finish.status();
  auto routine = std::make_shared<WinogradFloatRoutine>();
  routine->finish = std::move(*finish);
  routine->floats = &FloatLoopsOf(options.kernel, options.float_sums);
  routine->Plan(shape, ParameterIn(options.routine, kWinogradFloatParameters[0].name).value_or(0));
  if (!std::in_range<ptrdiff_t>(routine->scratch_bytes())) {
    return layer.Unsupported("transforms more tiles at once than this machine can address");
  }
  const auto* const weights = static_cast<const float*>(layer.input(1).data);
  const auto pack = [&]() -> Result<std::shared_ptr<const WinogradFilters>> {
    return TransformFilters(weights, shape.outputs, shape.view.channels, *routine->floats);
  };
  bool is_new = false;
  auto filters = PackOnce<WinogradFilters>(
      options, {KeyOf(weights), shape.outputs, shape.view.channels}, pack, is_new);
  if (!filters.ok()) return filters.status();
  routine->filters = std::move(*filters);

  PreparedLayer prepared;
  prepared.packed_inputs = 1 << 1;  // the weights
  if (is_new) prepared.constant_bytes = routine->filters->bytes();
  prepared.macs = CountMacs(layer.output().shape, shape.depth());
  prepared.scratch_bytes = static_cast<size_t>(routine->scratch_bytes());
  prepared.strides_output = true;
  prepared.routine = std::move(routine);
  return prepared;
}

}  // namespace intaglio::nn
