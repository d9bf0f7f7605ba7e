// The constant side of a product, packed once for the kernel that will read it.
#ifndef INTAGLIO_PACK_PACKED_MATRIX_H_
#define INTAGLIO_PACK_PACKED_MATRIX_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/pack/matrix.h"

namespace intaglio {

struct PanelFormat;
struct PanelRoutines;
struct Panels;  // pack/panels.h

enum class Side : uint8_t { kLhs, kRhs };

// Immutable after packing. Copies share the storage, so that models, contexts and threads can use
// one packed matrix at once. gemm/gemm.h's Prepack makes one for the kernel that this machine will
// use.
class PackedMatrix {
 public:
  // Packs an int8 or uint8 matrix, of any order and stride, that will stand on `side` of products.
  // `channel_zero_points` replaces the matrix's own: one per row of a left-hand matrix, one per
  // column of a right-hand one; empty: the matrix's zero_point for all. `routines` only make it
  // faster.
  static Result<PackedMatrix> Pack(Side side, const ConstMatrix& matrix, const PanelFormat& format,
                                   std::span<const int32_t> channel_zero_points,
                                   const PanelRoutines& routines);

  // Packs the filters of a convolution, an int8 right-hand matrix without zero points whose columns
  // are contiguous, with each of `runs` kernel rows padded to whole depth groups (Panels::runs).
  static Result<PackedMatrix> PackRuns(const ConstMatrix& matrix, int runs,
                                       const PanelFormat& format, const PanelRoutines& routines);

  // For the engine: panels that are ready.
  PackedMatrix(Side side, std::shared_ptr<const Panels> panels);

  Side side() const { return side_; }
  int rows() const { return rows_; }
  int cols() const { return cols_; }
  size_t bytes() const;  // held: panels, sums and zero points
  const Panels& panels() const { return *panels_; }
  const std::shared_ptr<const Panels>& shared_panels() const { return panels_; }

 private:
  Side side_;
  int rows_;
  int cols_;
  std::shared_ptr<const Panels> panels_;
};

}  // namespace intaglio

#endif  // INTAGLIO_PACK_PACKED_MATRIX_H_
