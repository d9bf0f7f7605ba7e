// Four neighbouring elements: what a thread of the element-wise operators reads and writes at once.
#ifndef INTAGLIO_KERNELS_CUDA_QUAD_H_
#define INTAGLIO_KERNELS_CUDA_QUAD_H_

#include <cstdint>

#include "intaglio/kernels/cuda/registers_cuda.h"

namespace intaglio::cuda {

inline constexpr int kQuad = 4;

template <class T>
struct alignas(kQuad * sizeof(T)) Elements {
  T of[kQuad];
};

template <class T>
INTAGLIO_INLINE bool AreWhole(const T* p, long long count) {
  return count >= kQuad && reinterpret_cast<uintptr_t>(p) % sizeof(Elements<T>) == 0;
}

// The elements p[0] to p[3], as far as there are `count`; then zeros.
template <class T>
INTAGLIO_INLINE Elements<T> LoadElements(const T* p, long long count) {
  if (AreWhole(p, count)) return *reinterpret_cast<const Elements<T>*>(p);
  Elements<T> elements{};
  INTAGLIO_UNROLL
  for (int j = 0; j < kQuad; ++j) {
    if (j < count) elements.of[j] = p[j];
  }
  return elements;
}

template <class T>
INTAGLIO_INLINE void StoreElements(const Elements<T>& elements, T* p, long long count) {
  if (AreWhole(p, count)) {
    *reinterpret_cast<Elements<T>*>(p) = elements;
  } else {
    INTAGLIO_UNROLL
    for (int j = 0; j < kQuad; ++j) {
      if (j < count) p[j] = elements.of[j];
    }
  }
}

// Bytes as a word, the first lowest.
INTAGLIO_INLINE uint32_t LoadQuad(const uint8_t* p, long long count) {
  return __builtin_bit_cast(uint32_t, LoadElements(p, count));
}
INTAGLIO_INLINE void StoreQuad(uint32_t quad, uint8_t* p, long long count) {
  StoreElements(__builtin_bit_cast(Elements<uint8_t>, quad), p, count);
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
