// CONV_2D and FULLY_CONNECTED of float32. Rows of a convolution's matrix are gathered a chunk at a
// time; threads share the blocks of a chunk, and where these are few their panels, too.
#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "intaglio/gemm/machine/cpu.h"
#include "intaglio/nn/ops/linear/alike_windows.h"
#include "intaglio/nn/ops/linear/conv.h"
#include "intaglio/nn/ops/linear/float_panels.h"
#include "intaglio/nn/ops/linear/linear.h"
#include "intaglio/nn/routine/packed_once.h"
#include "intaglio/nn/routine/routine_name.h"

namespace intaglio::nn {
namespace {

constexpr int kTile = 12;          // rows of whole tiles of full panels
constexpr int kBlock = 4 * kTile;  // rows
// Rows of a block if the weights do not stay in L2. Every block reads all weights.
constexpr int kLargeBlock = 5 * kTile;
constexpr ptrdiff_t kManyWeights = 1 << 18;
constexpr int kGathered = 1 << 18;  // elements of a chunk, or of a block if that is more

// Rows in even parts of at most `most`, a multiple of kTile, or all in one.
struct RowParts {
  RowParts(int all, int most) : rows(all) {
    const int64_t parts = std::max<int64_t>(1, (int64_t{rows} + most - 1) / most);
    const int64_t tiles = (rows + parts * kTile - 1) / (parts * kTile);
    each = static_cast<int>(std::clamp<int64_t>(tiles * kTile, 1, std::max(1, rows)));
    count = static_cast<int>((int64_t{rows} + each - 1) / each);
  }
  int begin(int i) const { return i * each; }
  int size(int i) const { return std::min(each, rows - begin(i)); }

  int rows;
  int each;
  int count;
};

// A call of memcpy takes longer than it takes to copy few elements.
void Copy(const float* from, ptrdiff_t count, float* to) {
  constexpr ptrdiff_t kVector = 4;
  if (count < kVector || count > 16 * kVector) {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(float));
    return;
  }
  for (ptrdiff_t i = 0; i < count - kVector; i += kVector) {
    std::memcpy(to + i, from + i, kVector * sizeof(float));
  }
  std::memcpy(to + count - kVector, from + count - kVector, kVector * sizeof(float));
}

// Rows of the view's matrix, those of `run`, whose first tap lies in line y of image n; in: the
// first channel of its group.
void GatherRun(const Im2col& view, const float* in, int n, int y, const AlikeWindows& run,
               float* to) {
  const ptrdiff_t channels = view.group_channels;
  const ptrdiff_t line = view.kernel_width * channels;
  const ptrdiff_t depth = view.kernel_height * line;
  const ptrdiff_t step = ptrdiff_t{view.stride_width} * view.channels;  // from window to window
  const auto clear = [&](float* first, ptrdiff_t count) {
    if (count == 0) return;
    for (int i = 0; i < run.count; ++i) std::fill_n(first + i * depth, count, 0.0f);
  };
  // Taps that are neighbours in the image are copied together.
  const bool adjacent = view.dilation_width == 1 && view.group_channels == view.channels;
  const TapRange& columns = run.columns;
  const int taps = adjacent ? std::max(1, columns.last - columns.first) : 1;
  for (int ky = 0; ky < view.kernel_height; ++ky, to += line) {
    const int in_y = y + ky * view.dilation_height;
    if (in_y < 0 || in_y >= view.height) {
      clear(to, line);
      continue;
    }
    clear(to, columns.first * channels);
    clear(to + columns.last * channels, line - columns.last * channels);
    const float* const image_line =
        in + (ptrdiff_t{n} * view.height + in_y) * view.width * view.channels;
    for (int kx = columns.first; kx < columns.last; kx += taps) {
      const float* const from =
          image_line + (run.start + ptrdiff_t{kx} * view.dilation_width) * view.channels;
      for (int i = 0; i < run.count; ++i) {
        Copy(from + i * step, taps * channels, to + i * depth + kx * channels);
      }
    }
  }
}

// `count` rows of the view's matrix from `row` on; in: the first channel of its group.
void Gather(const Im2col& view, const float* in, int row, int count, float* to) {
  const ptrdiff_t depth = ptrdiff_t{view.kernel_height} * view.kernel_width * view.group_channels;
  while (count > 0) {
    const int out_x = row % view.out_width;
    const int out_y = row / view.out_width % view.out_height;
    const int n = row / view.out_width / view.out_height;
    const AlikeWindows run(view, out_x, std::min(count, view.out_width - out_x));
    GatherRun(view, in, n, out_y * view.stride_height - view.pad_top, run, to);
    row += run.count;
    count -= run.count;
    to += run.count * depth;
  }
}

class ProductRoutine final : public Routine {
 public:
  Status Run(const RunArguments& arguments) const override {
    for (int g = 0; g < shape.groups; ++g) RunGroup(arguments, g);
    return {};
  }

  // It may be more than a 32-bit host can address.
  int64_t scratch_bytes() const {
    return shape.pointwise ? 0 : int64_t{chunk} * shape.depth() * int64_t{sizeof(float)};
  }

  ConvShape shape;
  int chunk = 0;  // rows
  int block = 0;
  FloatFinish finish;
  std::shared_ptr<const std::vector<FloatPanels>> filters;  // one per group

 private:
  void RunGroup(const RunArguments& arguments, int group) const {
    const RowParts chunks(shape.rows(), chunk);
    for (int c = 0; c < chunks.count; ++c) {
      RunChunk(arguments, group, chunks.begin(c), chunks.size(c));
    }
  }

  void RunChunk(const RunArguments& arguments, int group, int first, int rows) const {
    const Im2col& view = shape.view;
    const int channel = group * view.group_channels;
    const auto* const in = static_cast<const float*>(arguments.inputs[0]);
    auto* const gathered = static_cast<float*>(arguments.scratch);
    const float* x = shape.pointwise ? in + ptrdiff_t{first} * view.channels + channel : gathered;
    const ptrdiff_t x_stride = shape.pointwise ? view.channels : shape.depth();
    const int output = group * shape.group_outputs();
    const ptrdiff_t out_stride = arguments.output_stride / ptrdiff_t{sizeof(float)};
    auto* const out = static_cast<float*>(arguments.outputs[0]) + first * out_stride + output;

    const FloatPanels& panels = (*filters)[static_cast<size_t>(group)];
    const RowParts blocks(rows, block);
    const int threads = arguments.context.threads();
    // Where blocks are too few for all threads, panels are shared out, too.
    const int parts = blocks.count >= 4 * threads ? 1 : std::min(threads, panels.count());
    const auto gather = [&](int b) {
      const int begin = blocks.begin(b);
      Gather(view, in + channel, first + begin, blocks.size(b), gathered + begin * x_stride);
    };
    const auto first_panel = [&](int part) {
      return static_cast<int>(int64_t{panels.count()} * part / parts);
    };
    const auto multiply = [&](int i) {
      const int b = i % blocks.count;
      const int part = i / blocks.count;
      if (!shape.pointwise && parts == 1) gather(b);
      const int begin = blocks.begin(b);
      panels.Multiply(x + begin * x_stride, x_stride, blocks.size(b), first_panel(part),
                      first_panel(part + 1), finish, output, out + begin * out_stride, out_stride);
    };
    if (!shape.pointwise && parts > 1) arguments.context.Run(blocks.count, std::ref(gather));
    arguments.context.Run(blocks.count * parts, std::ref(multiply));
  }
};

using Filters = std::vector<FloatPanels>;

// Where a core multiplies a vector of 64 bytes no faster than two of 32 (Zen 4), shorter vectors
// are faster for few channels, of which less is padding, for shallow sums and for a single row. The
// bits are the same.
const FloatLoops& LoopsOf(const LayerOptions& options, const ConvShape& shape) {
  constexpr int kShortLanes = 8;
  constexpr int kFew = 3 * kShortLanes;
  const FloatLoops& loops = FloatLoopsOf(options.kernel, options.float_sums);
  const bool shorter = shape.group_outputs() <= kFew || shape.depth() <= kFew || shape.rows() == 1;
  if (loops.lanes <= kShortLanes || !Cpu().multiplies_are_scarce || !shorter) return loops;
  return FloatLoopsOf("avx2", options.float_sums);
}

Result<std::shared_ptr<const Filters>> PackFilters(const LayerView& layer, const FloatLoops& loops,
                                                   const ConvShape& shape) {
  auto filters = std::make_shared<Filters>();
  const ptrdiff_t size = ptrdiff_t{shape.group_outputs()} * shape.depth();
  const auto* const weights = static_cast<const float*>(layer.input(1).data);
  for (int g = 0; g < shape.groups; ++g) {
    filters->emplace_back(weights + g * size, shape.group_outputs(), shape.depth(), loops);
  }
  return std::shared_ptr<const Filters>(std::move(filters));
}

}  // namespace

Result<PreparedLayer> PrepareProductFloat(const LayerView& layer, const LayerOptions& options,
                                          const ConvShape& shape) {
  Result<FloatFinish> finish = CheckFloatLayer(layer, shape.activation, shape.outputs);
  if (!finish.ok()) return finish.status();
  const int depth = shape.depth();
  auto routine = std::make_shared<ProductRoutine>();
  routine->shape = shape;
  routine->finish = std::move(*finish);
  const bool are_many = ptrdiff_t{depth} * shape.group_outputs() > kManyWeights;
  routine->block = ParameterIn(options.routine, kFloatProductParameters[0].name)
                       .value_or(are_many ? kLargeBlock : kBlock);
  const int most = std::max(routine->block, kGathered / std::max(1, depth) / kTile * kTile);
  routine->chunk = shape.pointwise ? std::max(1, shape.rows()) : RowParts(shape.rows(), most).each;
  PreparedLayer prepared;
  prepared.packed_inputs = 1 << 1;  // the weights
  bool is_new = false;
  const FloatLoops& loops = LoopsOf(options, shape);
  auto filters = PackOnce<Filters>(
      options,
      {KeyOf(layer.input(1).data), shape.groups, shape.group_outputs(), depth, loops.lanes},
      [&] { return PackFilters(layer, loops, shape); }, is_new);
  if (!filters.ok()) return filters.status();
  routine->filters = std::move(*filters);
  for (const FloatPanels& panels : *routine->filters) {
    if (is_new) prepared.constant_bytes += panels.bytes();
  }
  prepared.macs = CountMacs({shape.rows(), shape.outputs}, depth);
  if (!std::in_range<ptrdiff_t>(routine->scratch_bytes())) {
    return layer.Unsupported("gathers more rows than this machine can address");
  }
  prepared.scratch_bytes = static_cast<size_t>(routine->scratch_bytes());
  prepared.strides_output = true;
  prepared.routine = std::move(routine);
  return prepared;
}

}  // namespace intaglio::nn
