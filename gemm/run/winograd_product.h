// One convolution by Winograd's algorithm, in plain numbers and pointers.
#ifndef INTAGLIO_GEMM_RUN_WINOGRAD_PRODUCT_H_
#define INTAGLIO_GEMM_RUN_WINOGRAD_PRODUCT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/gemm/context.h"
#include "intaglio/gemm/plan/winograd_groups.h"
#include "intaglio/gemm/winograd.h"
#include "intaglio/kernels/kernel.h"
#include "intaglio/kernels/winograd/winograd_args.h"
#include "intaglio/pack/aligned_buffer.h"
#include "intaglio/pack/im2col.h"
#include "intaglio/pack/packed_matrix.h"
#include "intaglio/pack/panels.h"

namespace intaglio {

struct PackedWinograd::Storage {
  const Kernel* kernel;
  PackedMatrix matrix;  // the filters as panels, of which U is made
  int channels;
  int groups;
  std::vector<int16_t> zero_points;  // per panel, as WinogradWeightsArgs has them
  AlignedBuffer weights;  // U of all panels, of all channels; or empty: made in each call

  const WinogradRoutines& routines() const { return *kernel->winograd; }
  const Panels& panels() const { return matrix.panels(); }
  // From the U of one panel to that of the next, in bytes.
  size_t panel_step() const {
    return static_cast<size_t>(kFrequencies * WeightsStep(channels, routines().panel.width()));
  }
  // From one frequency to the next.
  static ptrdiff_t WeightsStep(int channels, int width) {
    return FrequencyStep(ptrdiff_t{channels} * width * ptrdiff_t{sizeof(int16_t)});
  }
  // Makes U of the channels [first, first + count) of a panel.
  void TransformWeights(size_t panel, int first, int count, ptrdiff_t step, int16_t* to) const;
};

struct WinogradProduct {
  const Im2col& input;
  const PackedWinograd::Storage& packed;
  void* dst;
  ptrdiff_t dst_stride;  // elements from one pixel to the next
  int most_tiles;        // WinogradOptions
  EpilogueParams epilogue;
  const PanelForm* params;  // per panel
};

// Pixels are read as int8: the top bits of uint8 are flipped on the way.
constexpr int32_t WinogradMove(Type type) { return type == Type::kUInt8 ? -128 : 0; }

// Refuses what does not fit.
Status CheckWinograd(const WinogradProduct& product);

// Computes the result. The only error is a lack of memory, found before dst is touched.
Status ExecuteWinograd(Context& context, const WinogradProduct& product);

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_RUN_WINOGRAD_PRODUCT_H_
