// One product in canonical form: plain numbers and pointers, below which nothing is templated on
// the matrix types.
//
// The *panel side* is packed into panels and its vectors are the channels of the result; the *row
// side* is read row by row. Either operand can be either side: lhs x rhs with the right-hand side
// in panels is computed as it stands, with the left-hand side in panels as its transpose.
#ifndef INTAGLIO_GEMM_PLAN_PRODUCT_H_
#define INTAGLIO_GEMM_PLAN_PRODUCT_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/gemm/bound_pipeline.h"
#include "intaglio/gemm/machine/cpu.h"
#include "intaglio/gemm/plan/panel_params.h"
#include "intaglio/kernels/kernel.h"
#include "intaglio/kernels/params_list.h"
#include "intaglio/pack/packed_matrix.h"
#include "intaglio/pack/panels.h"
#include "intaglio/pack/rows.h"
#include "intaglio/pipeline/tile.h"

namespace intaglio {

struct Product {
  const Kernel* kernel = nullptr;
  const Panels* panels = nullptr;
  RowSource rows = RowSource::From(ConstMatrix{});

  // Element (row r, channel c) of the result is dst[r * row_stride + c * channel_stride].
  std::byte* dst = nullptr;
  Type dst_type = Type::kInt8;
  ptrdiff_t row_stride = 0;  // elements
  ptrdiff_t channel_stride = 0;
  Axis channels_along = Axis::kCols;  // of the caller's result

  // The standard pipeline, where the kernel can run it in registers; else null, and `tile` is run.
  const StandardPipeline* standard = nullptr;
  TilePipeline tile{};
  EpilogueParams epilogue;            // of `standard`
  const PanelForm* params = nullptr;  // per panel, where they were made before the call
  size_t params_bytes = 0;            // of one panel
  bool weights_from_memory = false;   // BindOptions
  bool keep_rows_per_thread = false;  // the same
  Cutting cutting = {};               // the same
  bool tiles_take_windows = false;    // the kernel, with all of `params` (TileArgs::windows)

  void Take(const Panels& taken) {
    panels = &taken;
    params_bytes = ParamsBytes(taken.format.width());
  }
  // Where the result goes, panels being made of `panel_side`.
  void WriteTo(const MutableMatrix& result, Side panel_side) {
    // As the transposed problem sees it, where the panels are on the left.
    const MutableMatrix view = panel_side == Side::kRhs ? result : Transposed(result);
    const bool row_major = view.order == Order::kRowMajor;
    dst = static_cast<std::byte*>(view.data);
    dst_type = view.type;
    channels_along = panel_side == Side::kRhs ? Axis::kCols : Axis::kRows;
    row_stride = row_major ? view.stride : 1;
    // A single channel is contiguous in any order.
    channel_stride = row_major || view.cols == 1 ? 1 : view.stride;
  }
  int row_count() const { return rows.rows(); }
  int channel_count() const { return panels->channels; }
  int depth() const { return panels->depth; }
  int padded_depth() const { return panels->groups * panels->format.depth_step; }
  ProductSize size() const {
    return {row_count(), channel_count(), panels->groups,
            rows.is_im2col || rows.matrix.order != Order::kRowMajor || depth() != padded_depth(),
            Cpu().multiplies_are_scarce};
  }
  RowFacts row_facts() const { return {rows.ZeroPoint(kernel->row_format), rows.Magnitude()}; }
};

// A product, whose panels are the context's own where neither side was packed before.
struct PreparedProduct {
  Product product;
  Side side = Side::kRhs;  // the one in panels
  bool packed_for_call = false;
};

// How a result is finished. Every pipeline can be run over tiles.
struct Finish {
  TilePipeline tile;
  const StandardPipeline* standard = nullptr;     // where it is one
  const BoundPipeline::Storage* bound = nullptr;  // and was bound before
};

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_PLAN_PRODUCT_H_
