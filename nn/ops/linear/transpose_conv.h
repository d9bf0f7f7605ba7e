// What the routines of TRANSPOSE_CONV share: every input pixel adds its products with all taps of
// all filters to the output, stride apart. The products of a row of pixels are one matrix product,
// whose results are then added where they belong.
#ifndef INTAGLIO_NN_OPS_LINEAR_TRANSPOSE_CONV_H_
#define INTAGLIO_NN_OPS_LINEAR_TRANSPOSE_CONV_H_

#include <cstddef>
#include <vector>

#include "intaglio/gemm/gemm.h"
#include "intaglio/nn/routine/packed_once.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

// One dimension: input i adds to the outputs i * stride - pad + tap that exist.
struct ScatterAxis {
  int in = 0;
  int kernel = 1;
  int stride = 1;
  int pad = 0;
  int out = 0;
};

struct Scatter {
  int batch = 0;
  int depth = 0;     // channels of the input
  int channels = 0;  // of the output
  ScatterAxis y;
  ScatterAxis x;

  int columns() const { return y.kernel * x.kernel * channels; }  // of a row's products
  ptrdiff_t row_products() const { return ptrdiff_t{x.in} * columns(); }
  ptrdiff_t image() const { return ptrdiff_t{y.out} * x.out * channels; }  // output elements
  ptrdiff_t row_inputs() const { return ptrdiff_t{x.in} * depth; }

  // Adds `factor` times the products of an input row, [x.in, kernel height, kernel width,
  // channels], to the sums of its output image.
  template <class Product, class Sum>
  void AddRow(const Product* products, int row, Sum factor, Sum* sums) const {
    for (int i = 0; i < x.in; ++i) {
      for (int ky = 0; ky < y.kernel; ++ky) {
        const int out_y = row * y.stride - y.pad + ky;
        for (int kx = 0; kx < x.kernel; ++kx, products += channels) {
          const int out_x = i * x.stride - x.pad + kx;
          if (out_y < 0 || out_y >= y.out || out_x < 0 || out_x >= x.out) continue;
          Sum* const to = sums + (ptrdiff_t{out_y} * x.out + out_x) * channels;
          for (int c = 0; c < channels; ++c) to[c] += factor * static_cast<Sum>(products[c]);
        }
      }
    }
  }
};

// Checks the shapes and that columns() fits int. Errors name the layer.
Result<Scatter> ScatterOf(const LayerView& layer);

// The constant filters [O, KH, KW, I] as [KH, KW, O, I], columns() rows of `depth` elements.
std::vector<std::byte> FiltersByTap(const LayerView& layer);

// The same as the right-hand side of the products of a row.
Result<PackedOf<PackedMatrix>> PackByTap(const LayerView& layer, const LayerOptions& options,
                                         int32_t zero_point);

// int16 inputs, int8 weights.
Result<PreparedLayer> PrepareTransposeConv16x8(const LayerView& layer, const LayerOptions& options,
                                               const Scatter& scatter);
// float32.
Result<PreparedLayer> PrepareTransposeConvFloat(const LayerView& layer, const LayerOptions& options,
                                                const Scatter& scatter);
// float32, where no two input pixels add to one output, and every output has one.
const char* WhyNotTiles(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareTransposeConvTiles(const LayerView& layer, const LayerOptions& options,
                                                const Scatter& scatter);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_LINEAR_TRANSPOSE_CONV_H_
