#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <string>

#include "intaglio/fixedpoint/float_environment.h"
#include "intaglio/gemm/machine/cpu.h"
#include "intaglio/gemm/run/task_parts.h"
#include "intaglio/gemm/run/winograd_product.h"
#include "intaglio/kernels/params_list.h"
#include "intaglio/pack/validate.h"

namespace intaglio {
namespace {

constexpr int DivideUp(int a, int b) { return (a + b - 1) / b; }

// How a convolution is cut into tasks: each some tiles by some panels. V is made by every task of
// the same tiles, which costs little where there are many panels.
struct WinogradCut {
  int tiles_y;  // of an image
  int tiles_x;
  int tiles;  // of all images
  int blocks;
  int block_tiles;  // the most tiles of a block, a multiple of kWinogradTiles
  int panel_parts;
  int workers;

  int tasks() const { return blocks * panel_parts; }
  // The first tile of a block.
  int Begin(int block) const {
    const int64_t rows = DivideUp(tiles, kWinogradTiles);
    return std::min(tiles, static_cast<int>(rows * block / blocks) * kWinogradTiles);
  }
};

// A thread's scratch.
struct WinogradScratch {
  int16_t* pixels;        // V of a block
  int16_t* weights;       // U of a panel and a group, where it is made in each call
  int32_t* products;      // M of all groups by a panel
  std::byte* edge;        // results by a panel that is not full, pixel by pixel
  std::byte* spare;       // takes results of pixels that there are not: a line of all outputs
  const uint8_t** under;  // the pixels under a tile
  char** dst;             // where the pixels of a block's tiles go
};

// What every task reads.
struct WinogradJob {
  const WinogradProduct& product;
  WinogradCut cut;
  const uint8_t* outside;  // a pixel of zero points
  ptrdiff_t row_step;      // of V: bytes from tile to tile
  size_t params_bytes;

  const PackedWinograd::Storage& packed() const { return product.packed; }
  const WinogradForm& form() const { return *packed().form; }
  int width() const { return packed().routines().panel.width(); }
  ptrdiff_t element() const { return static_cast<ptrdiff_t>(SizeOf(product.epilogue.output)); }
  ptrdiff_t RowsStep() const { return FrequencyStep(row_step * cut.block_tiles); }
  ptrdiff_t ProductStep() const {
    return FrequencyStep(ptrdiff_t{cut.block_tiles} * width() * ptrdiff_t{sizeof(int32_t)});
  }
  int GroupChannels(int g) const {
    return GroupBegin(packed().channels, g + 1, packed().groups) -
           GroupBegin(packed().channels, g, packed().groups);
  }
  // The bytes of a panel and a group of U, where U is made in each call.
  ptrdiff_t WeightsStep() const {
    const int steps = DivideUp(packed().channels, kGroupStep);
    const int most = DivideUp(steps, packed().groups) * kGroupStep * form().blocks;
    return PackedWinograd::Storage::WeightsStep(most, width());
  }

  // Cuts `memory` into a thread's scratch, and returns how many bytes that takes.
  size_t Carve(std::byte* memory, WinogradScratch* scratch) const {
    size_t bytes = 0;
    const auto take = [&](auto*& piece, size_t size) {
      if (memory != nullptr)
        piece = reinterpret_cast<std::decay_t<decltype(piece)>>(memory + bytes);
      bytes += RoundUp(size, 64);
    };
    const auto tiles = static_cast<size_t>(cut.block_tiles);
    const auto outputs = static_cast<size_t>(packed().panels().channels);
    const bool makes = packed().weights.data() == nullptr;
    WinogradScratch unused;
    WinogradScratch& s = scratch == nullptr ? unused : *scratch;
    const int frequencies = form().frequencies();
    const size_t pixels = tiles * static_cast<size_t>(form().pixels());
    take(s.pixels, static_cast<size_t>(frequencies * RowsStep()));
    take(s.weights, makes ? static_cast<size_t>(frequencies * WeightsStep()) : 0);
    take(s.products, static_cast<size_t>(packed().groups * frequencies * ProductStep()));
    take(s.edge, pixels * static_cast<size_t>(width()) * sizeof(int32_t));
    take(s.spare, RoundUp(outputs, static_cast<size_t>(width())) * sizeof(int32_t));
    take(s.under, static_cast<size_t>(frequencies) * sizeof(const uint8_t*));
    take(s.dst, 2 * pixels * sizeof(char*));
    return bytes;
  }
};

// A tile's image, and its first pixel there.
struct TilePlace {
  int image;
  int y;
  int x;
};

TilePlace PlaceOf(const WinogradJob& job, int tile) {
  const int each = job.cut.tiles_y * job.cut.tiles_x;
  const int within = tile % each;
  return {tile / each, within / job.cut.tiles_x * job.form().tile_height,
          within % job.cut.tiles_x * job.form().tile_width};
}

// Finds the pixels under block `block` of a tile.
void FindPixels(const WinogradJob& job, const TilePlace& at, int block, const uint8_t** under) {
  const WinogradForm& form = job.form();
  const Im2col& v = job.product.input;
  const auto* const image = static_cast<const uint8_t*>(v.data);
  const ptrdiff_t line = ptrdiff_t{v.width} * v.channels;
  for (int dy = 0; dy < form.under_height; ++dy) {
    const int y = at.y + block * form.block_down - v.pad_top + dy;
    const bool inside = y >= 0 && y < v.height;
    const uint8_t* const from = image + (ptrdiff_t{at.image} * v.height + y) * line;
    for (int dx = 0; dx < form.under_width; ++dx, ++under) {
      const int x = at.x + block * form.block_right - v.pad_left + dx;
      *under = inside && x >= 0 && x < v.width ? from + ptrdiff_t{x} * v.channels : job.outside;
    }
  }
}

// V of the tiles from `first` up to `last`. Vectors that reach beyond a block are overwritten by
// the next one.
void TransformPixels(const WinogradJob& job, int first, int last, const WinogradScratch& scratch) {
  const Im2col& v = job.product.input;
  const auto flip = static_cast<uint8_t>(v.type == Type::kUInt8 ? 0x80 : 0);
  int16_t* row = scratch.pixels;
  for (int tile = first; tile < last; ++tile, row += job.row_step / ptrdiff_t{sizeof(int16_t)}) {
    const TilePlace at = PlaceOf(job, tile);
    for (int b = 0; b < job.form().blocks; ++b) {
      FindPixels(job, at, b, scratch.under);
      job.packed()
          .routines()
          .of(job.form())
          .input(
              {scratch.under, v.channels, flip, row + ptrdiff_t{b} * v.channels, job.RowsStep()});
    }
  }
}

// Where the pixels of these tiles go, and where the results of a panel that is not full do.
void FindResults(const WinogradJob& job, int first, int last, const WinogradScratch& scratch) {
  const Im2col& v = job.product.input;
  const ptrdiff_t stride = job.product.dst_stride * job.element();
  char** dst = scratch.dst;
  const WinogradForm& form = job.form();
  char** edge = scratch.dst + job.cut.block_tiles * form.pixels();
  auto* at_edge = reinterpret_cast<char*>(scratch.edge);
  auto* const spare = reinterpret_cast<char*>(scratch.spare);
  for (int tile = first; tile < last; ++tile) {
    const TilePlace at = PlaceOf(job, tile);
    for (int i = 0; i < form.pixels(); ++i) {
      const int y = at.y + i / form.tile_width;
      const int x = at.x + i % form.tile_width;
      const ptrdiff_t pixel = (ptrdiff_t{at.image} * v.out_height + y) * v.out_width + x;
      const bool inside = y < v.out_height && x < v.out_width;
      *dst++ = inside ? static_cast<char*>(job.product.dst) + pixel * stride : spare;
      *edge++ = at_edge;
      at_edge += job.width() * job.element();
    }
  }
}

// M of panel e.
void Multiply(const WinogradJob& job, size_t e, int tiles, const WinogradScratch& scratch) {
  const PackedWinograd::Storage& packed = job.packed();
  const int vectors = packed.panels().ranges[e].vectors;
  const int lanes = packed.LanesOf(packed.panels().ranges[e]);
  const auto* const kept = static_cast<const std::byte*>(packed.weights.data());
  for (int g = 0; g < packed.groups; ++g) {
    const int first = GroupBegin(packed.channels, g, packed.groups);
    const int count = job.GroupChannels(g);
    const int16_t* weights = scratch.weights;
    ptrdiff_t step = job.WeightsStep();
    if (kept == nullptr) {
      packed.TransformWeights(e, first, count, step, scratch.weights);
    } else {
      step = PackedWinograd::Storage::WeightsStep(packed.depth(), lanes);
      weights =
          reinterpret_cast<const int16_t*>(kept + packed.weights_at[e]) + ptrdiff_t{first} * lanes;
    }
    const int frequencies = job.form().frequencies();
    int32_t* const to = scratch.products + g * frequencies * job.ProductStep() / 4;
    packed.routines().multiply({scratch.pixels + first, job.row_step, job.RowsStep(), weights, step,
                                frequencies, vectors,
                                DivideUp(tiles, kWinogradTiles) * kWinogradTiles,
                                count * job.form().blocks, to, job.ProductStep()});
  }
}

// Copies results of a panel that is not full to where they belong.
void CopyEdge(const WinogradJob& job, const PanelRange& panel, int tiles,
              const WinogradScratch& scratch) {
  const auto bytes = static_cast<size_t>(panel.channels * job.element());
  const std::byte* from = scratch.edge;
  for (int i = 0; i < tiles * job.form().pixels(); ++i) {
    std::memcpy(scratch.dst[i] + panel.first_channel * job.element(), from, bytes);
    from += job.width() * job.element();
  }
}

void RunTask(const WinogradJob& job, int task, const WinogradScratch& scratch) {
  const PackedWinograd::Storage& packed = job.packed();
  const WinogradCut& cut = job.cut;
  const int first = cut.Begin(task / cut.panel_parts);
  const int last = cut.Begin(task / cut.panel_parts + 1);
  if (first == last) return;
  TransformPixels(job, first, last, scratch);
  FindResults(job, first, last, scratch);
  const size_t panels = packed.panels().ranges.size();
  const auto parts = static_cast<size_t>(cut.panel_parts);
  const size_t part = static_cast<size_t>(task) % parts;
  for (size_t e = panels * part / parts; e < panels * (part + 1) / parts; ++e) {
    const PanelRange& panel = packed.panels().ranges[e];
    Multiply(job, e, last - first, scratch);
    const bool full = panel.channels == panel.vectors * packed.routines().panel.lanes;
    char** const edge = scratch.dst + cut.block_tiles * job.form().pixels();
    const PanelForm* const params = ParamsAt(job.product.params, e, job.params_bytes);
    WinogradFinishArgs args{scratch.products,
                            job.ProductStep(),
                            job.form().frequencies() * job.ProductStep(),
                            packed.groups,
                            panel.vectors,
                            last - first,
                            params,
                            job.product.epilogue,
                            full ? scratch.dst : edge,
                            full ? panel.first_channel * job.element() : 0};
    if (HoldsZeroPoint(*params)) args.epilogue.zero_point = 0;
    packed.routines().of(job.form()).finish(args);
    if (!full) CopyEdge(job, panel, last - first, scratch);
  }
}

// Threads that are worth their waking, as those of a depthwise convolution; here a multiplication
// takes some 13 picoseconds.
int MostWorkers(const WinogradCut& cut, const PackedWinograd::Storage& packed) {
  constexpr int64_t kLeastOfThread = 1 << 16;  // multiplications
  const int64_t each =
      int64_t{packed.form->frequencies()} * packed.depth() * packed.panels().channels;
  return static_cast<int>(std::clamp<int64_t>(cut.tiles * each / kLeastOfThread, 1, 1024));
}

// Blocks of tiles whose V has a part of L2: from 24 to 48 squares take the same time within 3 %
// (Zen 4), and an image of 17 x 17 is 51 lines. Threads that there are no blocks for share the
// panels.
WinogradCut Cut(const WinogradProduct& product, int threads) {
  const Im2col& v = product.input;
  const PackedWinograd::Storage& packed = product.packed;
  constexpr int kFew = 8;
  const WinogradForm& form = *packed.form;
  const int many = form.arithmetic == WinogradArithmetic::kSquare4x3 ? 48 : 64;
  WinogradCut cut{};
  cut.tiles_y = DivideUp(v.out_height, form.tile_height);
  cut.tiles_x = DivideUp(v.out_width, form.tile_width);
  cut.tiles = v.batch * cut.tiles_y * cut.tiles_x;
  threads = std::min(threads, MostWorkers(cut, packed));
  const auto tile_bytes =
      sizeof(int16_t) * static_cast<size_t>(form.frequencies() * packed.depth());
  const int fitting = std::clamp(static_cast<int>(Cpu().l2_bytes / 2 / tile_bytes), kFew, many);
  const int most = product.most_tiles > 0 ? std::min(product.most_tiles, cut.tiles) : fitting;
  cut.blocks = DivideUp(cut.tiles, most);
  cut.panel_parts = 1;
  if (threads > 1) {
    const int shared = DivideUp(cut.blocks, threads) * threads;
    if (cut.tiles / shared >= kFew) cut.blocks = shared;
    const auto panels = static_cast<int>(packed.panels().ranges.size());
    cut.panel_parts = std::min(panels, DivideUp(threads, cut.blocks));
  }
  const int rows = DivideUp(cut.tiles, kWinogradTiles);
  cut.block_tiles = DivideUp(rows, cut.blocks) * kWinogradTiles;
  cut.workers = std::min(threads, cut.tasks());
  return cut;
}

Status NoScratch() { return OutOfMemory("no memory for the scratch of a Winograd convolution"); }

}  // namespace

Status CheckWinograd(const WinogradProduct& product) {
  const Im2col& v = product.input;
  INTAGLIO_RETURN_IF_ERROR(Validate(v));
  const WinogradForm& form = *product.packed.form;
  const bool fits = v.kernel_height == form.kernel_height && v.kernel_width == form.kernel_width &&
                    v.stride_height == 1 && v.stride_width == 1 && v.dilation_height == 1 &&
                    v.dilation_width == 1;
  if (!fits || v.first_channel != 0 || v.group_channels != v.channels ||
      v.channels != product.packed.channels) {
    return InvalidArgument("Winograd: the view is not one of " +
                           ExtentsText(form.kernel_height, form.kernel_width) + " windows of " +
                           std::to_string(product.packed.channels) + " channels, stride 1");
  }
  const int outputs = product.packed.panels().channels;
  const int rows = Rows(v);
  constexpr ptrdiff_t kMostDst = std::numeric_limits<ptrdiff_t>::max() / ptrdiff_t{sizeof(int32_t)};
  if (product.dst_stride < outputs || product.dst_stride > kMostDst / std::max(1, rows)) {
    return InvalidArgument("Winograd: " + std::to_string(rows) + " pixels of " +
                           std::to_string(outputs) + " channels with the stride " +
                           std::to_string(product.dst_stride));
  }
  if (product.most_tiles < 0) {
    return InvalidArgument("Winograd: " + std::to_string(product.most_tiles) + " tiles at once");
  }
  if (rows == 0) return {};
  if (product.dst == nullptr) return InvalidArgument("Winograd: null dst");
  const size_t elements = static_cast<size_t>(rows - 1) * static_cast<size_t>(product.dst_stride) +
                          static_cast<size_t>(outputs);
  if (Overlap(v.data, ImageBytes(v), product.dst, elements * SizeOf(product.epilogue.output))) {
    return InvalidArgument("Winograd: dst overlaps the input");
  }
  return {};
}

Status ExecuteWinograd(Context& context, const WinogradProduct& product) {
  const Im2col& v = product.input;
  if (Rows(v) == 0) return {};
  const DefaultFloatEnvironment environment;
  const auto outside_bytes = static_cast<size_t>(v.channels);
  auto* const outside = static_cast<uint8_t*>(context.Scratch(0, outside_bytes));
  if (outside == nullptr) return NoScratch();
  std::memset(outside, static_cast<uint8_t>(v.zero_point), outside_bytes);
  const auto channels = static_cast<size_t>(v.channels);
  const size_t last = RoundUp(channels, kWinogradChannels);  // what is written of the last block
  const size_t others = static_cast<size_t>(product.packed.form->blocks - 1) * channels;
  const auto row_step =
      static_cast<ptrdiff_t>(RoundUp(others + last, kWinogradChannels) * sizeof(int16_t));
  const WinogradJob job{product, Cut(product, context.threads()), outside, row_step,
                        ParamsBytes(product.packed.routines().panel.width())};
  const size_t bytes = job.Carve(nullptr, nullptr);
  for (int w = 0; w < job.cut.workers; ++w) {
    if (context.Scratch(w + 1, bytes) == nullptr) return NoScratch();
  }
  TaskParts parts(job.cut.tasks(), job.cut.workers);
  const auto work = [&](int worker) {
    WinogradScratch scratch;
    job.Carve(static_cast<std::byte*>(context.Scratch(worker + 1, 0)), &scratch);
    parts.Run(worker, [&](int task) { RunTask(job, task, scratch); });
  };
  context.Run(job.cut.workers, std::ref(work));  // by reference: a copy would be allocated
  return {};
}

}  // namespace intaglio
