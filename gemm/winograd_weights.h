// When the filters of Winograd convolutions are transformed.
#ifndef INTAGLIO_GEMM_WINOGRAD_WEIGHTS_H_
#define INTAGLIO_GEMM_WINOGRAD_WEIGHTS_H_

#include <cstdint>

namespace intaglio {

// Transformed filters take eight times the bytes, from which a call that finds them in a cache
// gains, and a call that finds them in memory loses. The results are the same bits.
enum class WinogradWeights : uint8_t {
  kBySize,   // filters of 3x3, up to 128 * 128 pairs of channels, when they are packed; others in
             // each call
  kKept,     // when they are packed
  kPerCall,  // in each call
};

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_WINOGRAD_WEIGHTS_H_
