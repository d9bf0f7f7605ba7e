// SMMLA adds the exact products of two rows and two channels over eight depths. Accumulators stay
// as it leaves them, row 0 and row 1 of a pair in the halves of a register, until they are bytes.
#include <cstring>
#include <type_traits>

#include "intaglio/kernels/arm/bytes_neon.h"
#include "intaglio/kernels/arm/packing_neon.h"
#include "intaglio/kernels/arm/panel_neon.h"
#include "intaglio/kernels/arm/taps_neon.h"
#include "intaglio/kernels/elementwise/byte_elementwise.h"
#include "intaglio/kernels/make_kernel.h"

namespace intaglio {
namespace {

struct KernelI8mm : PanelNeon {
  static constexpr int kDepthStep = 8;
  static constexpr int kMaxRows = 8;
};

// Two channels of two rows: a "row" of this vocabulary is a pair of rows. What is loaded per
// channel is doubled by general registers and memory, beside which the vector units work on.
struct Pairs : PanelNeon {
  static constexpr int kLanes = 2;

  static INTAGLIO_INLINE I32 Load(const int32_t* p) {
    int64_t channels;
    std::memcpy(&channels, p, sizeof channels);
    const int64_t twice[2] = {channels, channels};
    return PanelNeon::Load(reinterpret_cast<const int32_t*>(twice));
  }
  static INTAGLIO_INLINE F32 LoadF(const float* p) {
    return vreinterpretq_f32_s32(Load(reinterpret_cast<const int32_t*>(p)));
  }
};

// What is loaded per channel many times over, doubled in memory once.
template <int kColumns>
class Doubled {
 public:
  template <class T>
  INTAGLIO_INLINE explicit Doubled(const T* channels) {
    static_assert(sizeof(T) == sizeof(int32_t));
    INTAGLIO_UNROLL
    for (int j = 0; j < kColumns; ++j) {
      std::memcpy(&twice_[j][0], channels + 2 * j, 8);
      std::memcpy(&twice_[j][2], channels + 2 * j, 8);
    }
  }
  INTAGLIO_INLINE int32x4_t Load(int j) const { return PanelNeon::Load(twice_[j]); }
  INTAGLIO_INLINE float32x4_t LoadF(int j) const { return vreinterpretq_f32_s32(Load(j)); }

 private:
  int32_t twice_[kColumns][4];
};

// acc[p][j] = what the accumulators of pair p and channels 2j, 2j + 1 start from.
template <int kPairs, int kColumns>
INTAGLIO_INLINE void Start(const int32_t* offset, int32x4_t (&acc)[kPairs][kColumns]) {
  const Doubled<kColumns> offsets(offset);
  ForTile<kColumns, kPairs>([&](int p, int j) { acc[p][j] = offsets.Load(j); });
}

template <int kPairs, int kColumns>
INTAGLIO_INLINE void AddProducts(const TileArgs& args, int first,
                                 int32x4_t (&acc)[kPairs][kColumns]) {
  const auto* rows = static_cast<const int8_t*>(args.rows) + first * args.row_stride;
  const int8_t* panel = args.panel;
  for (int g = 0; g < args.groups; ++g, rows += 64, panel += kColumns * 16) {
    int8x16_t x[kPairs];
    INTAGLIO_UNROLL
    for (int p = 0; p < kPairs; ++p) x[p] = vld1q_s8(rows + p * 16);
    INTAGLIO_UNROLL
    for (int j = 0; j < kColumns; ++j) {
      const int8x16_t w = vld1q_s8(panel + j * 16);
      INTAGLIO_UNROLL
      for (int p = 0; p < kPairs; ++p) {
        acc[p][j] = vmmlaq_s32(acc[p][j], x[p], w);
      }
    }
  }
}

template <int kRows, int kPairs, int kColumns>
INTAGLIO_INLINE void AddRowTerms(const int32_t* row_terms, int32x4_t (&acc)[kPairs][kColumns]) {
  int32_t terms[2 * kPairs] = {};
  std::memcpy(terms, row_terms, kRows * sizeof(int32_t));
  ForTile<kColumns, kPairs>([&](int p, int j) {
    const int32x4_t of_rows = vcombine_s32(vdup_n_s32(terms[2 * p]), vdup_n_s32(terms[2 * p + 1]));
    acc[p][j] = vaddq_s32(acc[p][j], of_rows);
  });
}

template <int kRows, int kPairs, int kColumns>
INTAGLIO_INLINE void AddRowSums(const TileArgs& args, int first,
                                int32x4_t (&acc)[kPairs][kColumns]) {
  int32_t sums[2 * kPairs] = {};
  std::memcpy(sums, args.row_sums + first, kRows * sizeof(int32_t));
  ForTile<kColumns, kPairs>([&](int p, int j) {
    const int32x4_t zero_points =
        Pairs::Load(ParamsIn<PanelNeon>(args)->negative_zero_point + 2 * j);
    const int32x4_t of_rows = vcombine_s32(vdup_n_s32(sums[2 * p]), vdup_n_s32(sums[2 * p + 1]));
    acc[p][j] = vmlaq_s32(acc[p][j], zero_points, of_rows);
  });
}

// The bytes of one pair of rows, eight channels (or four, twice): two of row 0, two of row 1, two
// of row 0, ...
template <bool kFits>
INTAGLIO_INLINE int16x8_t ToWords(int32x4_t low, int32x4_t high, int32_t zero_point) {
  if constexpr (kFits) {
    return PanelNeon::AddWords(PanelNeon::LowWords(low, high), zero_point);
  } else {
    return PanelNeon::AddWords(PanelNeon::NarrowToWords(low, high), zero_point);
  }
}

template <bool kSigned>
INTAGLIO_INLINE uint16x8_t NarrowPair(int16x8_t low, int16x8_t high) {
  return kSigned ? vreinterpretq_u16_s8(vqmovn_high_s16(vqmovn_s16(low), high))
                 : vreinterpretq_u16_u8(vqmovun_high_s16(vqmovun_s16(low), high));
}

template <bool kSigned, bool kFits, int kColumns>
INTAGLIO_INLINE uint16x8_t PairBytes(const EpilogueParams& e, const int32x4_t (&acc)[kColumns]) {
  const int16x8_t low = ToWords<kFits>(acc[0], acc[1], e.zero_point);
  const int16x8_t high =
      kColumns == 2 ? low : ToWords<kFits>(acc[kColumns - 2], acc[kColumns - 1], e.zero_point);
  return NarrowPair<kSigned>(low, high);
}

template <bool kSigned>
INTAGLIO_INLINE uint8x16_t Clamped(uint8x16_t bytes, int32_t min, int32_t max) {
  return vcombine_u8(PanelNeon::Clamped<kSigned>(vget_low_u8(bytes), min, max),
                     PanelNeon::Clamped<kSigned>(vget_high_u8(bytes), min, max));
}

// One half of a register: a row of eight channels, or of four, which it holds twice.
// By assembly: g++ would take the upper half out of the register first.
template <int kHalf, int kColumns>
INTAGLIO_INLINE void StoreHalf(uint8x16_t bytes, uint8_t* dst) {
  if constexpr (kColumns == 2) {
    vst1q_lane_u32(reinterpret_cast<uint32_t*>(dst), vreinterpretq_u32_u8(bytes), 2 * kHalf);
  } else if constexpr (kHalf == 0) {
    asm volatile("str %d1, %0" : "=m"(*reinterpret_cast<uint8_t(*)[8]>(dst)) : "w"(bytes));
  } else {
    asm volatile("st1 {%1.d}[1], %0" : "=Q"(*reinterpret_cast<uint8_t(*)[8]>(dst)) : "w"(bytes));
  }
}

template <bool kSigned, int kRows, int kColumns, int kPairs>
INTAGLIO_INLINE void StorePairs(const EpilogueParams& e, const uint16x8_t (&pairs)[kPairs],
                                uint8_t* dst, ptrdiff_t stride) {
  const bool clamps = e.clamp_max - e.clamp_min < 255;
  INTAGLIO_UNROLL
  for (int p = 0; p < kPairs; p += 2) {
    const uint16x8_t first = pairs[p];
    const uint16x8_t second = pairs[p + 1 < kPairs ? p + 1 : p];
    uint8x16_t rows[2] = {vreinterpretq_u8_u16(vuzp1q_u16(first, second)),   // 0 and 2
                          vreinterpretq_u8_u16(vuzp2q_u16(first, second))};  // 1 and 3
    INTAGLIO_UNROLL
    for (int i = 0; i < 2; ++i) {
      if (clamps) rows[i] = Clamped<kSigned>(rows[i], e.clamp_min, e.clamp_max);
      const int r = 2 * p + i;
      if (r < kRows) StoreHalf<0, kColumns>(rows[i], dst + r * stride);
      if (r + 2 < kRows) StoreHalf<1, kColumns>(rows[i], dst + (r + 2) * stride);
    }
  }
}

template <bool kSigned, bool kFits, int kRows, int kPairs, int kColumns>
INTAGLIO_INLINE void StoreBytes(const EpilogueParams& e, const int32x4_t (&acc)[kPairs][kColumns],
                                uint8_t* dst, ptrdiff_t stride) {
  uint16x8_t bytes[kPairs];
  INTAGLIO_UNROLL
  for (int p = 0; p < kPairs; ++p) bytes[p] = PairBytes<kSigned, kFits>(e, acc[p]);
  StorePairs<kSigned, kRows, kColumns>(e, bytes, dst, stride);
}

// Pair p scaled by kMultiplyAdd.
template <bool kSigned, int kColumns>
INTAGLIO_INLINE uint16x8_t FittedBytes(const float32x4_t (&scale)[kColumns],
                                       const Doubled<kColumns>& addends,
                                       const int32x4_t (&acc)[kColumns]) {
  float32x4_t x[kColumns];
  INTAGLIO_UNROLL
  for (int j = 0; j < kColumns; ++j) {
    x[j] = PanelNeon::FusedMulAdd(PanelNeon::FloatOfBits(acc[j]), scale[j], addends.LoadF(j));
  }
  const int16x8_t low = PanelNeon::LowWords(x[0], x[1]);
  if constexpr (kColumns == 2) return NarrowPair<kSigned>(low, low);
  return NarrowPair<kSigned>(low, PanelNeon::LowWords(x[kColumns - 2], x[kColumns - 1]));
}

template <bool kSigned, int kRows, int kPairs, int kColumns>
INTAGLIO_INLINE void StoreFitted(const ParamsOf<PanelNeon>& params, const EpilogueParams& e,
                                 const int32x4_t (&acc)[kPairs][kColumns], uint8_t* dst,
                                 ptrdiff_t stride) {
  const Doubled<kColumns> scales(params.scale);
  const Doubled<kColumns> addends(params.addend);
  float32x4_t scale[kColumns];
  INTAGLIO_UNROLL
  for (int j = 0; j < kColumns; ++j) scale[j] = scales.LoadF(j);
  uint16x8_t bytes[kPairs];
  INTAGLIO_UNROLL
  for (int p = 0; p < kPairs; ++p) bytes[p] = FittedBytes<kSigned>(scale, addends, acc[p]);
  StorePairs<kSigned, kRows, kColumns>(e, bytes, dst, stride);
}

// Any other output: row by row.
template <int kRows, int kPairs, int kColumns>
INTAGLIO_INLINE void StoreWider(const EpilogueParams& e, const int32x4_t (&acc)[kPairs][kColumns],
                                void* dst, ptrdiff_t stride) {
  int32x4_t rows[kRows][kColumns / 2];
  ForTile<kColumns / 2, kRows>([&](int r, int j) {
    const int64x2_t left = vreinterpretq_s64_s32(acc[r / 2][2 * j]);
    const int64x2_t right = vreinterpretq_s64_s32(acc[r / 2][2 * j + 1]);
    rows[r][j] =
        vreinterpretq_s32_s64(r % 2 == 0 ? vzip1q_s64(left, right) : vzip2q_s64(left, right));
  });
  StoreRows<PanelNeon, kColumns / 2, kRows>(e, rows, dst, stride);
}

template <int kVectors, int kRows>
void ComputePairs(const TileArgs& args, int first) {
  constexpr int kPairs = (kRows + 1) / 2;
  constexpr int kColumns = 2 * kVectors;
  const ParamsOf<PanelNeon>& params = *ParamsIn<PanelNeon>(args);
  int32x4_t acc[kPairs][kColumns];
  Start(params.offset, acc);
  AddProducts(args, first, acc);
  if (args.row_terms != nullptr) AddRowTerms<kRows>(args.row_terms + first, acc);
  if (args.row_sums != nullptr) AddRowSums<kRows>(args, first, acc);
  const EpilogueParams e = args.epilogue;
  auto* dst = static_cast<uint8_t*>(args.dst) + first * args.dst_stride;
  if (params.form == ScalingForm::kMultiplyAdd) {
    return e.output == Type::kInt8
               ? StoreFitted<true, kRows>(params, e, acc, dst, args.dst_stride)
               : StoreFitted<false, kRows>(params, e, acc, dst, args.dst_stride);
  }
  const bool to_bytes = SizeOf(e.output) == 1;
  if (to_bytes && params.fits_int16 && params.form == ScalingForm::kFloatHalfEvenBounded) {
    ScaleRows<Pairs>(HalfEvenLow<Pairs>(), params, acc, 0);
  } else {
    ApplyScaling<Pairs, kColumns, kPairs>(params, acc);
  }
  if (to_bytes) {
    const bool is_signed = e.output == Type::kInt8;
    if (params.fits_int16) {
      return is_signed ? StoreBytes<true, true, kRows>(e, acc, dst, args.dst_stride)
                       : StoreBytes<false, true, kRows>(e, acc, dst, args.dst_stride);
    }
    return is_signed ? StoreBytes<true, false, kRows>(e, acc, dst, args.dst_stride)
                     : StoreBytes<false, false, kRows>(e, acc, dst, args.dst_stride);
  }
  StoreWider<kRows>(e, acc, dst, args.dst_stride);
}

}  // namespace

// The tile of this kernel, which Tile (tile.h) finds in place of the general one.
template <class V, int kVectors, int kRows>
requires std::is_same_v<V, KernelI8mm>
void ComputeTile(const TileArgs& args, int first, int count) {
  if constexpr (kRows > 1) {
    if (count < kRows) return ComputeTile<V, kVectors, kRows - 1>(args, first, count);
  }
  ComputePairs<kVectors, kRows>(args, first);
}

extern constinit const Kernel kKernelI8mm =
    MakeKernel<KernelI8mm, TapsDotprod>({.name = "i8mm",
                                         .needs = kNeon | kDotprod | kI8mm,
                                         .row_format = RowFormat::kSigned8By8,
                                         .pack = kPanelRoutinesNeon<KernelI8mm>,
                                         .lines = &kLines<KernelI8mm, BytesNeon>});

}  // namespace intaglio
