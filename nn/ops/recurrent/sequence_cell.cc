#include "intaglio/nn/ops/recurrent/sequence_cell.h"

#include <algorithm>
#include <cmath>

namespace intaglio::nn {
namespace {

template <class Function>
void ForEach(float* x, ptrdiff_t count, const Function& f) {
  for (ptrdiff_t i = 0; i < count; ++i) x[i] = f(x[i]);
}

// The units of a step.
class Units {
 public:
  Units(const CellParameters& cell, const CellStep& step) : cell_(cell), step_(step) {}

  // The sums of a gate, those of h added to those of x.
  float* Sum(ptrdiff_t gate) const { return SumOf(gate, count()); }
  // Makes gates from `first` on, without peepholes, by function 0. If the part is all units, these
  // gates are one line, and a long line takes less time than several short ones.
  void MakeGates(ptrdiff_t first, ptrdiff_t gates) const {
    const bool is_whole = count() == cell_.units;
    const ptrdiff_t lines = is_whole ? 1 : gates;
    const ptrdiff_t length = is_whole ? gates * count() : count();
    for (ptrdiff_t i = 0; i < lines; ++i) Activate(0, SumOf(first + i, length), length);
  }
  float* Products(ptrdiff_t gate) const { return step_.of_h + gate * cell_.units + step_.begin; }
  const float* OfX(ptrdiff_t gate) const { return step_.of_x + gate * cell_.units + step_.begin; }
  float* Of(float* row) const { return row + step_.begin; }

  bool has_peepholes() const { return cell_.peepholes != nullptr; }
  void AddPeephole(ptrdiff_t gate, float* sum) const {
    if (!has_peepholes()) return;
    const float* const peephole = cell_.peepholes + gate * cell_.units + step_.begin;
    const float* const c = Of(step_.c);
    for (ptrdiff_t i = 0; i < count(); ++i) sum[i] += peephole[i] * c[i];
  }

  void Activate(size_t function, float* x) const { Activate(function, x, count()); }
  void ApplyTo(size_t function, float* x) const { ApplyTo(function, x, count()); }

  ptrdiff_t count() const { return step_.end - step_.begin; }

 private:
  float* SumOf(ptrdiff_t gate, ptrdiff_t length) const {
    float* const sum = Products(gate);
    const float* const of_x = OfX(gate);
    for (ptrdiff_t i = 0; i < length; ++i) sum[i] += of_x[i];
    return sum;
  }
  void Activate(size_t function, float* x, ptrdiff_t length) const {
    const float bound = cell_.op->clip;
    if (bound > 0) ForEach(x, length, [=](float v) { return std::clamp(v, -bound, bound); });
    ApplyTo(function, x, length);
  }
  void ApplyTo(size_t function, float* x, ptrdiff_t length) const {
    Apply(*cell_.floats, cell_.functions[function], x, length);
  }

  const CellParameters& cell_;
  const CellStep& step_;
};

void UpdateRnn(const Units& units, const CellStep& step) {
  float* const sum = units.Sum(0);
  units.Activate(0, sum);
  std::copy_n(sum, units.count(), units.Of(step.h));
}

enum GruGate : ptrdiff_t { kUpdateGate, kResetGate, kNewGate };

// Without reset_after, ResetState has made z.
void UpdateGru(const Units& units, const CellStep& step, bool reset_after) {
  float* const n = units.Products(kNewGate);
  if (reset_after) {
    units.MakeGates(kUpdateGate, 2);
    const float* const r = units.Products(kResetGate);
    for (ptrdiff_t i = 0; i < units.count(); ++i) n[i] *= r[i];
  }
  units.Activate(1, units.Sum(kNewGate));
  const float* const z = units.Products(kUpdateGate);
  float* const h = units.Of(step.h);
  for (ptrdiff_t i = 0; i < units.count(); ++i) h[i] = (1.0f - z[i]) * n[i] + z[i] * h[i];
}

enum LstmGate : ptrdiff_t { kInput, kOutput, kForget, kCell };  // as peepholes, which kCell has not

void MakeLstmGate(const Units& units, LstmGate gate) {
  float* const sum = units.Sum(gate);
  units.AddPeephole(gate, sum);
  units.Activate(0, sum);
}

void UpdateLstm(const Units& units, const CellStep& step, bool coupled) {
  float* const c = units.Of(step.c);
  const float* const input = units.Products(kInput);
  float* const forget = units.Products(kForget);
  const bool is_plain = !coupled && !units.has_peepholes();
  if (is_plain) {
    units.MakeGates(kInput, 3);
  } else {
    MakeLstmGate(units, kInput);
    if (!coupled) MakeLstmGate(units, kForget);
  }
  if (coupled) {
    for (ptrdiff_t i = 0; i < units.count(); ++i) forget[i] = 1.0f - input[i];
  }
  float* const candidate = units.Sum(kCell);
  units.Activate(1, candidate);
  for (ptrdiff_t i = 0; i < units.count(); ++i) c[i] = forget[i] * c[i] + input[i] * candidate[i];
  if (!is_plain) MakeLstmGate(units, kOutput);
  const float* const output = units.Products(kOutput);
  float* const h = units.Of(step.h);
  std::copy_n(c, units.count(), h);
  units.ApplyTo(2, h);
  for (ptrdiff_t i = 0; i < units.count(); ++i) h[i] *= output[i];
}

}  // namespace

void Apply(const FloatLoops& floats, const CellFunction& function, float* x, ptrdiff_t count) {
  const float a = function.a;
  const float b = function.b;
  switch (function.curve) {
    case Curve::kSigmoid:
      return floats.sigmoid(x, count, x);
    case Curve::kTanh:
      return floats.tanh(x, count, x);
    case Curve::kRelu:
      return ForEach(x, count, [](float v) { return v < 0 ? 0.0f : v; });
    case Curve::kAffine:
      return ForEach(x, count, [=](float v) { return a * v + b; });
    case Curve::kLeakyRelu:
      return ForEach(x, count, [=](float v) { return v < 0 ? a * v : v; });
    case Curve::kThresholdedRelu:
      return ForEach(x, count, [=](float v) { return v <= a ? 0.0f : v; });
    case Curve::kScaledTanh:
      ForEach(x, count, [=](float v) { return b * v; });
      floats.tanh(x, count, x);
      return ForEach(x, count, [=](float v) { return a * v; });
    case Curve::kHardSigmoid:
      return ForEach(x, count, [=](float v) { return std::clamp(a * v + b, 0.0f, 1.0f); });
    case Curve::kElu:
      return floats.elu(a, x, count, x);
    case Curve::kSoftsign:
      return ForEach(x, count, [](float v) { return v / (1.0f + std::fabs(v)); });
    case Curve::kSoftplus:
      return floats.softplus(x, count, x);
  }
}

void ResetState(const CellParameters& cell, const CellStep& step) {
  const Units units(cell, step);
  units.MakeGates(kUpdateGate, 2);
  const float* const r = units.Products(kResetGate);
  const float* const h = units.Of(step.h);
  float* const to = units.Of(step.reset_h);
  for (ptrdiff_t i = 0; i < units.count(); ++i) to[i] = r[i] * h[i];
}

void UpdateState(const CellParameters& cell, const CellStep& step) {
  const Units units(cell, step);
  switch (cell.op->cell) {
    case SequenceCell::kRnn:
      return UpdateRnn(units, step);
    case SequenceCell::kGru:
      return UpdateGru(units, step, cell.op->reset_after);
    case SequenceCell::kLstm:
      return UpdateLstm(units, step, cell.op->coupled);
  }
}

}  // namespace intaglio::nn
