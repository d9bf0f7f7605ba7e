// Channels whose result is the same whatever is multiplied: a bias that outweighs every product.
#ifndef INTAGLIO_GEMM_PLAN_CONSTANT_CHANNELS_H_
#define INTAGLIO_GEMM_PLAN_CONSTANT_CHANNELS_H_

#include <cstdint>
#include <vector>

#include "intaglio/gemm/plan/panel_params.h"
#include "intaglio/pack/panels.h"
#include "intaglio/pipeline/standard.h"

namespace intaglio {

// A pipeline of double rounding with smaller biases, and other multipliers, for such channels. Of
// weights that all were near 0 quantizers leave multipliers near 0 and biases around 2^30 (TFLite's
// reach half of int32), and one of them would keep its panel from the bounded forms.
class WithSmallBiases {
 public:
  // Any other pipeline stays as it is. What `pipeline` points to must outlive this.
  WithSmallBiases(const Panels& panels, const RowFacts& rows, const StandardPipeline& pipeline);
  WithSmallBiases(const WithSmallBiases&) = delete;
  WithSmallBiases& operator=(const WithSmallBiases&) = delete;

  const StandardPipeline& pipeline() const { return pipeline_; }

 private:
  void CopyChannels(int channels);

  StandardPipeline pipeline_;
  // Where channels were changed, the numbers of all.
  std::vector<int32_t> bias_;
  std::vector<int32_t> mantissa_;
  std::vector<int32_t> exponent_;
};

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_PLAN_CONSTANT_CHANNELS_H_
