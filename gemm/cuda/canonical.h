// A call, checked and brought into the one form that the device's kernels compute.
#ifndef INTAGLIO_GEMM_CUDA_CANONICAL_H_
#define INTAGLIO_GEMM_CUDA_CANONICAL_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/gemm/cuda/gemm.h"

namespace intaglio::cuda {

// A call in canonical form (kernels/cuda/product.h): dst[row][channel], operands with their vectors
// as rows.
struct Canonical {
  ConstMatrix rows;                        // row_count x depth
  ConstMatrix channels;                    // channel_count x depth, where not packed
  const PackedChannels* packed = nullptr;  // else
  bool from_image = false;                 // the rows are those of `image`
  Im2col image;
  MutableMatrix dst;                  // row_count x channel_count
  Axis channels_along = Axis::kCols;  // of the caller's result
  int batch = 1;
  ptrdiff_t row_batch = 0;  // elements
  ptrdiff_t channel_batch = 0;
  ptrdiff_t dst_batch = 0;

  int row_count() const { return rows.rows; }
  int depth() const { return rows.cols; }
  int channel_count() const { return dst.cols; }
};

// A standard pipeline as far as it can be checked without its arrays, which are on the device;
// single multipliers are checked.
Status CheckPipeline(const StandardPipeline& pipeline);

// Checks a call and brings it into canonical form. `standard` may be null; it helps to choose the
// side whose vectors are the channels where neither is packed.
Result<Canonical> Canonicalize(const Operand& lhs, const Operand& rhs, const MutableMatrix& dst,
                               const StandardPipeline* standard, const Batch& batch);

// The zero point of the channels that are not packed, as they are stored.
int32_t StoredZeroPoint(const ConstMatrix& channels);

}  // namespace intaglio::cuda

#endif  // INTAGLIO_GEMM_CUDA_CANONICAL_H_
