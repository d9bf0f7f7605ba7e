// A number that tells damaged bytes from whole ones, at the speed of memory.
#ifndef INTAGLIO_BINDINGS_C_CHECKSUM_H_
#define INTAGLIO_BINDINGS_C_CHECKSUM_H_

#include <cstdint>
#include <span>

namespace intaglio::c {

// Any change within one 8-byte word changes the sum, because each step is a bijection of the word
// and of what came before it. Other changes go unnoticed once in 2^64. It is no defence against
// somebody who wants the sum to match. Sums of several stretches are chained by `seed`.
uint64_t Checksum(std::span<const uint8_t> bytes, uint64_t seed = 0);

}  // namespace intaglio::c

#endif  // INTAGLIO_BINDINGS_C_CHECKSUM_H_
