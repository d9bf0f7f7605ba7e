// Assembly, so that no compiler has a say, and so that this file needs no flags: an instruction
// runs only where the CPU has it.
#ifndef INTAGLIO_BENCH_PEAK_MIX_X86_H_
#define INTAGLIO_BENCH_PEAK_MIX_X86_H_

#if defined(__x86_64__)

#include <cstddef>
#include <cstdint>
#include <utility>

#include "intaglio/bench/peak/mix.h"
#include "intaglio/bench/peak/peak.h"
#include "intaglio/fixedpoint/registers.h"
#include "intaglio/kernels/kernel.h"

namespace intaglio::bench {

inline constexpr int kMixResults = 12;  // vectors that are written in turn

// An instruction of this kind, of two vectors that hold small floats, whose bits do as integers.
#define INTAGLIO_MIX_STEP(kind, text)                                                              \
  if constexpr (kKind == MixKind::kind) {                                                          \
    asm volatile(text                                                                              \
                 :                                                                                 \
                 : "i"(kResult)                                                                    \
                 : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", \
                   "xmm10", "xmm11");                                                              \
  }
#define INTAGLIO_MIX_OF_TWO(kind, name, v) \
  INTAGLIO_MIX_STEP(kind, name " %%" v "14, %%" v "15, %%" v "%c0")

// All kinds by vectors whose registers are called v.
#define INTAGLIO_MIX(v, comparison, lookup)                                  \
  static INTAGLIO_INLINE void Begin(const int32_t* numbers) {                \
    asm volatile("vcvtdq2ps (%0), %%" v "14\n\tvmovaps %%" v "14, %%" v "15" \
                 :                                                           \
                 : "r"(numbers)                                              \
                 : "xmm14", "xmm15");                                        \
  }                                                                          \
  template <MixKind kKind, int kResult>                                      \
  static INTAGLIO_INLINE void Step() {                                       \
    INTAGLIO_MIX_OF_TWO(kPlain, "vpaddb", v)                                 \
    INTAGLIO_MIX_OF_TWO(kSaturatedSum, "vpaddsw", v)                         \
    INTAGLIO_MIX_OF_TWO(kProduct, "vpmaddwd", v)                             \
    INTAGLIO_MIX_OF_TWO(kLongProduct, "vpmulld", v)                          \
    INTAGLIO_MIX_OF_TWO(kShuffle, "vpunpcklbw", v)                           \
    INTAGLIO_MIX_OF_TWO(kPermutation, "vpackssdw", v)                        \
    INTAGLIO_MIX_STEP(kShift, "vpsrad $3, %%" v "15, %%" v "%c0")            \
    INTAGLIO_MIX_OF_TWO(kExtreme, "vpmaxub", v)                              \
    INTAGLIO_MIX_OF_TWO(kFloatExtreme, "vmaxps", v)                          \
    INTAGLIO_MIX_OF_TWO(kFloatSum, "vaddps", v)                              \
    INTAGLIO_MIX_STEP(kConversion, "vcvtdq2ps %%" v "15, %%" v "%c0")        \
    INTAGLIO_MIX_OF_TWO(kByteSum, "vpsadbw", v)                              \
    INTAGLIO_MIX_STEP(kComparison, comparison)                               \
    INTAGLIO_MIX_OF_TWO(kLookup, lookup, v)                                  \
  }

struct ZmmMix {
  static constexpr const char* kName = "mix-zmm";
  static constexpr uint32_t kNeeds = kAvx512Bw;
  static constexpr uint32_t kLookupsNeed = kAvx512Vbmi;
  static constexpr int kBytes = 64;

  INTAGLIO_MIX("zmm", "vpcmpeqb %%zmm14, %%zmm15, %%k1", "vpermi2b")
};

// Without VPERMI2B, a lookup is VPSHUFB's, and comparisons fill vectors.
struct YmmMix {
  static constexpr const char* kName = "mix-ymm";
  static constexpr uint32_t kNeeds = kAvx2;
  static constexpr uint32_t kLookupsNeed = 0;
  static constexpr int kBytes = 32;

  INTAGLIO_MIX("ymm", "vpcmpeqb %%ymm14, %%ymm15, %%ymm%c0", "vpshufb")
};

#undef INTAGLIO_MIX
#undef INTAGLIO_MIX_OF_TWO
#undef INTAGLIO_MIX_STEP

template <class Vectors, const Mix& kMix>
void RunMix(int64_t iterations) {
  static constexpr std::array<MixKind, kMixSteps> kSchedule = ScheduleOf(kMix);
  alignas(64) static constexpr int32_t kNumbers[16] = {1, 2, 3, 4, 5, 6, 7, 8,
                                                       9, 8, 7, 6, 5, 4, 3, 2};
  Vectors::Begin(kNumbers);  // which nothing else in here writes to
  for (; iterations > 0; --iterations) {
    []<size_t... kStep>(std::index_sequence<kStep...>) __attribute__((always_inline)) {
      (Vectors::template Step<kSchedule[kStep], kStep % kMixResults>(), ...);
    }
    (std::make_index_sequence<kMixSteps>());
  }
  asm volatile("vzeroupper");
}

template <class Vectors, const Mix& kMix>
constexpr PeakLoop MixLoop() {
  const uint32_t needs = Vectors::kNeeds | (kMix.lookups > 0 ? Vectors::kLookupsNeed : 0);
  return {Vectors::kName, double{kMixSteps} * Vectors::kBytes, needs, PeakOf::kBytes,
          &RunMix<Vectors, kMix>};
}

template <const Mix& kMix>
const PeakLoop* PeakOfMix() {
  static constexpr PeakLoop kLoops[] = {MixLoop<ZmmMix, kMix>(), MixLoop<YmmMix, kMix>()};
  for (const PeakLoop& loop : kLoops) {
    if (Runs(loop)) return &loop;
  }
  return BestPeak(PeakOf::kBytes);
}

}  // namespace intaglio::bench

#endif  // __x86_64__

#endif  // INTAGLIO_BENCH_PEAK_MIX_X86_H_
