// The contract of a micro-kernel, and its row in the kernel table.
//
//                 one panel (width = lanes * vectors channels, all depth)
//                +--------------------------------------------+
//                | group 0 | group 1 | ...                    |   read in order, once per tile
//                +--------------------------------------------+
//   row 0        +--------------------------------------------+      dst: row 0  [width elements]
//   ...          |  row_count rows, contiguous along depth    |  ->       ...
//   row r-1      +--------------------------------------------+           row r-1
//
// A kernel computes row_count x width accumulators over the whole depth and finishes them by the
// epilogue, tile by tile. It always writes whole panel widths: the caller owns edges, and gives a
// scratch dst where there are fewer channels. It knows nothing of threads, cache blocks or
// matrices.
#ifndef INTAGLIO_KERNELS_KERNEL_H_
#define INTAGLIO_KERNELS_KERNEL_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/kernels/cpu_feature.h"
#include "intaglio/kernels/epilogue.h"
#include "intaglio/kernels/line_args.h"
#include "intaglio/kernels/lookup_args.h"
#include "intaglio/pack/panels.h"
#include "intaglio/pack/rows.h"

namespace intaglio {

// How rows lie that overlap, as a convolution's do in the lines of its image (pack/windows.h): each
// is `lines` runs of TileArgs::groups depth groups.
struct WindowRows {
  const int32_t* begin = nullptr;  // per row: bytes from TileArgs::rows; null for plain rows
  int lines = 1;
  ptrdiff_t line_step = 0;  // bytes from one run of a row to the next
};

struct TileArgs {
  const int8_t* panel;
  int vectors;  // of the panel
  // Panels of as many vectors that lie one behind the other, as their params do; their results lie
  // side by side. More than one where the kernel takes_panels, or takes_panels_of_row and there is
  // one row.
  int panel_count = 1;
  bool panel_has_lowest;     // it may hold -128
  const void* rows;          // in the kernel's row format
  ptrdiff_t row_stride;      // bytes
  WindowRows windows = {};   // in place of row_stride, where the kernel takes_windows: of at least
                             // max_rows rows, finished to bytes by a form that IsBounded
  int row_count;             // at least 1
  int groups;                // of depth; of windows, of one line
  bool fetch_ahead = false;  // the panel, and what lies behind it, is read from beyond L2
  bool fetch_rows = false;   // so are the rows
  // What the panel side's zero points ask of each row, where there are any: its sum, which
  // negative_zero_point multiplies, or where that is one for all channels their product.
  const int32_t* row_sums = nullptr;
  const int32_t* row_terms = nullptr;
  const PanelForm* params;  // of the panels' width (ParamsIn), one behind the other
  EpilogueParams epilogue;
  void* dst;
  ptrdiff_t dst_stride;  // bytes between rows
  // Memory of twice the panel's bytes, 64-byte aligned, for kernels that widen their operands to
  // keep the panel's in from tile to tile. May be null.
  void* operands = nullptr;
};

// Leaves out the first `count` panels of a call, of these parameters, which have so many lanes and
// depths in a group.
template <class Params>
void SkipPanels(TileArgs& args, int count, int lanes, int depth_step) {
  const ptrdiff_t channels = ptrdiff_t{count} * args.vectors * lanes;
  args.params = static_cast<const Params*>(args.params) + count;
  args.panel += channels * args.groups * depth_step;
  args.dst = static_cast<char*>(args.dst) +
             channels * static_cast<ptrdiff_t>(SizeOf(args.epilogue.output));
}

struct DepthwiseArgs;  // kernels/depthwise_args.h

// The size of a product, as what it takes depends on.
struct ProductSize {
  int64_t rows;
  int channels;
  int groups;           // of depth
  bool packed = false;  // rows are packed in each call; false, too, where they are not known yet
};

// What a kernel's products cost, as far as their cut into tasks depends on it (gemm/tasks.h).
struct ProductCosts {
  // An instruction multiplies a vector of channels by so many rows and groups of depth.
  uint8_t rows_at_once = 1;
  uint8_t groups_at_once = 1;
  uint8_t results_per_cycle = 1;  // that are finished
  // Tasks of rows that are no multiple of this leave part of a tile over, which takes as long as
  // all of it. 0: max_rows.
  uint8_t row_step = 0;
  // Products by panels from beyond L2 take less time than the panels: tasks of the same panels come
  // one after the other; and panels that fit L2, but are not in it, are asked for ahead.
  bool keeps_panels = false;
  bool fetches_cold_panels = false;
};

// What a kernel's file states. MakeKernel (make_kernel.h) makes a row of the table of it.
struct KernelFacts {
  const char* name;  // also what INTAGLIO_ISA accepts
  uint32_t needs;    // CpuFeature bits
  RowFormat row_format;
  bool takes_panels = false;  // TileArgs::panel_count may be more than one
  ProductCosts costs = {};
  // Its own, where that is not Tile (tile.h) of its vocabulary.
  void (*tile)(const TileArgs&) = nullptr;
  // Around calls of `tile` with as many rows and groups, where registers are set up for these
  // (TileRun below): `begin` again for others, `end` once. Null where they are not.
  void (*begin)(int row_count, int groups) = nullptr;
  void (*end)() = nullptr;
  // Which operands it serves, if not all: it stands in the table in front of the row that serves
  // the others (CandidatesOf). Either it packs panels of its own for such constant operands, or it
  // multiplies the panels of that row, by rows of such a type in products of such a size.
  bool (*serves_constant)(const ConstMatrix& channels) = nullptr;
  bool (*serves_product)(Type rows, const ProductSize& size) = nullptr;
  PanelRoutines pack = {};
  // As PackRows and SumRows of pack/rows.h.
  void (*pack_rows)(const RowSource& source, RowFormat format, int first, int count,
                    int padded_depth, void* packed) = PackRows;
  void (*sum_rows)(RowFormat format, const void* rows, ptrdiff_t stride_bytes, int count, int depth,
                   int32_t* sums) = SumRows;
  // Element-wise functions and tables; the scalar kernel's serve where there are none.
  const LineRoutines* lines = nullptr;
  const LookupRoutines* lookups = nullptr;
  uint32_t lookups_need = 0;  // CpuFeature bits, beside `needs`
};

// A row of the kernel table: what its file states, and what follows from its vocabulary.
struct Kernel : KernelFacts {
  PanelFormat panel = {};            // of the widest panels
  int max_rows = 1;                  // of one tile: more rows are taken tile by tile
  int tap_step = 0;                  // kernel rows that a depthwise convolution multiplies at once
  bool takes_panels_of_row = false;  // TileArgs::panel_count may be more than one for a single row
  bool takes_windows = false;        // TileArgs::windows may be given
  bool stores_in_order = false;      // writes all of a row before any of the next
  bool has_fma = false;              // FusedMulAdd is one instruction, so that fitted scalings pay
  bool takes_multiply_add = false;   // panels may have ScalingForm::kMultiplyAdd
  // Meets columns of depthwise filters in registers where it can, and takes panels of several
  // pixels (kernels/depthwise_args.h).
  bool slides_columns = false;
  void (*depthwise)(const DepthwiseArgs&) = nullptr;  // of rows that serve all operands
};

inline bool ServesAll(const KernelFacts& kernel) {
  return kernel.serves_constant == nullptr && kernel.serves_product == nullptr;
}

// Calls of a kernel's `tile` with as many groups, with registers set up where the kernel asks for
// it. From `Tile` to `End` its thread runs no code of the user's, which may want the registers.
class TileRun {
 public:
  explicit TileRun(const Kernel& kernel) : kernel_(kernel) {}
  ~TileRun() { End(); }
  TileRun(const TileRun&) = delete;
  TileRun& operator=(const TileRun&) = delete;

  void Tile(const TileArgs& args) {
    if (kernel_.begin != nullptr && args.row_count != rows_) {
      rows_ = args.row_count;
      kernel_.begin(rows_, args.groups);
    }
    kernel_.tile(args);
  }
  void End() {
    if (rows_ != 0) kernel_.end();
    rows_ = 0;
  }

 private:
  const Kernel& kernel_;
  int rows_ = 0;  // that registers are set up for
};

// Whether depthwise convolutions take int8 taps; else uint8 ones.
constexpr bool TakesSignedTaps(const Kernel& kernel) {
  return kernel.row_format == RowFormat::kSigned8 || kernel.row_format == RowFormat::kSigned8By8;
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_KERNEL_H_
