// Functions of one 8-bit number as tables of all their values, and of one 16-bit number as tables
// between whose values one interpolates.
#ifndef INTAGLIO_NN_OPS_TABLE_H_
#define INTAGLIO_NN_OPS_TABLE_H_

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "intaglio/nn/layer.h"
#include "intaglio/nn/quantization.h"

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

// f of real numbers as TFLite's reference kernels tabulate it, in float32: value i is taken half of
// the way to where the middle between two values meets f.
template <class Function>
InterpolatedTable MakeInterpolatedTable(const InOut& q, const Function& f) {
  constexpr float kLow = -32768.0f;
  constexpr float kHigh = 32767.0f;
  const auto real = [](const Affine& a, int32_t x) {
    return a.scale * static_cast<float>(x - a.zero_point);
  };
  const float start = real(q.input, -32768);
  const float end = real(q.input, 32767);
  const float step = (end - start) / 512;
  const float half_step = step / 2;
  const float inverse = 65536.0f / (real(q.output, 32767) - real(q.output, -32768));
  const auto clamp = [=](float x) {
    return static_cast<int16_t>(std::fmin(std::fmax(x, kLow), kHigh));
  };
  InterpolatedTable table{};
  for (int i = 0; i < 512; ++i) {
    const float at = start + static_cast<float>(i) * step;
    const float next = f(start + static_cast<float>(i + 1) * step);
    const float value = std::round(f(at) * inverse);
    const float middle = std::round((next * inverse + value) / 2);
    const float error = middle - std::round(f(at + half_step) * inverse);
    table[static_cast<size_t>(i)] = clamp(value - std::round(error / 2));
  }
  table[512] = clamp(std::round(f(end) * inverse));
  return table;
}

// A layer of int16 that applies such a table.
PreparedLayer PrepareInterpolated(const LayerView& layer, const InterpolatedTable& table);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_TABLE_H_
