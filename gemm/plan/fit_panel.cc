#include "intaglio/gemm/plan/fit_panel.h"

#include <algorithm>

#include "intaglio/fixedpoint/fit_double_rounding.h"
#include "intaglio/fixedpoint/fit_multiply_add.h"
#include "intaglio/fixedpoint/registers.h"

namespace intaglio {
namespace {

// The channel of lane `lane` of vector `vector` where there is one, or -1.
int ChannelAt(const PanelFormat& format, const PanelRange& panel, int vector, int lane) {
  const int channel = ChannelOfLane(format, panel.vectors, vector, lane);
  return channel < panel.channels ? channel : -1;
}

// Whether a fit of `a` also fits `b`: both have the same function, and `a` covers all accumulators
// of `b`.
bool Covers(const DoubleRoundingTask& a, const DoubleRoundingTask& b) {
  return a.mantissa == b.mantissa && a.right_shift == b.right_shift && a.lowest == b.lowest &&
         a.highest == b.highest && a.least <= b.least && b.most <= a.most;
}

int64_t BiasOf(const StandardPipeline& pipeline, int channel) {
  return pipeline.bias == nullptr ? 0 : pipeline.bias[channel];
}

std::optional<RequantMode> ModeOf(Scaling scaling) {
  switch (scaling) {
    case Scaling::kDoubleRounding:
      return RequantMode::kDoubleRounding;
    case Scaling::kSingleRounding:
      return RequantMode::kSingleRounding;
    case Scaling::kFloatHalfEven:
      return RequantMode::kFloatHalfEven;
    default:
      return std::nullopt;
  }
}

}  // namespace

bool FitPanelByMultiplyAdd(const Panels& panels, const PanelRange& panel, const RowFacts& rows,
                           const StandardPipeline& pipeline, PanelParams& params) {
  const auto mode = ModeOf(pipeline.scaling);
  if (!mode || SizeOf(pipeline.output) != 1) return false;
  const EpilogueParams epilogue = MakeEpilogue(&pipeline);
  const int64_t reach = panel.magnitude * rows.magnitude;
  const int lanes = panels.format.lanes;
  MultiplyAddFit fits[kMaxPanelWidth];
  for (int at = 0; at < lanes * panel.vectors; ++at) {
    const int channel = ChannelAt(panels.format, panel, at / lanes, at % lanes);
    if (channel < 0) continue;
    MultiplyAddTask task;
    task.mode = *mode;
    const int place = pipeline.per_channel ? panel.first_channel + channel : 0;
    if (*mode == RequantMode::kFloatHalfEven) {
      task.scale = pipeline.scale[place];
    } else {
      task.multiplier = {pipeline.mantissa[place], pipeline.exponent[place]};
    }
    const int64_t bias = BiasOf(pipeline, panel.first_channel + channel);
    task.least = bias - reach;
    task.most = bias + reach;
    task.zero_point = epilogue.zero_point;
    task.lowest = epilogue.clamp_min;
    task.highest = epilogue.clamp_max;
    const auto fit = FitMultiplyAdd(task);
    if (!fit) return false;
    fits[at] = *fit;
  }
  for (int at = 0; at < lanes * panel.vectors; ++at) {
    params.offset[at] = Scalar::Add(params.offset[at], fits[at].base);
    params.scale[at] = fits[at].scale;
    params.addend[at] = fits[at].addend;
  }
  params.form = ScalingForm::kMultiplyAdd;
  return true;
}

PanelFitter::PanelFitter(const Panels& panels, const RowFacts& rows,
                         const StandardPipeline& pipeline)
    : panels_(panels),
      rows_(rows),
      pipeline_(pipeline),
      epilogue_(MakeEpilogue(&pipeline)),
      tries_all_(!pipeline.per_channel) {}

const std::optional<DoubleRoundingFit>& PanelFitter::FitOf(const DoubleRoundingTask& task) {
  if (Covers(task_, task) && (fit_ || task == task_)) return fit_;
  task_ = task;
  if (tries_all_) {
    tries_all_ = false;
    WidenToAll(task_);
    fit_ = FitDoubleRounding(task_);
    if (fit_) return fit_;
    task_ = task;
  }
  fit_ = FitDoubleRounding(task_);
  return fit_;
}

void PanelFitter::WidenToAll(DoubleRoundingTask& task) const {
  const int64_t reach = panels_.magnitude() * rows_.magnitude;
  task.least = -reach;
  task.most = reach;
  if (pipeline_.bias == nullptr) return;
  const auto [least, most] = std::minmax_element(pipeline_.bias, pipeline_.bias + panels_.channels);
  task.least += *least;
  task.most += *most;
}

void PanelFitter::Fit(const PanelRange& panel, PanelParams& params) {
  const ScalingForm form = params.form;
  const bool bounded = form == ScalingForm::kDoubleRoundingBounded;
  if ((!bounded && form != ScalingForm::kDoubleRounding) || SizeOf(pipeline_.output) != 1) return;
  const int64_t reach = panel.magnitude * rows_.magnitude;
  const int lanes = panels_.format.lanes;
  for (int v = 0; v < panel.vectors; ++v) {
    DoubleRoundingFit fits[kMaxPanelWidth];
    ScalingForm fitted = ScalingForm::kDoubleRoundingFitted;
    for (int l = 0; l < lanes; ++l) {
      const int channel = ChannelAt(panels_.format, panel, v, l);
      if (channel < 0) continue;
      const int at = v * lanes + l;
      const int64_t bias = BiasOf(pipeline_, panel.first_channel + channel);
      const DoubleRoundingTask task{params.mantissa[at],
                                    params.right_shift[at],
                                    bias - reach,
                                    bias + reach,
                                    epilogue_.clamp_min - epilogue_.zero_point,
                                    epilogue_.clamp_max - epilogue_.zero_point};
      const bool left = !bounded && params.left_shift[at] > 0;
      const auto fit = left ? std::nullopt : FitOf(task);
      if (!fit) {
        fitted = form;
        break;
      }
      fits[l] = *fit;
      if (fit->stretch != 1) fitted = ScalingForm::kDoubleRoundingStretched;
    }
    params.vector_form[v] = fitted;
    if (fitted == form) continue;
    params.fits_int16 = false;  // a fit is proven only after clamping
    for (int l = 0; l < lanes; ++l) {
      const int at = v * lanes + l;
      params.offset[at] = Scalar::Add(params.offset[at], fits[l].base);
      params.stretch[at] = fits[l].stretch;
      params.shift[at] = fits[l].shift;
      params.scale[at] = fits[l].scale;
      params.addend[at] = fits[l].addend;
      params.origin[at] = fits[l].origin;
    }
  }
  const bool all_same = std::all_of(params.vector_form, params.vector_form + panel.vectors,
                                    [&](ScalingForm f) { return f == params.vector_form[0]; });
  params.form = all_same ? params.vector_form[0] : ScalingForm::kByVector;
  if (HoldsZeroPoint(params)) {
    for (int at = 0; at < panel.vectors * lanes; ++at) params.origin[at] -= epilogue_.zero_point;
  }
}

int CountFitted(const PanelFormat& format, const PanelRange& panel, const PanelForm& params) {
  if (params.form == ScalingForm::kMultiplyAdd) return panel.channels;
  int count = 0;
  for (int v = 0; v < panel.vectors; ++v) {
    const ScalingForm form =
        params.form == ScalingForm::kByVector ? params.vector_form[v] : params.form;
    const bool fitted =
        form == ScalingForm::kDoubleRoundingFitted || form == ScalingForm::kDoubleRoundingStretched;
    for (int l = 0; fitted && l < format.lanes; ++l) {
      count += ChannelAt(format, panel, v, l) >= 0 ? 1 : 0;
    }
  }
  return count;
}

}  // namespace intaglio
