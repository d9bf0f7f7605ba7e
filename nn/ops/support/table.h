// Functions of one 8-bit number as tables of all their values, and of one 16-bit number as tables
// between whose values one interpolates.
#ifndef INTAGLIO_NN_OPS_SUPPORT_TABLE_H_
#define INTAGLIO_NN_OPS_SUPPORT_TABLE_H_

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

// The result's bits for every operand's bits.
using ByteTable = std::array<uint8_t, 256>;

// f(q) for every q of an 8-bit type; f's results must fit the 8-bit result type.
template <class Function>
ByteTable MakeTable(Type type, const Function& f) {
  ByteTable table{};
  const Range range = RangeOf(type);
  for (int32_t q = range.min; q <= range.max; ++q) {
    table[static_cast<uint8_t>(q)] = static_cast<uint8_t>(f(q));
  }
  return table;
}

// out[i] = table[in[i]]; in and out may be the same.
void Apply(const ByteTable& table, const void* in, void* out, size_t count);

// A layer that applies a table to input 0, of an 8-bit type.
PreparedLayer PrepareTable(const LayerView& layer, const ByteTable& table);

// 512 values and one more for the end, at x = -2^15 + 128 i.
using InterpolatedTable = std::array<int16_t, 513>;

// f of real numbers as TFLite's reference kernels tabulate it, in float32 or float64: value i is
// moved half of the way to where the middle between two values meets f. Both quantizations are
// (scale, zero point). If f leaves the range of Real next to a value, that value is not corrected:
// TFLite's result from infinities and NaN is undefined there. NaN becomes 0.
template <class Real, class Function>
InterpolatedTable MakeInterpolatedTable(std::pair<Real, int32_t> in, std::pair<Real, int32_t> out,
                                        const Function& f) {
  constexpr Real kLow = -32768;
  constexpr Real kHigh = 32767;
  const auto real = [](const std::pair<Real, int32_t>& q, int32_t x) {
    return q.first * static_cast<Real>(x - q.second);
  };
  const Real start = real(in, -32768);
  const Real end = real(in, 32767);
  const Real step = (end - start) / 512;
  const Real half_step = step / 2;
  const Real inverse = 65536 / (real(out, 32767) - real(out, -32768));
  const auto clamp = [=](Real x) {
    return static_cast<int16_t>(std::isnan(x) ? 0 : std::fmin(std::fmax(x, kLow), kHigh));
  };
  InterpolatedTable table{};
  for (int i = 0; i < 512; ++i) {
    const Real at = start + static_cast<Real>(i) * step;
    const Real next = f(start + static_cast<Real>(i + 1) * step);
    const Real value = std::round(f(at) * inverse);
    const Real middle = std::round((next * inverse + value) / 2);
    const Real error = middle - std::round(f(at + half_step) * inverse);
    const Real correction = std::isfinite(error) ? std::round(error / 2) : 0;
    table[static_cast<size_t>(i)] = clamp(value - correction);
  }
  table[512] = clamp(std::round(f(end) * inverse));
  return table;
}

// The value at x.
inline int16_t Interpolate(const InterpolatedTable& table, int16_t x) {
  const auto place = static_cast<uint32_t>(x + 32768);
  const int32_t base = table[place >> 7];
  const auto slope = static_cast<int16_t>(table[(place >> 7) + 1] - base);
  const int32_t part = static_cast<int32_t>(place & 127);
  return static_cast<int16_t>(base + ((slope * part + 64) >> 7));
}

// A layer of int16 that applies such a table.
PreparedLayer PrepareInterpolated(const LayerView& layer, const InterpolatedTable& table);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_SUPPORT_TABLE_H_
