// Inside the quantizer: the numbers that linear layers multiply by weights.
#ifndef INTAGLIO_NN_QUANTIZE_PRODUCT_ROWS_H_
#define INTAGLIO_NN_QUANTIZE_PRODUCT_ROWS_H_

#include <cstddef>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/layer_view.h"
#include "intaglio/nn/ops/support/window.h"

namespace intaglio::nn::quantize {

// Element o of a layer's output at one place is the product of `taps` weights and the row of its
// group at this place. A place is a pixel of the output, or a row of FULLY_CONNECTED. Groups are
// those of a convolution; a depthwise one has a group for each channel of its input.
class ProductRows {
 public:
  // Unsupported for transposed convolutions, whose places differ in their taps.
  static Result<ProductRows> Make(const LayerView& layer);

  size_t taps() const { return taps_; }
  size_t groups() const { return groups_; }
  size_t outputs() const { return outputs_; }
  size_t places() const { return places_; }

  size_t GroupOf(size_t output) const { return output / (outputs_ / groups_); }
  // The place of a weight in the constant.
  size_t WeightOf(size_t output, size_t tap) const {
    return depthwise_ ? tap * outputs_ + output : output * taps_ + tap;
  }
  // Writes a row. `input` holds the elements of the layer's input.
  void Read(const float* input, size_t place, size_t group, double* row) const;

 private:
  static Result<ProductRows> MakeDense(const LayerView& layer);
  static Result<ProductRows> MakeWindows(const LayerView& layer);
  void SetCounts(size_t channels, size_t group_channels, size_t images);

  Window window_;
  size_t channels_ = 0;        // of the input
  size_t group_channels_ = 0;  // that one row reads
  size_t taps_ = 0;
  size_t groups_ = 1;
  size_t outputs_ = 0;
  size_t places_ = 0;
  bool depthwise_ = false;
};

}  // namespace intaglio::nn::quantize

#endif  // INTAGLIO_NN_QUANTIZE_PRODUCT_ROWS_H_
