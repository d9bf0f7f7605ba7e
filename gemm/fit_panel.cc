#include "intaglio/gemm/fit_panel.h"

#include <optional>

#include "intaglio/fixedpoint/fit_double_rounding.h"
#include "intaglio/fixedpoint/registers.h"

namespace intaglio {
namespace {

// The channel of lane `lane` of vector `vector` where there is one, or -1.
int ChannelAt(const PanelFormat& format, const PanelExtent& extent, int vector, int lane) {
  const int channel = ChannelOfLane(format, extent.vectors, vector, lane);
  return channel < extent.channels ? channel : -1;
}

// Fits tasks that come in turn; channels of one multiplier share theirs.
class Fitter {
 public:
  const std::optional<DoubleRoundingFit>& Fit(const DoubleRoundingTask& task) {
    if (!(task == task_)) fit_ = FitDoubleRounding(task);
    task_ = task;
    return fit_;
  }

 private:
  DoubleRoundingTask task_;
  std::optional<DoubleRoundingFit> fit_;
};

}  // namespace

void FitPanel(const Panels& panels, const PanelExtent& extent, const RowFacts& rows,
              const StandardPipeline& pipeline, PanelParams& params) {
  params.fitted = 0;
  params.stretched = 0;
  if (params.form != ScalingForm::kDoubleRoundingBounded || SizeOf(pipeline.output) != 1) return;
  const EpilogueParams epilogue = MakeEpilogue(&pipeline);
  DoubleRoundingTask task;
  task.bound = AccumulatorBound(extent, rows.magnitude, pipeline.bias);
  task.lowest = epilogue.clamp_min - epilogue.zero_point;
  task.highest = epilogue.clamp_max - epilogue.zero_point;
  const int lanes = panels.format.lanes;
  Fitter fitter;
  for (int v = 0; v < extent.vectors; ++v) {
    DoubleRoundingFit fits[kMaxPanelWidth];
    bool all = true;
    bool stretched = false;
    for (int l = 0; all && l < lanes; ++l) {
      if (ChannelAt(panels.format, extent, v, l) < 0) continue;
      task.mantissa = params.mantissa[v * lanes + l];
      task.right_shift = params.right_shift[v * lanes + l];
      const auto& fit = fitter.Fit(task);
      all = fit.has_value();
      if (all) fits[l] = *fit;
      stretched = stretched || (all && fit->stretch != 1);
    }
    if (!all) continue;
    for (int l = 0; l < lanes; ++l) {
      const int at = v * lanes + l;
      params.offset[at] = Scalar::Add(params.offset[at], fits[l].base);
      params.stretch[at] = fits[l].stretch;
      params.shift[at] = fits[l].shift;
      params.scale[at] = fits[l].scale;
      params.addend[at] = fits[l].addend;
      params.origin[at] = fits[l].origin;
    }
    params.fitted |= 1u << v;
    if (stretched) params.stretched |= 1u << v;
    params.form = ScalingForm::kDoubleRoundingFitted;
  }
}

int CountFitted(const PanelFormat& format, const PanelExtent& extent, const PanelParams& params) {
  if (params.form != ScalingForm::kDoubleRoundingFitted) return 0;
  int count = 0;
  for (int v = 0; v < extent.vectors; ++v) {
    for (int l = 0; (params.fitted >> v & 1) != 0 && l < format.lanes; ++l) {
      count += ChannelAt(format, extent, v, l) >= 0 ? 1 : 0;
    }
  }
  return count;
}

}  // namespace intaglio
