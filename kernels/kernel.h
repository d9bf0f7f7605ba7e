// A micro-kernel's row in the kernel table. tile_args.h is its contract.
//
// The words of this room; pack/panels.h has those of packed data:
//   kernel        what one instruction set multiplies by: functions, and the formats they read
//   row           of the table: a kernel with its name and what it needs; else a row of a product
//   tile          the accumulators that are in registers at once: max_rows rows by one panel
//   operand       what one multiply instruction takes: a group of one vector of channels, or of a
//                 row in every lane
//   V             a kernel vocabulary: a register vocabulary with loads, Dot and stores
//   params        what a panel's channels are finished by, in the order of lanes (epilogue.h)
//   epilogue      to scale accumulators, add the zero point, clamp, narrow and store
//   form          which arithmetic scales a panel (ScalingForm)
//   scaled        a form's constants in registers: what it makes of params
//   store         the constants with which rows are narrowed and written (ByteStore)
//   window        a row that overlaps its neighbours in memory (WindowRows)
//   taps          the vocabulary of depthwise convolutions, and the weights it multiplies
//   column        the input under one column of filters, of all their kernel rows
//   band          neighbouring lines of a depthwise convolution's output
//   line          elsewhere: a run of adjacent bytes, which element-wise routines take
//   lookup        a function of bytes as a table of 256
//   frequency     one of the 36 numbers of a transformed tile of pixels (winograd_args.h)
//   edge          a panel of fewer channels than its width, or rows fewer than a tile's
#ifndef INTAGLIO_KERNELS_KERNEL_H_
#define INTAGLIO_KERNELS_KERNEL_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/kernels/cpu_feature.h"
#include "intaglio/kernels/elementwise/line_args.h"
#include "intaglio/kernels/elementwise/lookup_args.h"
#include "intaglio/kernels/tile/tile_args.h"
#include "intaglio/pack/panels.h"
#include "intaglio/pack/rows.h"

namespace intaglio {

struct DepthwiseArgs;     // kernels/depthwise/depthwise_args.h
struct WinogradRoutines;  // kernels/winograd/winograd_args.h

// The size of a product, as what it takes depends on.
struct ProductSize {
  int64_t rows;
  int channels;
  int groups;           // of depth
  bool packed = false;  // rows are packed in each call; false, too, where they are not known yet
  bool multiplies_are_scarce = false;  // CpuInfo
};

// What a kernel's products cost, as far as their cut into tasks depends on it (gemm/run/tasks.h).
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
  // Fills in what every row adds to all of its accumulators, its row_term included, where kernels
  // multiply by way of such terms (TileArgs::own_terms).
  void (*own_terms)(const TileArgs& args, int32_t* terms) = nullptr;
  // Which operands it serves, if not all; multiplies_once is CpuInfo's. Such a row stands in the
  // table in front of the row that serves the others (CandidatesOf). Either it packs panels of its
  // own for such constant operands, or it multiplies the panels of that row, by rows of such a type
  // in products of such a size.
  bool (*serves_constant)(const ConstMatrix& channels, bool multiplies_once) = nullptr;
  bool (*serves_product)(Type rows, const ProductSize& size) = nullptr;
  // Says of a row that it packs panels for products whose results are int32 as they are. They serve
  // all other products too, more slowly. Whether that pays for products of this size. It stands in
  // the table as the rows above.
  bool (*serves_words)(const ProductSize& size) = nullptr;
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
  // 3x3 convolutions by Winograd's algorithm, of rows that serve all operands; or null.
  const WinogradRoutines* winograd = nullptr;
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
  bool slides_columns = false;       // of depthwise filters, if SlidesColumns (depthwise_args.h)
  bool folds_pixels = false;         // takes panels of several, if FoldsPixels
  void (*depthwise)(const DepthwiseArgs&) = nullptr;  // of rows that serve all operands
};

inline bool ServesAll(const KernelFacts& kernel) {
  return kernel.serves_constant == nullptr && kernel.serves_product == nullptr &&
         kernel.serves_words == nullptr;
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
