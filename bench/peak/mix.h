// What bounds an operator that computes: its vector instructions by kinds, and a loop of as many of
// each kind, none of which waits for another, in registers. So the machine itself says what ports
// the kinds share.
#ifndef INTAGLIO_BENCH_PEAK_MIX_H_
#define INTAGLIO_BENCH_PEAK_MIX_H_

#include <array>
#include <cstddef>

#include "intaglio/bench/peak/peak.h"

namespace intaglio::bench {

// Kinds go to ports of their own on some machine. In brackets what stands for all of a kind.
struct Mix {
  double plain = 0;           // integer sums, logic, blends (VPADDB)
  double saturated_sums = 0;  // (VPADDSW)
  double products = 0;        // of words, of bytes, of floats, fused with sums or not (VPMADDWD)
  double long_products = 0;   // of 32 bits (VPMULLD)
  double shuffles = 0;        // unpacking, and others by constants (VPUNPCKLBW)
  double permutations = 0;    // packing, by vectors, widening (VPACKSSDW)
  double shifts = 0;          // (VPSRAD)
  double extremes = 0;        // the larger or smaller of bytes (VPMAXUB)
  double float_extremes = 0;  // (VMAXPS)
  double float_sums = 0;      // (VADDPS)
  double conversions = 0;     // between floats and integers (VCVTDQ2PS)
  double byte_sums = 0;       // of eight bytes (VPSADBW)
  double comparisons = 0;     // to masks (VPCMPEQB)
  double lookups = 0;         // of bytes in two vectors (VPERMI2B)
};

enum class MixKind {  // in the order of CountsOf
  kPlain,
  kSaturatedSum,
  kProduct,
  kLongProduct,
  kShuffle,
  kPermutation,
  kShift,
  kExtreme,
  kFloatExtreme,
  kFloatSum,
  kConversion,
  kByteSum,
  kComparison,
  kLookup
};
constexpr size_t kMixKinds = sizeof(Mix) / sizeof(double);

constexpr std::array<double, kMixKinds> CountsOf(const Mix& m) {
  return {m.plain,        m.saturated_sums, m.products,    m.long_products,  m.shuffles,
          m.permutations, m.shifts,         m.extremes,    m.float_extremes, m.float_sums,
          m.conversions,  m.byte_sums,      m.comparisons, m.lookups};
}
constexpr double Total(const Mix& m) {
  double total = 0;
  for (const double count : CountsOf(m)) total += count;
  return total;
}
constexpr Mix Combined(const Mix& a, double x, const Mix& b, double y) {
  return {a.plain * x + b.plain * y,
          a.saturated_sums * x + b.saturated_sums * y,
          a.products * x + b.products * y,
          a.long_products * x + b.long_products * y,
          a.shuffles * x + b.shuffles * y,
          a.permutations * x + b.permutations * y,
          a.shifts * x + b.shifts * y,
          a.extremes * x + b.extremes * y,
          a.float_extremes * x + b.float_extremes * y,
          a.float_sums * x + b.float_sums * y,
          a.conversions * x + b.conversions * y,
          a.byte_sums * x + b.byte_sums * y,
          a.comparisons * x + b.comparisons * y,
          a.lookups * x + b.lookups * y};
}
constexpr Mix operator+(const Mix& a, const Mix& b) { return Combined(a, 1, b, 1); }
constexpr Mix operator*(double times, const Mix& m) { return Combined(m, times, {}, 0); }

constexpr int kMixSteps = 120;  // instructions of an iteration

// The kind of each instruction, so that at any place each has had its share.
constexpr std::array<MixKind, kMixSteps> ScheduleOf(const Mix& mix) {
  const std::array<double, kMixKinds> counts = CountsOf(mix);
  const double total = Total(mix);
  std::array<MixKind, kMixSteps> schedule{};
  std::array<int, kMixKinds> taken{};
  for (int step = 0; step < kMixSteps; ++step) {
    size_t next = 0;
    double lag = -1;
    for (size_t kind = 0; kind < kMixKinds; ++kind) {
      const double due = counts[kind] / total * (step + 1) - taken[kind];
      if (due > lag) lag = due, next = kind;
    }
    ++taken[next];
    schedule[static_cast<size_t>(step)] = static_cast<MixKind>(next);
  }
  return schedule;
}

// The loop of a mix; its ops are instructions times the bytes of a vector.
template <const Mix& kMix>
const PeakLoop* PeakOfMix();

}  // namespace intaglio::bench

#if defined(__x86_64__)
#include "intaglio/bench/peak/mix_x86.h"
#else
// Nobody has written such loops here: all instructions count as plain ones.
template <const intaglio::bench::Mix& kMix>
const intaglio::bench::PeakLoop* intaglio::bench::PeakOfMix() {
  return BestPeak(PeakOf::kBytes);
}
#endif

#endif  // INTAGLIO_BENCH_PEAK_MIX_H_
