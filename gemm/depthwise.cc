#include "intaglio/gemm/depthwise.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <new>
#include <string>
#include <utility>

#include "intaglio/gemm/dispatch.h"
#include "intaglio/gemm/panel_params.h"
#include "intaglio/gemm/prepare.h"
#include "intaglio/kernels/depthwise_args.h"
#include "intaglio/pack/depthwise_filters.h"
#include "intaglio/pack/validate.h"
#include "intaglio/pipeline/tile.h"

namespace intaglio {

struct PackedDepthwise::Storage {
  const Kernel* kernel;
  DepthwiseFilters filters;
};

namespace {

using Storage = PackedDepthwise::Storage;

// Bytes of interleaved columns that one run of pixels may take: a good part of any L1.
constexpr size_t kColumnBudget = 12 << 10;

// The most pixels of input under one output line, over all kernel rows.
constexpr int64_t kMostColumns = 1 << 26;

std::string Shape(int rows, int cols) {
  return std::to_string(rows) + " x " + std::to_string(cols);
}

constexpr size_t RoundUp(size_t n, size_t to) { return (n + to - 1) / to * to; }

// What kernels read taps as: the top bits of the other 8-bit type are flipped on the way.
int32_t TapMove(const Kernel& kernel, Type type) {
  return RowMove(TakesSignedTaps(kernel) ? RowFormat::kSigned8 : RowFormat::kUnsigned8, type);
}

// Input columns under `pixels` neighbouring pixels.
int64_t ColumnsUnder(const Im2col& v, int pixels) {
  return int64_t{pixels - 1} * v.stride_width + int64_t{v.kernel_width - 1} * v.dilation_width + 1;
}

// All that a task reads.
struct Job {
  const Im2col& input;
  const Storage& packed;
  const StandardPipeline* standard;  // or null, and `tile` is run
  TilePipeline tile;
  EpilogueParams epilogue;
  std::byte* dst;
  const PanelParams* params;  // per extent
  const uint8_t* outside;     // one pixel of zero points
  int run;                    // pixels of a line that a kernel is given at once

  const DepthwiseFilters& filters() const { return packed.filters; }
  int Columns(int pixels) const { return static_cast<int>(ColumnsUnder(input, pixels)); }
  size_t ColumnBytes(int vectors) const {
    return DepthwiseColumnBytes(vectors, packed.kernel->panel.lanes, filters().groups());
  }
};

// As many pixels as the budget has columns for, but enough for a kernel's tile.
int PixelsOfRun(const Job& job) {
  const auto columns =
      static_cast<int64_t>(kColumnBudget / job.ColumnBytes(job.packed.kernel->panel.vectors));
  const int64_t pixels = (columns - job.Columns(1)) / job.input.stride_width + 1;
  const auto least = static_cast<int64_t>(job.packed.kernel->max_rows);
  return static_cast<int>(
      std::min(std::max(pixels, least), static_cast<int64_t>(job.input.out_width)));
}

// A thread's scratch, carved from one piece of memory.
struct Scratch {
  const uint8_t** taps;         // [column of a line][padded kernel row]
  const uint8_t** copied_taps;  // [column of a run][padded kernel row]
  uint8_t* copies;              // of them, kMaxPanelWidth each, where no panel can be read in place
  std::byte* columns;           // interleaved
  std::byte* out;               // a run's panels of results

  static size_t Carve(std::byte* memory, const Job& job, Scratch* scratch) {
    size_t at = 0;
    const auto take = [&](size_t bytes) {
      std::byte* piece = memory == nullptr ? nullptr : memory + at;
      at += RoundUp(bytes, 64);
      return piece;
    };
    const auto rows = static_cast<size_t>(job.filters().padded_height());
    const size_t line = static_cast<size_t>(job.Columns(job.input.out_width)) * rows;
    const size_t run = static_cast<size_t>(job.Columns(job.run)) * rows;
    const Scratch carved{reinterpret_cast<const uint8_t**>(take(line * sizeof(void*))),
                         reinterpret_cast<const uint8_t**>(take(run * sizeof(void*))),
                         reinterpret_cast<uint8_t*>(take(run * kMaxPanelWidth)),
                         take(static_cast<size_t>(job.Columns(job.run)) *
                              job.ColumnBytes(job.packed.kernel->panel.vectors)),
                         take(static_cast<size_t>(job.run) * kMaxPanelWidth * sizeof(int32_t))};
    if (scratch != nullptr) *scratch = carved;
    return at;
  }
};

// The input under each column and kernel row of one output line: a pixel of the image, or the one
// outside.
void FindTaps(const Job& job, int batch, int out_y, const uint8_t** taps) {
  const Im2col& v = job.input;
  const auto* image = static_cast<const uint8_t*>(v.data) +
                      static_cast<ptrdiff_t>(batch) * v.height * v.width * v.channels;
  const int columns = job.Columns(v.out_width);
  const int rows = job.filters().padded_height();
  const int begin = std::min(v.pad_left, columns);
  const int end = std::clamp(v.width + v.pad_left, begin, columns);
  for (int ky = 0; ky < rows; ++ky) {
    const int y = out_y * v.stride_height - v.pad_top + ky * v.dilation_height;
    const bool inside = ky < v.kernel_height && y >= 0 && y < v.height;
    const uint8_t** to = taps + ky;
    const uint8_t** const inside_from = to + (inside ? static_cast<ptrdiff_t>(begin) * rows : 0);
    const uint8_t** const inside_to = to + (inside ? static_cast<ptrdiff_t>(end) * rows : 0);
    const uint8_t** const last = to + static_cast<ptrdiff_t>(columns) * rows;
    for (; to < inside_from; to += rows) *to = job.outside;
    const uint8_t* pixel = image + static_cast<ptrdiff_t>(y) * v.width * v.channels;
    for (; to < inside_to; to += rows, pixel += v.channels) *to = pixel;
    for (; to < last; to += rows) *to = job.outside;
  }
}

// Copies the input of one panel's channels, each repeated for its `multiplier` outputs, to where
// the kernel may read a whole panel's width.
void CopyTaps(const Job& job, const PanelExtent& extent, const uint8_t* const* taps, int count,
              const Scratch& scratch) {
  const int multiplier = job.filters().multiplier;
  for (int t = 0; t < count; ++t) {
    uint8_t* to = scratch.copies + static_cast<ptrdiff_t>(t) * kMaxPanelWidth;
    if (multiplier == 1) {
      std::memcpy(to, taps[t] + extent.first_channel, static_cast<size_t>(extent.channels));
    } else {
      for (int i = 0; i < extent.channels; ++i)
        to[i] = taps[t][(extent.first_channel + i) / multiplier];
    }
    scratch.copied_taps[t] = to;
  }
}

// Brings a run of finished panels from scratch to dst.
void Deliver(const Job& job, const PanelExtent& extent, int width, int row, int pixels,
             const Scratch& scratch) {
  const Panels& panels = job.filters().panels;
  const ptrdiff_t at = static_cast<ptrdiff_t>(row) * panels.channels + extent.first_channel;
  if (job.standard == nullptr) {
    const auto size = static_cast<ptrdiff_t>(SizeOf(job.tile.output));
    job.tile.run(job.tile.pipeline,
                 {reinterpret_cast<const int32_t*>(scratch.out), width, pixels, extent.channels,
                  Axis::kCols, row, extent.first_channel, job.dst + at * size, panels.channels, 1});
    return;
  }
  const auto size = static_cast<ptrdiff_t>(SizeOf(job.epilogue.output));
  for (int p = 0; p < pixels; ++p) {
    std::memcpy(job.dst + (at + static_cast<ptrdiff_t>(p) * panels.channels) * size,
                scratch.out + p * width * size, static_cast<size_t>(extent.channels * size));
  }
}

// One panel of channels along one output line, whose first pixel is row `row` of the result.
void RunPanel(const Job& job, size_t extent_index, int row, const Scratch& scratch) {
  const DepthwiseFilters& filters = job.filters();
  const Panels& panels = filters.panels;
  const PanelExtent& extent = panels.extents[extent_index];
  const int width = panels.format.lanes * extent.vectors;
  const bool whole = extent.channels == width;
  const bool in_place = whole && filters.multiplier == 1;
  const bool direct = whole && job.standard != nullptr;
  const auto size = static_cast<ptrdiff_t>(SizeOf(job.epilogue.output));

  const int padded_height = filters.padded_height();

  DepthwiseArgs args;
  args.weights = filters.Panel(extent_index);
  args.terms = filters.weights[extent_index].terms;
  args.vectors = extent.vectors;
  args.first_channel = in_place ? extent.first_channel : 0;
  args.groups = filters.groups();
  args.kernel_width = job.input.kernel_width;
  args.pixel_step = job.input.stride_width;
  args.tap_step = job.input.dilation_width;
  args.flip = TapMove(*job.packed.kernel, job.input.type) == 0 ? 0 : 0x80;
  args.params = job.params + extent_index;
  args.epilogue = job.epilogue;
  args.dst_stride = (direct ? panels.channels : width) * size;
  args.scratch = scratch.columns;
  for (int x = 0; x < job.input.out_width; x += job.run) {
    args.pixels = std::min(job.run, job.input.out_width - x);
    args.columns = job.Columns(args.pixels);
    args.taps = scratch.taps + static_cast<ptrdiff_t>(x) * args.pixel_step * padded_height;
    if (!in_place) {
      CopyTaps(job, extent, args.taps, args.columns * padded_height, scratch);
      args.taps = scratch.copied_taps;
    }
    const ptrdiff_t at = static_cast<ptrdiff_t>(row + x) * panels.channels + extent.first_channel;
    args.dst = direct ? job.dst + at * size : scratch.out;
    job.packed.kernel->depthwise(args);
    if (!direct) Deliver(job, extent, width, row + x, args.pixels, scratch);
  }
}

Status ValidateCall(const Im2col& input, const Storage& packed, const void* dst, Type output) {
  INTAGLIO_RETURN_IF_ERROR(Validate(input));
  if (input.first_channel != 0 || input.group_channels != input.channels) {
    return InvalidArgument("depthwise: a view of channels " + std::to_string(input.first_channel) +
                           " + " + std::to_string(input.group_channels) + " of " +
                           std::to_string(input.channels) + ", not of all");
  }
  const DepthwiseFilters& filters = packed.filters;
  const Panels& panels = filters.panels;
  const int taps = input.kernel_height * input.kernel_width;
  if (input.kernel_height != filters.kernel_height || input.kernel_width != filters.kernel_width ||
      int64_t{input.channels} * filters.multiplier != panels.channels) {
    return InvalidArgument("depthwise: " + std::to_string(panels.channels) + " filters of " +
                           Shape(filters.kernel_height, filters.kernel_width) +
                           " taps and multiplier " + std::to_string(filters.multiplier) + " for " +
                           Shape(input.kernel_height, input.kernel_width) + " taps of " +
                           std::to_string(input.channels) + " channels");
  }
  if (ColumnsUnder(input, input.out_width) > kMostColumns / filters.padded_height()) {
    return InvalidArgument("depthwise: a line of " +
                           std::to_string(ColumnsUnder(input, input.out_width)) +
                           " columns of input, too long for this kernel height");
  }
  const int rows = Rows(input);
  if (rows > 0 && panels.channels > std::numeric_limits<int>::max() / rows) {
    return InvalidArgument("depthwise: more output elements than an int counts");
  }
  const size_t elements = static_cast<size_t>(rows) * static_cast<size_t>(panels.channels);
  if (elements > 0 && dst == nullptr) return InvalidArgument("depthwise: null dst");
  const auto input_bytes = static_cast<size_t>(input.batch) * static_cast<size_t>(input.height) *
                           static_cast<size_t>(input.width) * static_cast<size_t>(input.channels);
  if (Overlap(input.data, input_bytes, dst, elements * SizeOf(output))) {
    return InvalidArgument("depthwise: dst overlaps the input");
  }
  const int64_t worst = panels.magnitude() * LargestDistance(input.type, input.zero_point);
  if (worst > std::numeric_limits<int32_t>::max()) {
    return InvalidArgument("depthwise: a sum over " + std::to_string(taps) + " taps could reach " +
                           std::to_string(worst) + ", over int32");
  }
  return {};
}

void Announce(const Im2col& input, const Storage& packed, bool in_registers) {
  const Panels& panels = packed.filters.panels;
  std::fprintf(stderr,
               "intaglio: depthwise, %d pixels x %d channels x %d taps, kernel %s, pipeline %s\n",
               Rows(input), panels.channels, panels.depth, packed.kernel->name,
               in_registers ? "in registers" : "over tiles");
}

// `params` are null where the pipeline was not bound before.
Status Run(Context& context, const Im2col& input, const Storage* packed, void* dst,
           const StandardPipeline* standard, const TilePipeline& tile, const PanelParams* params) {
  if (packed == nullptr) return InvalidArgument("depthwise: the filters are empty");
  INTAGLIO_RETURN_IF_ERROR(ValidateCall(input, *packed, dst, tile.output));
  if (Verbose()) Announce(input, *packed, standard != nullptr);
  const Panels& panels = packed->filters.panels;
  if (Rows(input) == 0 || panels.channels == 0) return {};
  Job job{input,   *packed, standard, tile, MakeEpilogue(standard), static_cast<std::byte*>(dst),
          nullptr, nullptr, 0};
  job.run = PixelsOfRun(job);

  const size_t extents = panels.extents.size();
  const size_t params_bytes = params == nullptr ? extents * sizeof(PanelParams) : 0;
  const size_t outside_bytes = static_cast<size_t>(input.channels) + kMaxPanelWidth;
  auto* shared = static_cast<std::byte*>(context.Scratch(0, params_bytes + outside_bytes));
  const int lines = input.batch * input.out_height;
  const int workers = std::min(context.threads(), lines);
  const size_t scratch_bytes = Scratch::Carve(nullptr, job, nullptr);
  bool have_memory = shared != nullptr;
  for (int w = 0; w < workers; ++w) {
    have_memory = have_memory && context.Scratch(w + 1, scratch_bytes) != nullptr;
  }
  if (!have_memory) return OutOfMemory("no memory for the scratch of a depthwise convolution");

  auto* made = reinterpret_cast<PanelParams*>(shared);
  const RowFacts rows{input.zero_point + TapMove(*packed->kernel, input.type),
                      LargestDistance(input.type, input.zero_point)};
  for (size_t e = 0; params == nullptr && e < extents; ++e) {
    FillPanelParams(panels, panels.extents[e], rows, standard, made[e]);
  }
  auto* outside = reinterpret_cast<uint8_t*>(shared + params_bytes);
  std::memset(outside, static_cast<uint8_t>(input.zero_point), outside_bytes);
  job.params = params == nullptr ? made : params;
  job.outside = outside;

  std::atomic<int> next{0};
  const auto work = [&](int worker) {
    Scratch scratch;
    Scratch::Carve(static_cast<std::byte*>(context.Scratch(worker + 1, 0)), job, &scratch);
    for (int line = next.fetch_add(1); line < lines; line = next.fetch_add(1)) {
      FindTaps(job, line / input.out_height, line % input.out_height, scratch.taps);
      for (size_t e = 0; e < extents; ++e) RunPanel(job, e, line * input.out_width, scratch);
    }
  };
  context.Run(workers, std::ref(work));  // by reference: a copy would be allocated
  return {};
}

Status RunStandard(Context& context, const Im2col& input, const PackedDepthwise& filters, void* dst,
                   const StandardPipeline& pipeline, const PanelParams* params) {
  const bool in_registers = pipeline.scaling != Scaling::kReal64;
  try {
    return Run(context, input, filters.storage(), dst, in_registers ? &pipeline : nullptr,
               AsTilePipeline(pipeline), in_registers ? params : nullptr);
  } catch (const std::bad_alloc&) {
    return OutOfMemory("no memory for a depthwise convolution");
  }
}

}  // namespace

Result<PackedDepthwise> PackedDepthwise::Pack(const ConstMatrix& filters, int kernel_width,
                                              int multiplier, const std::string& kernel_name) {
  auto kernel = KernelNamed(kernel_name);
  if (!kernel.ok()) return kernel.status();
  try {
    const PanelFormat& panel = (*kernel)->panel;
    auto made = PackDepthwiseFilters(filters, kernel_width, multiplier, panel.lanes, panel.vectors,
                                     (*kernel)->tap_step);
    if (!made.ok()) return made.status();
    PackedDepthwise packed;
    packed.storage_ = std::make_shared<const Storage>(Storage{*kernel, std::move(*made)});
    return packed;
  } catch (const std::bad_alloc&) {
    return OutOfMemory("no memory for depthwise filters");
  }
}

int PackedDepthwise::taps() const { return storage_ ? storage_->filters.panels.depth : 0; }
int PackedDepthwise::channels() const { return storage_ ? storage_->filters.panels.channels : 0; }
int PackedDepthwise::multiplier() const { return storage_ ? storage_->filters.multiplier : 1; }
size_t PackedDepthwise::bytes() const { return storage_ ? storage_->filters.bytes() : 0; }
const char* PackedDepthwise::kernel_name() const { return storage_ ? storage_->kernel->name : ""; }

Result<BoundPipeline> BoundPipeline::Bind(const PackedDepthwise& filters,
                                          const StandardPipeline& pipeline, Type operand_type,
                                          int32_t operand_zero_point, const BindOptions& options) {
  const PackedDepthwise::Storage* packed = filters.storage();
  if (packed == nullptr) return InvalidArgument("bound pipeline: the filters are empty");
  try {
    const BindTarget target{filters.shared_storage(), &packed->filters.panels, packed->kernel,
                            TapMove(*packed->kernel, operand_type), Axis::kCols};
    auto storage = BindPanels(target, pipeline, operand_type, operand_zero_point, options);
    if (!storage.ok()) return storage.status();
    return BoundPipeline(std::move(*storage));
  } catch (const std::bad_alloc&) {
    return OutOfMemory("no memory to bind a pipeline");
  }
}

Status Depthwise(Context& context, const Im2col& input, const PackedDepthwise& filters, void* dst,
                 const StandardPipeline& pipeline) {
  INTAGLIO_RETURN_IF_ERROR(Validate(pipeline, 1, filters.channels()));
  if (pipeline.axis != Axis::kCols && (pipeline.bias != nullptr || pipeline.per_channel)) {
    return InvalidArgument("depthwise: a pipeline whose channels run along rows");
  }
  return RunStandard(context, input, filters, dst, pipeline, nullptr);
}

Status Depthwise(Context& context, const Im2col& input, const PackedDepthwise& filters, void* dst,
                 const BoundPipeline& pipeline) {
  const BoundPipeline::Storage* bound = pipeline.storage();
  if (bound == nullptr) return InvalidArgument("the pipeline is bound to nothing");
  if (filters.storage() == nullptr || bound->panels != &filters.storage()->filters.panels) {
    return InvalidArgument("the pipeline was bound to other filters");
  }
  if (input.type != bound->operand_type || input.zero_point != bound->operand_zero_point) {
    return InvalidArgument(std::string("the pipeline was bound to operands of ") +
                           NameOf(bound->operand_type) + " with zero point " +
                           std::to_string(bound->operand_zero_point));
  }
  return RunStandard(context, input, filters, dst, bound->pipeline, bound->panel_params());
}

Status Depthwise(Context& context, const Im2col& input, const PackedDepthwise& filters, void* dst,
                 const TilePipeline& pipeline) {
  try {
    return Run(context, input, filters.storage(), dst, nullptr, pipeline, nullptr);
  } catch (const std::bad_alloc&) {
    return OutOfMemory("no memory for a depthwise convolution");
  }
}

}  // namespace intaglio
