// Four neighbouring bytes: what a thread of the element-wise operators reads and writes at once.
#ifndef INTAGLIO_KERNELS_CUDA_QUAD_H_
#define INTAGLIO_KERNELS_CUDA_QUAD_H_

#include <cstdint>
#include <cstring>

#include "intaglio/kernels/cuda/registers_cuda.h"

namespace intaglio::cuda {

inline constexpr int kQuad = 4;

INTAGLIO_INLINE bool IsWholeQuad(const void* p, int count) {
  return count >= kQuad && reinterpret_cast<uintptr_t>(p) % kQuad == 0;
}

// The bytes p[0] to p[3], as far as there are `count`; then zeros.
INTAGLIO_INLINE uint32_t LoadQuad(const uint8_t* p, int count) {
  uint32_t quad = 0;
  if (IsWholeQuad(p, count)) {
    std::memcpy(&quad, __builtin_assume_aligned(p, kQuad), kQuad);
  } else {
    INTAGLIO_UNROLL
    for (int j = 0; j < kQuad; ++j) {
      if (j < count) quad |= static_cast<uint32_t>(p[j]) << (8 * j);
    }
  }
  return quad;
}

INTAGLIO_INLINE void StoreQuad(uint32_t quad, uint8_t* p, int count) {
  if (IsWholeQuad(p, count)) {
    std::memcpy(__builtin_assume_aligned(p, kQuad), &quad, kQuad);
  } else {
    INTAGLIO_UNROLL
    for (int j = 0; j < kQuad; ++j) {
      if (j < count) p[j] = static_cast<uint8_t>(quad >> (8 * j));
    }
  }
}

INTAGLIO_INLINE int32_t ByteOf(uint32_t quad, int j) {
  return static_cast<int32_t>(quad >> (8 * j) & 0xff);
}

// int8 numbers are taken as bytes in [0, 255], moved up by 128, as uint8 ones are; so are the zero
// points that are taken from them.
struct ByteType {
  bool is_signed;

  INTAGLIO_INLINE uint32_t flip() const { return is_signed ? 0x80808080u : 0; }
  INTAGLIO_INLINE int32_t moved() const { return is_signed ? 128 : 0; }
};

}  // namespace intaglio::cuda

#endif  // INTAGLIO_KERNELS_CUDA_QUAD_H_
