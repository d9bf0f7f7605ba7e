// 3x3 convolutions of stride 1 by Winograd's algorithm F(4x4, 3x3): a quarter of the
// multiplications, and the same bits as the product of windows by filters (docs/numerics.md).
#ifndef INTAGLIO_GEMM_WINOGRAD_H_
#define INTAGLIO_GEMM_WINOGRAD_H_

#include <cstddef>
#include <memory>
#include <string>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/gemm/bound_pipeline.h"
#include "intaglio/gemm/context.h"
#include "intaglio/gemm/prepack.h"
#include "intaglio/pack/im2col.h"
#include "intaglio/pack/matrix.h"

namespace intaglio {

// The filters of such a convolution, packed. Immutable; copies share the storage. Made by default
// they are empty: no filters, refused by Winograd.
class PackedWinograd {
 public:
  // `filters` is the (9 * channels) x outputs matrix that TFLite's [outputs, 3, 3, channels] filter
  // tensor is: column-major, int8 or uint8.
  static Result<PackedWinograd> Pack(const ConstMatrix& filters, const PackOptions& options = {});

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

// The most bytes that Pack keeps for filters of `channels` input channels.
size_t MostWinogradBytes(int channels, int outputs);

// Why a kernel does not convolve so: a phrase, or null if it does.
const char* WhyNotWinograd(const Im2col& input, const ConstMatrix& filters,
                           const PackOptions& options);

// Whether it then takes less time than the product of windows by filters.
bool WinogradPays(const Im2col& input, int outputs, const std::string& kernel);

struct WinogradOptions {
  ptrdiff_t dst_stride = 0;  // elements from pixel to pixel; 0: as many as the outputs
  // Tiles of 4x4 outputs that are computed at once, at most; 0: as many as half of L2 holds, up to
  // 48. It changes no result.
  int most_tiles = 0;
};

// dst (NHWC: batch * out_height * out_width pixels of `filters.outputs()` elements of the
// pipeline's output type) = pipeline(input (*) filters). What lies between pixels is left alone.
// The pipeline was bound to the filters (gemm/bound_pipeline.h).
Status Winograd(Context& context, const Im2col& input, const PackedWinograd& filters, void* dst,
                const BoundPipeline& pipeline, const WinogradOptions& options = {});

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_WINOGRAD_H_
