#include "intaglio/gemm/depthwise.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <new>
#include <string>
#include <utility>

#include "intaglio/gemm/dispatch.h"
#include "intaglio/gemm/panel_params.h"
#include "intaglio/kernels/depthwise_args.h"
#include "intaglio/pack/aligned_buffer.h"
#include "intaglio/pack/validate.h"
#include "intaglio/pipeline/tile.h"

namespace intaglio {

struct PackedDepthwise::Storage {
  const Kernel* kernel;
  int multiplier;
  Panels panels;          // of depth `taps`, one byte a weight; all but the bytes themselves
  AlignedBuffer weights;  // [extent][tap][width] int32: filter - zero point in the low half
};

namespace {

using Storage = PackedDepthwise::Storage;

std::string Shape(int rows, int cols) {
  return std::to_string(rows) + " x " + std::to_string(cols);
}

constexpr size_t RoundUp(size_t n, size_t to) { return (n + to - 1) / to * to; }

// Fills one extent's weights and its channels' sums.
void PackExtent(const ConstMatrix& filters, PanelExtent& extent, int width, int32_t* weights,
                Panels& panels) {
  const auto* data = static_cast<const uint8_t*>(filters.data);
  const bool row_major = filters.order == Order::kRowMajor;
  std::memset(weights, 0,
              static_cast<size_t>(panels.depth) * static_cast<size_t>(width) * sizeof(int32_t));
  for (int i = 0; i < extent.channels; ++i) {
    const int channel = extent.first_channel + i;
    const auto c = static_cast<size_t>(channel);
    int64_t magnitude = 0;
    for (int tap = 0; tap < panels.depth; ++tap) {
      const uint8_t byte =
          row_major ? data[tap * filters.stride + channel] : data[channel * filters.stride + tap];
      const int32_t q = filters.type == Type::kUInt8 ? byte : static_cast<int8_t>(byte);
      const int32_t value = q - filters.zero_point;  // fits int16
      weights[tap * width + i] = value & 0xffff;
      panels.sums[c] += value;
      magnitude += std::abs(value);
    }
    extent.magnitude = std::max(extent.magnitude, magnitude);
  }
}

// All that a task reads.
struct Job {
  const Im2col& input;
  const Storage& filters;
  const StandardPipeline* standard;  // or null, and `tile` is run
  TilePipeline tile;
  EpilogueParams epilogue;
  std::byte* dst;
  const PanelParams* params;  // per extent
  const uint8_t* outside;     // one pixel of zero points
};

// A thread's scratch, carved from one piece of memory.
struct Scratch {
  const uint8_t** taps;  // [out_width][taps]
  uint8_t* pixel;        // [taps][kMaxPanelWidth], where the image cannot be read in place
  const uint8_t** pixel_taps;
  std::byte* out;  // one pixel's panel of results

  static size_t Bytes(const Job& job) {
    const auto taps = static_cast<size_t>(job.filters.panels.depth);
    const auto width = static_cast<size_t>(job.input.out_width);
    return RoundUp((width + 1) * taps * sizeof(void*), 64) + taps * kMaxPanelWidth +
           kMaxPanelWidth * sizeof(int32_t);
  }
  Scratch(void* memory, const Job& job) {
    const auto count = static_cast<size_t>(job.filters.panels.depth);
    const auto width = static_cast<size_t>(job.input.out_width);
    taps = static_cast<const uint8_t**>(memory);
    pixel_taps = taps + width * count;
    pixel = static_cast<uint8_t*>(memory) + RoundUp((width + 1) * count * sizeof(void*), 64);
    out = reinterpret_cast<std::byte*>(pixel + count * kMaxPanelWidth);
  }
};

// The input of each tap of each pixel of one output line: a place in the image, or the pixel
// outside.
void FindTaps(const Job& job, int batch, int out_y, const uint8_t** taps) {
  const Im2col& v = job.input;
  const auto* image = static_cast<const uint8_t*>(v.data) +
                      static_cast<ptrdiff_t>(batch) * v.height * v.width * v.channels;
  for (int out_x = 0; out_x < v.out_width; ++out_x) {
    for (int ky = 0; ky < v.kernel_height; ++ky) {
      const int y = out_y * v.stride_height - v.pad_top + ky * v.dilation_height;
      for (int kx = 0; kx < v.kernel_width; ++kx) {
        const int x = out_x * v.stride_width - v.pad_left + kx * v.dilation_width;
        const bool inside = y >= 0 && y < v.height && x >= 0 && x < v.width;
        *taps++ =
            inside ? image + (static_cast<ptrdiff_t>(y) * v.width + x) * v.channels : job.outside;
      }
    }
  }
}

// Copies the input of one panel's channels, each repeated for its `multiplier` outputs, to where
// the kernel may read a whole panel's width.
void CopyTaps(const Job& job, const PanelExtent& extent, const uint8_t* const* taps,
              const Scratch& scratch) {
  const int count = job.filters.panels.depth;
  const int multiplier = job.filters.multiplier;
  for (int t = 0; t < count; ++t) {
    uint8_t* to = scratch.pixel + t * kMaxPanelWidth;
    if (multiplier == 1) {
      std::memcpy(to, taps[t] + extent.first_channel, static_cast<size_t>(extent.channels));
    } else {
      for (int i = 0; i < extent.channels; ++i)
        to[i] = taps[t][(extent.first_channel + i) / multiplier];
    }
    scratch.pixel_taps[t] = to;
  }
}

// One panel of channels along one output line, whose first pixel is row `row` of the result.
void RunPanel(const Job& job, size_t extent_index, int row, const Scratch& scratch) {
  const Panels& panels = job.filters.panels;
  const PanelExtent& extent = panels.extents[extent_index];
  const int width = panels.format.lanes * extent.vectors;
  const bool whole = extent.channels == width;
  const bool in_place = whole && job.filters.multiplier == 1;
  const bool direct = whole && job.standard != nullptr;
  const auto size = static_cast<ptrdiff_t>(
      SizeOf(job.standard != nullptr ? job.epilogue.output : job.tile.output));

  DepthwiseArgs args;
  args.weights = static_cast<const int32_t*>(job.filters.weights.data()) + extent.offset;
  args.vectors = extent.vectors;
  args.tap_count = panels.depth;
  args.first_channel = in_place ? extent.first_channel : 0;
  args.input_is_signed = job.input.type == Type::kInt8;
  args.params = job.params + extent_index;
  args.epilogue = job.epilogue;
  for (int x = 0; x < job.input.out_width; ++x) {
    const uint8_t* const* taps = scratch.taps + static_cast<ptrdiff_t>(x) * panels.depth;
    if (!in_place) CopyTaps(job, extent, taps, scratch);
    const ptrdiff_t at = static_cast<ptrdiff_t>(row + x) * panels.channels + extent.first_channel;
    args.taps = in_place ? taps : scratch.pixel_taps;
    args.dst = direct ? job.dst + at * size : scratch.out;
    job.filters.kernel->depthwise(args);
    if (job.standard == nullptr) {
      job.tile.run(job.tile.pipeline, {reinterpret_cast<const int32_t*>(scratch.out), width, 1,
                                       extent.channels, Axis::kCols, row + x, extent.first_channel,
                                       job.dst + at * size, panels.channels, 1});
    } else if (!direct) {
      std::memcpy(job.dst + at * size, scratch.out, static_cast<size_t>(extent.channels * size));
    }
  }
}

Status ValidateCall(const Im2col& input, const Storage& filters, const void* dst, Type output) {
  INTAGLIO_RETURN_IF_ERROR(Validate(input));
  if (input.first_channel != 0 || input.group_channels != input.channels) {
    return InvalidArgument("depthwise: a view of channels " + std::to_string(input.first_channel) +
                           " + " + std::to_string(input.group_channels) + " of " +
                           std::to_string(input.channels) + ", not of all");
  }
  const Panels& panels = filters.panels;
  const int taps = input.kernel_height * input.kernel_width;
  if (taps != panels.depth || int64_t{input.channels} * filters.multiplier != panels.channels) {
    return InvalidArgument("depthwise: " + Shape(panels.depth, panels.channels) +
                           " filters of multiplier " + std::to_string(filters.multiplier) +
                           " for " + std::to_string(taps) + " taps of " +
                           std::to_string(input.channels) + " channels");
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

void Announce(const Im2col& input, const Storage& filters, bool in_registers) {
  std::fprintf(stderr,
               "intaglio: depthwise, %d pixels x %d channels x %d taps, kernel %s, pipeline %s\n",
               Rows(input), filters.panels.channels, filters.panels.depth, filters.kernel->name,
               in_registers ? "in registers" : "over tiles");
}

Status Run(Context& context, const Im2col& input, const Storage* packed, void* dst,
           const StandardPipeline* standard, const TilePipeline& tile) {
  if (packed == nullptr) return InvalidArgument("depthwise: the filters are empty");
  const Storage& filters = *packed;
  INTAGLIO_RETURN_IF_ERROR(ValidateCall(input, filters, dst, tile.output));
  if (Verbose()) Announce(input, filters, standard != nullptr);
  const Panels& panels = filters.panels;
  if (Rows(input) == 0 || panels.channels == 0) return {};
  Job job{input,   filters, standard, tile, MakeEpilogue(standard), static_cast<std::byte*>(dst),
          nullptr, nullptr};

  const size_t extents = panels.extents.size();
  const size_t params_bytes = extents * sizeof(PanelParams);
  const size_t outside_bytes = static_cast<size_t>(input.channels) + kMaxPanelWidth;
  auto* shared = static_cast<std::byte*>(context.Scratch(0, params_bytes + outside_bytes));
  const int lines = input.batch * input.out_height;
  const int workers = std::min(context.threads(), lines);
  bool have_memory = shared != nullptr;
  for (int w = 0; w < workers; ++w) {
    have_memory = have_memory && context.Scratch(w + 1, Scratch::Bytes(job)) != nullptr;
  }
  if (!have_memory) return OutOfMemory("no memory for the scratch of a depthwise convolution");

  auto* params = reinterpret_cast<PanelParams*>(shared);
  const RowFacts rows{input.zero_point, LargestDistance(input.type, input.zero_point)};
  for (size_t e = 0; e < extents; ++e) {
    FillPanelParams(panels, panels.extents[e], rows, standard, params[e]);
  }
  auto* outside = reinterpret_cast<uint8_t*>(shared + params_bytes);
  std::memset(outside, static_cast<uint8_t>(input.zero_point), outside_bytes);
  job.params = params;
  job.outside = outside;

  std::atomic<int> next{0};
  const auto work = [&](int worker) {
    const Scratch scratch(context.Scratch(worker + 1, 0), job);
    for (int line = next.fetch_add(1); line < lines; line = next.fetch_add(1)) {
      FindTaps(job, line / input.out_height, line % input.out_height, scratch.taps);
      for (size_t e = 0; e < extents; ++e) RunPanel(job, e, line * input.out_width, scratch);
    }
  };
  context.Run(workers, std::ref(work));  // by reference: a copy would be allocated
  return {};
}

}  // namespace

Result<PackedDepthwise> PackedDepthwise::Pack(const ConstMatrix& filters, int multiplier,
                                              const std::string& kernel_name) {
  INTAGLIO_RETURN_IF_ERROR(ValidateOperand(filters, "depthwise filters"));
  if (multiplier < 1 || filters.cols % multiplier != 0) {
    return InvalidArgument("depthwise: multiplier " + std::to_string(multiplier) + " for " +
                           std::to_string(filters.cols) + " output channels");
  }
  auto kernel = KernelNamed(kernel_name);
  if (!kernel.ok()) return kernel.status();
  try {
    const PanelFormat format{(*kernel)->panel.lanes, (*kernel)->panel.vectors, 1};
    auto layout = LayOutPanels(format, filters.cols, filters.rows);
    if (!layout.ok()) return layout.status();
    if (layout->bytes > std::numeric_limits<size_t>::max() / sizeof(int32_t)) {
      return OutOfMemory("depthwise: filters do not fit the address space");
    }
    auto storage = std::make_shared<Storage>(Storage{*kernel, multiplier, {}, {}});
    Panels& panels = storage->panels;
    panels.format = format;
    panels.channels = filters.cols;
    panels.depth = filters.rows;
    panels.extents = std::move(layout->extents);
    panels.sums.resize(static_cast<size_t>(filters.cols));
    panels.zero_points.resize(static_cast<size_t>(filters.cols));
    storage->weights = AlignedBuffer::Allocate(layout->bytes * sizeof(int32_t));
    if (layout->bytes > 0 && storage->weights.data() == nullptr) {
      return OutOfMemory("no memory for depthwise filters");
    }
    for (PanelExtent& extent : panels.extents) {
      PackExtent(filters, extent, format.lanes * extent.vectors,
                 static_cast<int32_t*>(storage->weights.data()) + extent.offset, panels);
    }
    PackedDepthwise packed;
    packed.storage_ = std::move(storage);
    return packed;
  } catch (const std::bad_alloc&) {
    return OutOfMemory("no memory for depthwise filters");
  }
}

int PackedDepthwise::taps() const { return storage_ ? storage_->panels.depth : 0; }
int PackedDepthwise::channels() const { return storage_ ? storage_->panels.channels : 0; }
int PackedDepthwise::multiplier() const { return storage_ ? storage_->multiplier : 1; }
size_t PackedDepthwise::bytes() const {
  return storage_ ? storage_->panels.bytes() + storage_->weights.bytes() : 0;
}
const char* PackedDepthwise::kernel_name() const { return storage_ ? storage_->kernel->name : ""; }

Status Depthwise(Context& context, const Im2col& input, const PackedDepthwise& filters, void* dst,
                 const StandardPipeline& pipeline) {
  INTAGLIO_RETURN_IF_ERROR(Validate(pipeline, 1, filters.channels()));
  if (pipeline.axis != Axis::kCols && (pipeline.bias != nullptr || pipeline.per_channel)) {
    return InvalidArgument("depthwise: a pipeline whose channels run along rows");
  }
  const bool in_registers = pipeline.scaling != Scaling::kReal64;
  try {
    return Run(context, input, filters.storage(), dst, in_registers ? &pipeline : nullptr,
               AsTilePipeline(pipeline));
  } catch (const std::bad_alloc&) {
    return OutOfMemory("no memory for a depthwise convolution");
  }
}

Status Depthwise(Context& context, const Im2col& input, const PackedDepthwise& filters, void* dst,
                 const TilePipeline& pipeline) {
  try {
    return Run(context, input, filters.storage(), dst, nullptr, pipeline);
  } catch (const std::bad_alloc&) {
    return OutOfMemory("no memory for a depthwise convolution");
  }
}

}  // namespace intaglio
