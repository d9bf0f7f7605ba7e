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

struct ZmmMix {
  static constexpr const char* kName = "mix-zmm";
  static constexpr uint32_t kNeeds = kAvx512Bw;
  static constexpr uint32_t kLookupsNeed = kAvx512Vbmi;
  static constexpr int kBytes = 64;

  static INTAGLIO_INLINE void Begin(const int32_t* numbers) {
    asm volatile("vcvtdq2ps (%0), %%zmm14\n\tvmovaps %%zmm14, %%zmm15"
                 :
                 : "r"(numbers)
                 : "xmm14", "xmm15");
  }
  template <MixKind kKind, int kResult>
  static INTAGLIO_INLINE void Step() {
    INTAGLIO_MIX_STEP(kPlain, "vpaddb %%zmm14, %%zmm15, %%zmm%c0")
    INTAGLIO_MIX_STEP(kProduct, "vpmaddwd %%zmm14, %%zmm15, %%zmm%c0")
    INTAGLIO_MIX_STEP(kLongProduct, "vpmulld %%zmm14, %%zmm15, %%zmm%c0")
    INTAGLIO_MIX_STEP(kShuffle, "vpunpcklbw %%zmm14, %%zmm15, %%zmm%c0")
    INTAGLIO_MIX_STEP(kShift, "vpsrad $3, %%zmm15, %%zmm%c0")
    INTAGLIO_MIX_STEP(kExtreme, "vpmaxub %%zmm14, %%zmm15, %%zmm%c0")
    INTAGLIO_MIX_STEP(kFloatExtreme, "vmaxps %%zmm14, %%zmm15, %%zmm%c0")
    INTAGLIO_MIX_STEP(kFloatSum, "vaddps %%zmm14, %%zmm15, %%zmm%c0")
    INTAGLIO_MIX_STEP(kConversion, "vcvtdq2ps %%zmm15, %%zmm%c0")
    INTAGLIO_MIX_STEP(kByteSum, "vpsadbw %%zmm14, %%zmm15, %%zmm%c0")
    INTAGLIO_MIX_STEP(kComparison, "vpcmpeqb %%zmm14, %%zmm15, %%k1")
    INTAGLIO_MIX_STEP(kLookup, "vpermi2b %%zmm14, %%zmm15, %%zmm%c0")
  }
};

// Without VPERMI2B, a lookup is VPSHUFB's, and comparisons fill vectors.
struct YmmMix {
  static constexpr const char* kName = "mix-ymm";
  static constexpr uint32_t kNeeds = kAvx2;
  static constexpr uint32_t kLookupsNeed = 0;
  static constexpr int kBytes = 32;

  static INTAGLIO_INLINE void Begin(const int32_t* numbers) {
    asm volatile("vcvtdq2ps (%0), %%ymm14\n\tvmovaps %%ymm14, %%ymm15"
                 :
                 : "r"(numbers)
                 : "xmm14", "xmm15");
  }
  template <MixKind kKind, int kResult>
  static INTAGLIO_INLINE void Step() {
    INTAGLIO_MIX_STEP(kPlain, "vpaddb %%ymm14, %%ymm15, %%ymm%c0")
    INTAGLIO_MIX_STEP(kProduct, "vpmaddwd %%ymm14, %%ymm15, %%ymm%c0")
    INTAGLIO_MIX_STEP(kLongProduct, "vpmulld %%ymm14, %%ymm15, %%ymm%c0")
    INTAGLIO_MIX_STEP(kShuffle, "vpunpcklbw %%ymm14, %%ymm15, %%ymm%c0")
    INTAGLIO_MIX_STEP(kShift, "vpsrad $3, %%ymm15, %%ymm%c0")
    INTAGLIO_MIX_STEP(kExtreme, "vpmaxub %%ymm14, %%ymm15, %%ymm%c0")
    INTAGLIO_MIX_STEP(kFloatExtreme, "vmaxps %%ymm14, %%ymm15, %%ymm%c0")
    INTAGLIO_MIX_STEP(kFloatSum, "vaddps %%ymm14, %%ymm15, %%ymm%c0")
    INTAGLIO_MIX_STEP(kConversion, "vcvtdq2ps %%ymm15, %%ymm%c0")
    INTAGLIO_MIX_STEP(kByteSum, "vpsadbw %%ymm14, %%ymm15, %%ymm%c0")
    INTAGLIO_MIX_STEP(kComparison, "vpcmpeqb %%ymm14, %%ymm15, %%ymm%c0")
    INTAGLIO_MIX_STEP(kLookup, "vpshufb %%ymm14, %%ymm15, %%ymm%c0")
  }
};

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
