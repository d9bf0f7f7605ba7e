// Operands in the type that a peer takes. int8 and uint8 differ by 128 everywhere, zero points
// included, so the problem stays the same. Done before timing, in the peer's favour.
#ifndef INTAGLIO_BENCH_PEERS_BYTES_H_
#define INTAGLIO_BENCH_PEERS_BYTES_H_

#include <cstdint>

#include "intaglio/bench/harness/aligned.h"
#include "intaglio/fixedpoint/type.h"

namespace intaglio::bench {

// What is to be added to a number of type `from` to make it the same number of type `to`.
constexpr int32_t Shift(Type from, Type to) {
  return from == to ? 0 : to == Type::kUInt8 ? 128 : -128;
}

inline AlignedVector<uint8_t> Retyped(AlignedVector<uint8_t> bytes, Type from, Type to) {
  if (from != to) {
    for (uint8_t& byte : bytes) byte ^= 0x80;
  }
  return bytes;
}

}  // namespace intaglio::bench

#endif  // INTAGLIO_BENCH_PEERS_BYTES_H_
