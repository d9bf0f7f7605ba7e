#include "intaglio/bindings/c/checksum.h"

#include <bit>
#include <cstddef>
#include <cstring>

namespace intaglio::c {
namespace {

constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;  // odd, so that a product by it can be undone

uint64_t Mix(uint64_t lane, uint64_t word) { return std::rotl((lane ^ word) * kFactor, 29); }

uint64_t WordAt(const uint8_t* at, size_t bytes = sizeof(uint64_t)) {
  uint64_t word = 0;
  std::memcpy(&word, at, bytes);
  return word;
}

}  // namespace

uint64_t Checksum(std::span<const uint8_t> bytes, uint64_t seed) {
  // Four lanes, so that one multiplication need not wait for another.
  uint64_t lanes[4] = {seed, seed + 1, seed + 2, seed + 3};
  const uint8_t* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= sizeof(lanes); left -= sizeof(lanes), at += sizeof(lanes)) {
    for (int i = 0; i < 4; ++i) lanes[i] = Mix(lanes[i], WordAt(at + 8 * i));
  }
  for (; left >= 8; left -= 8, at += 8) lanes[0] = Mix(lanes[0], WordAt(at));
  if (left > 0) lanes[1] = Mix(lanes[1], WordAt(at, left));
  uint64_t sum = bytes.size();
  for (const uint64_t lane : lanes) sum = Mix(sum, lane);
  return sum ^ (sum >> 31);
}

}  // namespace intaglio::c
