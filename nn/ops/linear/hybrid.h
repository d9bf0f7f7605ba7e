// float32 inputs quantized to int8 on the fly, for products with int8 weights: each item of the
// batch gets a scale of its own, and where it is asymmetric a zero point.
#ifndef INTAGLIO_NN_OPS_LINEAR_HYBRID_H_
#define INTAGLIO_NN_OPS_LINEAR_HYBRID_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "intaglio/gemm/context.h"
#include "intaglio/gemm/float_loops.h"
#include "intaglio/nn/ops/linear/float_panels.h"
#include "intaglio/nn/ops/linear/linear.h"
#include "intaglio/nn/routine/routine.h"
#include "intaglio/pipeline/tile.h"

namespace intaglio::nn {

// A checked layer of float32 inputs and outputs and symmetric int8 weights.
struct HybridLayer {
  LinearLayer linear;                // the weights' part
  std::vector<float> weight_scales;  // one per channel
  FloatFinish finish;
  bool asymmetric = false;      // of the inputs
  bool scales_in_turn = false;  // LinesToReal::in_turn
  const FloatLoops* floats = nullptr;
};
Result<HybridLayer> CheckHybrid(const LayerView& layer, const LayerOptions& options,
                                Activation activation, int axis, int channels, int64_t depth,
                                bool asymmetric);

// Scratch of a run.
struct QuantizedItems {
  int8_t* values = nullptr;
  float* scales = nullptr;         // one per item
  int32_t* zero_points = nullptr;  // the same
};
// The bytes that `items` times `size` elements take, or an error if there are too many.
Result<size_t> QuantizedItemsBytes(const LayerView& layer, int64_t items, int64_t size);
QuantizedItems QuantizeItems(Context& context, const FloatLoops& floats, const float* x,
                             int64_t items, int64_t size, bool asymmetric, void* scratch);
// Input 0, at the beginning of the scratch, where a layer before may have put it
// (PreparedLayer::shared_scratch_key, which tells how).
QuantizedItems QuantizeInput(const RunArguments& arguments, const FloatLoops& floats, int64_t items,
                             int64_t size, bool asymmetric);
int64_t QuantizedInputForm(int64_t items, bool asymmetric);
void QuantizeItems(Context& context, const FloatLoops& floats, const float* x, int64_t items,
                   int64_t size, bool asymmetric, const QuantizedItems& to);

// Appends the sum of each column of int8 weights [depth, channels]. Packing the weights has
// computed these sums.
void AppendSums(const PackedMatrix& weights, std::vector<int32_t>& sums);

// A pipeline that gives back real numbers: finish((acc - correction) scale weight_scale), in the
// order of operations that the layer has. Row r of the product belongs to item r / rows_per_item,
// whose scale is scales[r / rows_per_item].
struct ToReal {
  const HybridLayer& layer;
  const float* scales;
  // The product has left out the zero point times the sum of a channel's weights. Both are null if
  // it has left out nothing.
  const int32_t* zero_points;
  const int32_t* weight_sums;
  int rows_per_item;
  int first_channel;

  TilePipeline pipeline() const { return {this, Run, Type::kFloat32}; }
  static void Run(const void* self, const AccumulatorTile& tile);

  // The tile of a product, whose lines run along the channels.
  void Run(const AccumulatorTile& tile) const;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_LINEAR_HYBRID_H_
