// Functions of one 8-bit number as tables of all their values.
#ifndef INTAGLIO_NN_OPS_TABLE_H_
#define INTAGLIO_NN_OPS_TABLE_H_

#include <array>
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

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_TABLE_H_
