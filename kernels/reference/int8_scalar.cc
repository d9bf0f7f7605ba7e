// The portable kernel: the same loops over the scalar vocabulary, for every CPU.
#include "intaglio/kernels/lines.h"
#include "intaglio/kernels/make_kernel.h"
#include "intaglio/kernels/reference/lookups.h"

namespace intaglio {
namespace {

struct KernelScalar : Scalar {
  static constexpr int kMaxVectors = 4;
  static constexpr int kMaxRows = 2;
  static constexpr int kDepthStep = 1;
  static constexpr int kRowBytes = 2;
  using Operand = int32_t;

  static INTAGLIO_INLINE Operand LoadPanel(const int8_t* p) { return *p; }
  static INTAGLIO_INLINE Operand LoadRow(const void* p) { return *static_cast<const int16_t*>(p); }
  static INTAGLIO_INLINE I32 Dot(I32 acc, Operand panel, Operand row) {
    return Add(acc, Mul(panel, row));
  }
  // Also keeps g++ 12 from vectorizing slim tiles, which at -O3 it gets wrong (K = 16, 17, 32, 33).
  static INTAGLIO_INLINE void Keep(I32& acc) { asm("" : "+r"(acc)); }
  static INTAGLIO_INLINE I32 FloatBits(F32 a) { return std::bit_cast<int32_t>(a); }

  static INTAGLIO_INLINE void StoreRuns(int32_t* p, ptrdiff_t, I32 a) { Store(p, a); }

  template <int kVectors>
  static INTAGLIO_INLINE void StoreInt16(int16_t* p, const I32* a) {
    for (int j = 0; j < kVectors; ++j) p[j] = static_cast<int16_t>(a[j]);
  }
  template <int kVectors, bool kSigned>
  static INTAGLIO_INLINE void StoreBytes(void* p, const I32* a, int32_t zero_point, int32_t min,
                                         int32_t max) {
    for (int j = 0; j < kVectors; ++j) {
      const int32_t word = Min(Max(a[j], -32768), 32767) + zero_point;
      static_cast<uint8_t*>(p)[j] = static_cast<uint8_t>(Min(Max(word, min), max));
    }
  }
};

struct BytesScalar {
  template <int kVectors>
  static INTAGLIO_INLINE void Widen(const uint8_t* p, uint8_t flip, int32_t* a) {
    for (int j = 0; j < kVectors; ++j) a[j] = p[j] ^ flip;
  }
  template <int kVectors, class T>
  static INTAGLIO_INLINE void LoadInOrder(const T* p, int32_t* a) {
    for (int j = 0; j < kVectors; ++j) a[j] = p[j];
  }
  template <int kVectors>
  static INTAGLIO_INLINE void WidenPairs(const uint8_t* a, const uint8_t* b, uint8_t flip,
                                         int32_t* pairs) {
    for (int j = 0; j < kVectors; ++j) pairs[j] = (a[j] ^ flip) | (b[j] ^ flip) << 16;
  }
  template <class Words>
  static INTAGLIO_INLINE int LeastWord(Words words) {
    int least = words[0];
    for (int i = 1; i < 8; ++i) least = std::min<int>(least, words[i]);
    return least;
  }
};

struct TapsScalar {
  static constexpr int kStep = 1;
  using Operand = int32_t;

  template <int kVectors>
  static INTAGLIO_INLINE void Interleave(const uint8_t* const (&rows)[kStep], uint8_t flip,
                                         Operand* groups) {
    for (int j = 0; j < kVectors; ++j) groups[j] = rows[0][j] ^ flip;
  }
  static INTAGLIO_INLINE Operand LoadWeights(const int8_t* p) { return *p; }
  static INTAGLIO_INLINE int32_t Dot(int32_t acc, Operand w, Operand x) {
    return KernelScalar::Dot(acc, w, x);
  }
};

}  // namespace

extern constinit const Kernel kKernelScalar =
    MakeKernel<KernelScalar, TapsScalar>({.name = "scalar",
                                          .needs = 0,
                                          .row_format = RowFormat::kWidened16,
                                          .lines = &kLines<KernelScalar, BytesScalar>,
                                          .lookups = &kLookupsScalar});

}  // namespace intaglio
