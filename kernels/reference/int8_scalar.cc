// The portable kernel, for every CPU. It is also the kernel to copy (docs/extending.md): it is
// plain C++, and has no more than a kernel needs. All kernels share the loops and the epilogue,
// which are written over these vocabularies.
#include "intaglio/kernels/elementwise/byte_elementwise.h"
#include "intaglio/kernels/make_kernel.h"
#include "intaglio/kernels/reference/bytes_scalar.h"
#include "intaglio/kernels/reference/lookups.h"

namespace intaglio {
namespace {

// The vocabulary of products (tile.h, finish.h): the registers of an instruction set (Scalar), and
// what follows.
struct KernelScalar : Scalar {
  // A tile is kMaxRows rows by kMaxVectors vectors of channels. The registers hold its
  // accumulators, one in each lane.
  static constexpr int kMaxVectors = 4;
  static constexpr int kMaxRows = 2;
  // Dot multiplies so many depths, a depth group. A row has so many bytes for each group.
  static constexpr int kDepthStep = 1;
  static constexpr int kRowBytes = 2;

  // An operand holds a depth group in each lane: those of a vector of channels, or that of a row in
  // every lane.
  using Operand = int32_t;
  static INTAGLIO_INLINE Operand LoadPanel(const int8_t* p) { return *p; }
  static INTAGLIO_INLINE Operand LoadRow(const void* p) { return *static_cast<const int16_t*>(p); }
  // Dot is exact for all operands.
  static INTAGLIO_INLINE I32 Dot(I32 acc, Operand panel, Operand row) {
    return Add(acc, Mul(panel, row));
  }
  // Keep has accumulators stay in registers. It also keeps g++ 12 from vectorizing slim tiles,
  // which at -O3 it gets wrong (K = 16, 17, 32, 33).
  static INTAGLIO_INLINE void Keep(I32& acc) { asm("" : "+r"(acc)); }

  // A row of kVectors vectors of finished accumulators is written by one of these.
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

// The vocabulary of depthwise convolutions (depthwise_tile.h).
struct TapsScalar {
  // Dot multiplies so many kernel rows, of each of which every lane holds a byte.
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

// The row of the table: it states what does not follow from the vocabularies.
extern constinit const Kernel kKernelScalar =
    MakeKernel<KernelScalar, TapsScalar>({.name = "scalar",
                                          .needs = 0,
                                          .row_format = RowFormat::kWidened16,
                                          .lines = &kLines<KernelScalar, BytesScalar>,
                                          .lookups = &kLookupsScalar});

}  // namespace intaglio
