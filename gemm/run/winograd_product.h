// One convolution by Winograd's algorithm, in plain numbers and pointers.
#ifndef INTAGLIO_GEMM_RUN_WINOGRAD_PRODUCT_H_
#define INTAGLIO_GEMM_RUN_WINOGRAD_PRODUCT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/gemm/context.h"
#include "intaglio/gemm/plan/winograd_forms.h"
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
  const WinogradForm* form;
  int channels;
  int groups;                        // one, if the form has several blocks
  std::vector<int16_t> zero_points;  // per panel, as WinogradWeightsArgs has them
  AlignedBuffer weights;  // U of all panels, of all channels; or empty: made in each call
  std::vector<size_t> weights_at = {};  // where a panel's U begins there

  const WinogradRoutines& routines() const { return *kernel->winograd; }
  const Panels& panels() const { return matrix.panels(); }
  // The sums of one frequency go over so many products of V and U.
  int depth() const { return form->blocks * channels; }
  int LanesOf(const PanelRange& panel) const { return panel.vectors * routines().panel.lanes; }
  // From one frequency to the next.
  static ptrdiff_t WeightsStep(int depth, int width) {
    return FrequencyStep(ptrdiff_t{depth} * width * ptrdiff_t{sizeof(int16_t)});
  }
  // Makes U of the channels [first, first + count) of a panel, block after block.
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
