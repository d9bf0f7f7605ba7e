// The row of a kernel: what its file states, and what follows from its vocabulary V (tile.h) and
// that of its taps T (depthwise_tile.h). V may have, beside what these files name,
//   kSafePairs       its panels are of PanelFormat::safe_pairs
//   kStoresInOrder   Tile writes all of a row before any of the next
//   kTiles           its panels are of PanelFormat::tiles
#ifndef INTAGLIO_KERNELS_MAKE_KERNEL_H_
#define INTAGLIO_KERNELS_MAKE_KERNEL_H_

#include "intaglio/kernels/depthwise/depthwise_tile.h"
#include "intaglio/kernels/kernel.h"
#include "intaglio/kernels/tile/finish.h"
#include "intaglio/kernels/tile/tile.h"

namespace intaglio {

// A kernel whose file states a tile of its own: V says what that can do.
template <class V>
constexpr Kernel MakeKernelOfTile(const KernelFacts& facts) {
  Kernel kernel{facts};
  kernel.panel = {.lanes = V::kLanes, .vectors = V::kMaxVectors, .depth_step = V::kDepthStep};
  kernel.panel.safe_pairs = requires { V::kSafePairs; };
  kernel.panel.tiles = requires { V::kTiles; };
  kernel.max_rows = V::kMaxRows;
  kernel.takes_panels_of_row = kStoresRows<V>;
  kernel.takes_windows = kTakesWindows<V>;
  kernel.stores_in_order = requires { V::kStoresInOrder; };
  kernel.has_fma = kTakesFits<V>;
  kernel.takes_multiply_add = kTakesMultiplyAdd<V>;
  return kernel;
}

// A kernel without depthwise convolutions.
template <class V>
constexpr Kernel MakeKernel(const KernelFacts& facts) {
  Kernel kernel = MakeKernelOfTile<V>(facts);
  if (facts.tile == nullptr) kernel.tile = Tile<V>;
  return kernel;
}

template <class V, class T>
constexpr Kernel MakeKernel(const KernelFacts& facts) {
  Kernel kernel = MakeKernel<V>(facts);
  kernel.tap_step = T::kStep;
  kernel.depthwise = Depthwise<V, T>;
  kernel.slides_columns = kSlides<V, T> || kSlidesPairs<V, T>;
  kernel.folds_pixels = kSlides<V, T>;
  return kernel;
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_MAKE_KERNEL_H_
