// Results of more than a byte: int16, int32 and float32.
#ifndef INTAGLIO_KERNELS_TILE_STORE_WORDS_H_
#define INTAGLIO_KERNELS_TILE_STORE_WORDS_H_

#include <cstdint>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/kernels/tile/epilogue.h"

namespace intaglio {

// clamp(acc + zero_point) in int32, where the sum saturates.
template <class V>
INTAGLIO_INLINE typename V::I32 ShiftAndClamp(typename V::I32 acc, const EpilogueParams& e) {
  if (e.zero_point > 0) acc = V::Min(acc, V::Set(INT32_MAX - e.zero_point));
  if (e.zero_point < 0) acc = V::Max(acc, V::Set(INT32_MIN - e.zero_point));
  acc = V::Add(acc, V::Set(e.zero_point));
  return V::Min(V::Max(acc, V::Set(e.clamp_min)), V::Set(e.clamp_max));
}

// Whether words of four bytes are stored as they are.
INTAGLIO_INLINE bool StoresPlainWords(const EpilogueParams& e) {
  return e.output == Type::kFloat32 || (e.output == Type::kInt32 && e.zero_point == 0 &&
                                        e.clamp_min == INT32_MIN && e.clamp_max == INT32_MAX);
}

// Writes one row of words of four bytes.
template <class V, int kVectors>
INTAGLIO_INLINE void StorePlainWords(const typename V::I32* acc, char* row) {
  if constexpr (requires { V::template StoreInt32<kVectors>(nullptr, acc); }) {
    V::template StoreInt32<kVectors>(reinterpret_cast<int32_t*>(row), acc);
  } else {
    constexpr int kRun = V::kLanes < 4 ? V::kLanes : 4;
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) {
      V::StoreRuns(reinterpret_cast<int32_t*>(row) + j * kRun, kRun * kVectors, acc[j]);
    }
  }
}

// Writes one row of scaled accumulators, or of the bits of float32.
template <class V, int kVectors>
INTAGLIO_INLINE void StoreWords(const EpilogueParams& e, typename V::I32 (&acc)[kVectors],
                                char* row) {
  if (StoresPlainWords(e)) return StorePlainWords<V, kVectors>(acc, row);
  INTAGLIO_UNROLL
  for (int j = 0; j < kVectors; ++j) acc[j] = ShiftAndClamp<V>(acc[j], e);
  if (e.output == Type::kInt16) {
    V::template StoreInt16<kVectors>(reinterpret_cast<int16_t*>(row), acc);
  } else {
    StorePlainWords<V, kVectors>(acc, row);
  }
}

// StorePlainWords for two rows, as ByteStore of finish_pairs.h.
template <class V>
struct WordStore {
  explicit INTAGLIO_INLINE WordStore(const EpilogueParams&) {}

  template <int kVectors>
  INTAGLIO_INLINE void Store(char* p, char* q, const typename V::I32* a,
                             const typename V::I32* b) const {
    StorePlainWords<V, kVectors>(a, p);
    StorePlainWords<V, kVectors>(b, q);
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_TILE_STORE_WORDS_H_
