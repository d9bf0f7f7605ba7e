// A panel and its parameters packed by hand, from the words of pack/panels.h and kernels/kernel.h.
#ifndef INTAGLIO_TEST_KERNELS_PANEL_ORACLE_H_
#define INTAGLIO_TEST_KERNELS_PANEL_ORACLE_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/fit_double_rounding.h"
#include "intaglio/fixedpoint/fit_multiply_add.h"
#include "intaglio/kernels/kernel.h"
#include "intaglio/kernels/params_list.h"
#include "intaglio/pack/aligned_buffer.h"
#include "intaglio/test/pipeline/oracle.h"

namespace intaglio::test {

using Random = std::mt19937;

inline int Uniform(Random& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

// The channel in lane `lane` of vector `vector`: runs of four, or of one where lanes are fewer.
inline int HandChannel(int lanes, int vectors, int vector, int lane) {
  if (lanes < 4) return vector;
  return (lane / 4) * 4 * vectors + 4 * vector + lane % 4;
}

// Per channel, in channel order.
struct ChannelParams {
  ScalingForm form = ScalingForm::kNone;
  bool fits_int16 = false;
  std::vector<int32_t> offset, negative_zero_point, mantissa, left_shift, right_shift;
  std::vector<float> scale;
  std::vector<DoubleRoundingFit> fit;  // of kByVector, vectors of `fitted`
  uint32_t fitted = 0;
  std::vector<MultiplyAddFit> multiply_add;  // of kMultiplyAdd, for the mode of `scaled_as`
  ScalingForm scaled_as = ScalingForm::kSingleRounding;
  ScalingForm not_fitted = ScalingForm::kDoubleRounding;

  explicit ChannelParams(int width) {
    const auto n = static_cast<size_t>(width);
    offset.assign(n, 0);
    negative_zero_point.assign(n, 0);
    mantissa.assign(n, 1 << 30);
    left_shift.assign(n, 0);
    right_shift.assign(n, 0);
    scale.assign(n, 1.0f);
    fit.resize(n);
    multiply_add.resize(n);
  }

  PanelParams InLanes(int lanes, int vectors) const {
    PanelParams p{};
    p.form = form;
    p.fits_int16 = fits_int16;
    for (int j = 0; j < vectors; ++j) {
      p.vector_form[j] = form;
      for (int l = 0; l < lanes; ++l) {
        const auto c = static_cast<size_t>(HandChannel(lanes, vectors, j, l));
        const int at = j * lanes + l;
        p.offset[at] = offset[c];
        p.negative_zero_point[at] = negative_zero_point[c];
        p.mantissa[at] = mantissa[c];
        p.left_shift[at] = left_shift[c];
        p.right_shift[at] = right_shift[c];
        p.scale[at] = scale[c];
        if (form == ScalingForm::kMultiplyAdd) {
          p.offset[at] = Scalar::Add(p.offset[at], multiply_add[c].base);
          p.scale[at] = multiply_add[c].scale;
          p.addend[at] = multiply_add[c].addend;
        }
        if (form == ScalingForm::kByVector) {
          if (l == 0) p.vector_form[j] = not_fitted;
          if ((fitted >> j & 1) != 0) SetFit(fit[c], j, at, p);
        }
      }
    }
    return p;
  }

  static void SetFit(const DoubleRoundingFit& f, int vector, int at, PanelParams& p) {
    if (p.vector_form[vector] != ScalingForm::kDoubleRoundingStretched) {
      p.vector_form[vector] = f.stretch == 1 ? ScalingForm::kDoubleRoundingFitted
                                             : ScalingForm::kDoubleRoundingStretched;
    }
    p.offset[at] = Scalar::Add(p.offset[at], f.base);
    p.stretch[at] = f.stretch;
    p.shift[at] = f.shift;
    p.scale[at] = f.scale;
    p.addend[at] = f.addend;
    p.origin[at] = f.origin;
  }

  // What the epilogue has to make of the accumulator of a channel.
  void Finish(const EpilogueParams& e, int32_t acc, int channel, void* array, int64_t index) const {
    const auto c = static_cast<size_t>(channel);
    int64_t scaled = acc;
    switch (form == ScalingForm::kMultiplyAdd ? scaled_as : form) {
      case ScalingForm::kNone:
      case ScalingForm::kMultiplyAdd:
        break;
      case ScalingForm::kDoubleRounding:
      case ScalingForm::kDoubleRoundingBounded:
      case ScalingForm::kDoubleRoundingFitted:
      case ScalingForm::kDoubleRoundingStretched:
      case ScalingForm::kByVector:
        scaled = DoublyRounded(acc, mantissa[c], left_shift[c] - right_shift[c]);
        break;
      case ScalingForm::kSingleRounding:
      case ScalingForm::kSingleRoundingBounded:
        scaled = SinglyRounded(acc, mantissa[c], 31 - right_shift[c]);
        break;
      case ScalingForm::kFloatHalfEven:
      case ScalingForm::kFloatHalfEvenBounded:
        scaled = FloatRounded(acc, scale[c]);
        break;
      case ScalingForm::kToFloat: {
        const float value = static_cast<float>(acc) * scale[c];
        std::memcpy(static_cast<char*>(array) + 4 * index, &value, 4);
        return;
      }
    }
    PutElement(e.output, array, index,
               ShiftedAndClamped(e.output, scaled, e.zero_point, e.clamp_min, e.clamp_max));
  }
};

// Gives every channel a multiplier, of a shift of at least `least_shift`, for which there is a fit,
// one without a stretch if `plain`.
inline void FindFits(Random& random, DoubleRoundingTask task, int least_shift, bool plain,
                     ChannelParams& p) {
  for (size_t c = 0; c < p.fit.size(); ++c) {
    std::optional<DoubleRoundingFit> fit;
    while (!fit || (plain && fit->stretch != 1)) {
      task.mantissa = (1 << 30) + Uniform(random, 0, (1 << 30) - 1);
      task.right_shift = Uniform(random, least_shift, 11);
      fit = FitDoubleRounding(task);
    }
    p.mantissa[c] = task.mantissa;
    p.right_shift[c] = task.right_shift;
    p.fit[c] = *fit;
  }
}

// The dst of a kernel between guards: rows of `width` elements, `gap` bytes after each.
class GuardedRows {
 public:
  GuardedRows(Type type, int rows, int width, int gap)
      : type_(type),
        stride_(static_cast<ptrdiff_t>(SizeOf(type)) * width + gap),
        got_(static_cast<size_t>(2 * kGuard + rows * stride_), 0x5a),
        want_(got_) {}

  void* dst() { return got_.data() + kGuard; }
  ptrdiff_t stride() const { return stride_; }
  void* want(int row) { return want_.data() + kGuard + row * stride_; }
  bool Same() const { return got_ == want_; }
  std::string Difference() const {
    for (size_t i = 0; i < got_.size(); ++i) {
      if (got_[i] == want_[i]) continue;
      const auto at = static_cast<ptrdiff_t>(i) - kGuard;
      return "byte " + std::to_string(at) + " (row " + std::to_string(at / stride_) + ", element " +
             std::to_string(at % stride_ / static_cast<ptrdiff_t>(SizeOf(type_))) +
             "): " + std::to_string(got_[i]) + ", not " + std::to_string(want_[i]);
    }
    return "";
  }

 private:
  static constexpr int kGuard = 128;
  Type type_;
  ptrdiff_t stride_;
  std::vector<uint8_t> got_, want_;
};

// Parameters of panels of this width, one behind the other, as kernels read them.
class ParamsList {
 public:
  ParamsList(int width, const std::vector<PanelParams>& all)
      : each_(ParamsBytes(width)), memory_(AlignedBuffer::Allocate(each_ * all.size())) {
    auto* const first = static_cast<PanelForm*>(memory_.data());
    for (size_t i = 0; i < all.size(); ++i) {
      MakeParams(width, ParamsAt(first, i, each_), [&](PanelParams& params) { params = all[i]; });
    }
  }

  const PanelForm* At(size_t i) const {
    return ParamsAt(static_cast<const PanelForm*>(memory_.data()), i, each_);
  }

 private:
  size_t each_;
  AlignedBuffer memory_;
};

// As FitPanel leaves a panel: all vectors of one form are the panel's, whose origins may hold the
// zero point.
inline void JoinForms(int vectors, PanelParams& p, EpilogueParams& epilogue) {
  const bool alike = std::all_of(p.vector_form, p.vector_form + vectors,
                                 [&](ScalingForm f) { return f == p.vector_form[0]; });
  if (p.form == ScalingForm::kByVector && alike) p.form = p.vector_form[0];
  if (!HoldsZeroPoint(p)) return;
  for (int32_t& origin : p.origin) origin = Scalar::Sub(origin, epilogue.zero_point);
  epilogue.zero_point = 0;
}

}  // namespace intaglio::test

#endif  // INTAGLIO_TEST_KERNELS_PANEL_ORACLE_H_
