// Convolutions of stride 1 by Winograd's algorithm: a quarter of the multiplications for 3x3
// filters, .4 to .5 of them for those of lines of 3, 5 and 7 taps, and the same bits as the product
// of windows by filters (docs/numerics.md).
#ifndef INTAGLIO_GEMM_WINOGRAD_H_
#define INTAGLIO_GEMM_WINOGRAD_H_

#include <cstddef>
#include <memory>
#include <string>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/gemm/bound_pipeline.h"
#include "intaglio/gemm/context.h"
#include "intaglio/gemm/prepack.h"
#include "intaglio/gemm/winograd_weights.h"
#include "intaglio/pack/im2col.h"
#include "intaglio/pack/matrix.h"

namespace intaglio {

struct WinogradFilters {
  int kernel_height = 3;
  int kernel_width = 3;
  WinogradWeights weights = WinogradWeights::kBySize;
};

// The filters of such a convolution, packed. Immutable; copies share the storage. Made by default
// they are empty: no filters, refused by Winograd.
class PackedWinograd {
 public:
  // `filters` is the (taps * channels) x outputs matrix that TFLite's [outputs, height, width,
  // channels] filter tensor is: column-major, int8 or uint8.
  static Result<PackedWinograd> Pack(const ConstMatrix& filters, const PackOptions& options = {},
                                     const WinogradFilters& shape = {});

  int channels() const;  // of the input
  int outputs() const;
  size_t bytes() const;
  // The groups of input channels whose sums are computed apart, so that each can be proven exact.
  int groups() const;

  struct Storage;
  const Storage* storage() const { return storage_.get(); }
  const std::shared_ptr<const Storage>& shared_storage() const { return storage_; }

 private:
  std::shared_ptr<const Storage> storage_;
};

// The most bytes of transformed filters of `channels` input channels that Pack keeps.
size_t MostWinogradBytes(const WinogradFilters& shape, int channels, int outputs);

// Why a kernel does not convolve so: a phrase, or null if it does.
const char* WhyNotWinograd(const Im2col& input, const ConstMatrix& filters,
                           const PackOptions& options);

// Whether it then takes less time than the product of windows by filters.
bool WinogradPays(const Im2col& input, int outputs, const std::string& kernel,
                  WinogradWeights weights);

struct WinogradOptions {
  ptrdiff_t dst_stride = 0;  // elements from pixel to pixel; 0: as many as the outputs
  // Tiles of outputs (4x4 of 3x3 filters) that are computed at once, at most; 0: as many as half of
  // L2 holds, up to 48 or, of lines, 64. It changes no result.
  int most_tiles = 0;
};

// dst (NHWC: batch * out_height * out_width pixels of `filters.outputs()` elements of the
// pipeline's output type) = pipeline(input (*) filters). What lies between pixels is left alone.
// The pipeline was bound to the filters (gemm/bound_pipeline.h).
Status Winograd(Context& context, const Im2col& input, const PackedWinograd& filters, void* dst,
                const BoundPipeline& pipeline, const WinogradOptions& options = {});

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_WINOGRAD_H_
