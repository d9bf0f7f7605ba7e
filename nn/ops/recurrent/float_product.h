// Products of rows of float32 and constant weights: float32 ones, or int8 ones for which the rows
// are quantized on the way, as TFLite's hybrid kernels do.
#ifndef INTAGLIO_NN_OPS_RECURRENT_FLOAT_PRODUCT_H_
#define INTAGLIO_NN_OPS_RECURRENT_FLOAT_PRODUCT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "intaglio/gemm/float_loops.h"
#include "intaglio/gemm/gemm.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

// y += W x for every row x. Immutable.
class FloatProduct {
 public:
  // The weights are inputs [outputs, depth] of the layer, stacked; their shapes have been checked.
  // All are float32, or all int8 with one scale each and zero point 0.
  static Result<FloatProduct> Make(const LayerView& layer, const std::vector<size_t>& inputs,
                                   bool asymmetric, const LayerOptions& options);

  size_t ScratchBytes(int rows) const;

  // x: dense [rows, depth]. y: [rows, outputs], its rows `stride` elements apart.
  Status AddTo(Context& context, const float* x, int rows, float* y, ptrdiff_t stride,
               std::byte* scratch) const;

  int depth() const { return depth_; }
  int outputs() const { return outputs_; }
  size_t constant_bytes() const { return new_bytes_; }  // not packed by an earlier layer
  bool quantized() const { return packed_.has_value(); }
  const FloatLoops& floats() const { return *floats_; }

 private:
  struct Quantized;
  Quantized Divide(std::byte* scratch, int rows) const;

  int depth_ = 0;
  int outputs_ = 0;
  bool asymmetric_ = false;
  const FloatLoops* floats_ = nullptr;
  std::vector<const float*> rows_;  // of float32 weights, one per output
  std::optional<PackedMatrix> packed_;
  size_t new_bytes_ = 0;
  std::vector<float> scales_;  // of int8 weights, one per output
  std::vector<int32_t> sums_;  // of the weights of each output
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_RECURRENT_FLOAT_PRODUCT_H_
