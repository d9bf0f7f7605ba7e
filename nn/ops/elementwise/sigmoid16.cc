// LOGISTIC and TANH of int16, by interpolation in one table of the logistic function, as TFLite's
// reference kernels do it: tanh(x) = 2 logistic(2 x) - 1.
#include "intaglio/nn/ops/elementwise/sigmoid16.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/ops/support/unary.h"

namespace intaglio::nn {
namespace {

// 2^16 logistic(i / 24), taken half of the way to where the middle between two entries meets the
// curve. The last entry stands for all beyond it.
using LogisticTable = std::array<uint16_t, 256>;

LogisticTable MakeLogisticTable() {
  LogisticTable table{};
  const auto exact = [](double i) { return 65536.0 / (1.0 + std::exp(-i / 24.0)); };
  for (size_t i = 0; i < table.size(); ++i) {
    const auto at = static_cast<double>(i);
    const double middle = (exact(at) + exact(at + 1)) / 2;
    table[i] = static_cast<uint16_t>(std::round(exact(at) + (exact(at + 0.5) - middle) / 2));
  }
  table.back() = 65535;
  return table;
}

// From the input's scale to 1 / (3 * 2^12), in which 2^17 is 10.7: floor(x multiplier 2^-shift),
// rounded.
struct Rescale {
  int32_t multiplier = 0;
  int shift = 0;

  int32_t operator()(int32_t x) const {
    const int32_t half = shift > 0 ? 1 << (shift - 1) : 0;
    return (x * multiplier + half) >> shift;
  }
};

// Entry |x| / 2^fraction_bits and what lies between it and the next, with as many bits more; the
// table's end beyond it.
uint32_t Interpolate(const LogisticTable& table, uint32_t magnitude, int fraction_bits,
                     uint32_t beyond) {
  const uint32_t i = magnitude >> fraction_bits;
  if (i >= 255) return beyond << fraction_bits;
  const uint32_t fraction = magnitude & ((uint32_t{1} << fraction_bits) - 1);
  const auto rise = static_cast<uint32_t>(table[i + 1] - table[i]);
  return (uint32_t{table[i]} << fraction_bits) + fraction * rise;
}

struct Logistic16 {
  LogisticTable table;
  Rescale rescale;

  int32_t operator()(int32_t x) const {
    const int32_t fine = rescale(x);
    const auto sum =
        static_cast<int32_t>(Interpolate(table, static_cast<uint32_t>(std::abs(fine)), 9, 0xfffe));
    const int32_t rounded = fine >= 0 ? sum + (1 << 9) : (1 << 25) - sum + (1 << 9) - 1;
    return rounded >> 10;
  }
};

struct Tanh16 {
  LogisticTable table;
  Rescale rescale;

  int32_t operator()(int32_t x) const {
    const int32_t fine = rescale(x);
    const auto sum =
        static_cast<int32_t>(Interpolate(table, static_cast<uint32_t>(std::abs(fine)), 8, 0xffff));
    const int32_t centered = sum - (1 << 23);
    const int32_t rounded = fine >= 0 ? centered + (1 << 7) : -centered + (1 << 7) - 1;
    return rounded >> 8;
  }
};

// A scale of a power of two is shifted by at most `max_left`; others are multiplied with 15 bits.
Result<Rescale> RescaleOf(const LayerView& layer, float scale, int max_left) {
  const std::optional<int> log2 = Log2OfScale(scale);
  if (log2.has_value() && *log2 >= -12 && *log2 <= max_left - 12) {
    return Rescale{3 << (*log2 + 12), 0};
  }
  double real = static_cast<double>(scale) * (3 * 4096);
  if (real > 65535) return layer.Unsupported("the input's scale is " + std::to_string(scale));
  int shift = 0;
  for (; real <= 32767.0 / 2 && shift <= 30; ++shift) real *= 2;
  return Rescale{static_cast<int32_t>(real), shift};
}

Result<Rescale> CheckAndRescale(const LayerView& layer, int max_left) {
  const Result<InOut> q = SameTypeInOut(layer);
  if (!q.ok()) return q.status();
  if (q->input.zero_point != 0 || q->output.zero_point != 0) {
    return layer.Unsupported("int16 with other zero points than 0");
  }
  if (Log2OfScale(q->output.scale) != -15) {
    return layer.Unsupported("the output has the scale " + std::to_string(q->output.scale) +
                             "; 2^-15 is supported");
  }
  return RescaleOf(layer, q->input.scale, max_left);
}

template <class Function>
Result<PreparedLayer> PrepareSigmoid(const LayerView& layer, int max_left) {
  const Result<Rescale> rescale = CheckAndRescale(layer, max_left);
  if (!rescale.ok()) return rescale.status();
  PreparedLayer prepared =
      PrepareUnary(UnaryRoutine<int16_t, int16_t>(layer, Function{MakeLogisticTable(), *rescale}));
  prepared.constant_bytes = sizeof(LogisticTable);
  return prepared;
}

}  // namespace

Result<PreparedLayer> PrepareLogistic16(const LayerView& layer, const LayerOptions&) {
  return PrepareSigmoid<Logistic16>(layer, 0);
}

Result<PreparedLayer> PrepareTanh16(const LayerView& layer, const LayerOptions&) {
  return PrepareSigmoid<Tanh16>(layer, 1);
}

}  // namespace intaglio::nn
