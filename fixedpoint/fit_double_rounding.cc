#include "intaglio/fixedpoint/fit_double_rounding.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "intaglio/fixedpoint/fit_search.h"
#include "intaglio/fixedpoint/float_environment.h"
#include "intaglio/fixedpoint/requantize.h"

namespace intaglio {
namespace {

// Below and above, the origin has no integers, or not enough of them, on both sides.
constexpr int kLeastShift = 2;
constexpr int kMostShift = 20;

// Of smaller shifts, whose results are to lie above 0.
constexpr int32_t kNearOrigin = 256;
constexpr double kNearReach = 1.0 / (1 << 16);  // half of what float32 numbers are apart there

int32_t OriginOf(const DoubleRoundingTask& task) {
  return task.right_shift < kLeastShift ? kNearOrigin : 1 << (25 - task.right_shift);
}

// Of a normal number. The C library's ldexp is a call, and takes care of all others.
double PowerOfTwo(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(1023 + exponent) << 52);
}

// The accumulators at which the clamped result changes, by the formula of the header: quotients,
// rounded up, of products that are equally far apart, by a whole number of mantissas and a rest. A
// division each would take longer than all else. Real numbers hold them, of which there are vectors
// everywhere.
class Steps {
 public:
  Steps() = default;  // none

  explicit Steps(const DoubleRoundingTask& task) : first_(task.lowest + 1) {
    const int all = task.highest - task.lowest;
    const int64_t half = int64_t{1} << (30 + task.right_shift);
    step_ = static_cast<double>(2 * half / task.mantissa);
    rest_ = static_cast<double>(2 * half % task.mantissa) / task.mantissa;
    const double n = PowerOfTwo(-task.right_shift - 1);
    const int64_t reach = task.right_shift == 0 ? 0 : int64_t{1} << 30;  // n, of the products
    below_ = SideOf(task, 2 * n, reach);
    above_ = SideOf(task, task.right_shift < kLeastShift ? kNearReach : 4 * n, -reach);
    positive_ = std::clamp(1 - first_, 0, all);
    // As a rule all are within reach.
    const auto least = static_cast<double>(task.least);
    const auto most = static_cast<double>(task.most);
    end_ = all;
    while (begin_ < end_ && At(begin_) <= least) ++begin_;
    while (begin_ < end_ && At(end_ - 1) > most) --end_;
  }

  int count() const { return end_ - begin_; }
  int result(int i) const { return first_ + begin_ + i; }  // from at(i) on
  int32_t at(int i) const { return static_cast<int32_t>(At(begin_ + i)); }
  int32_t lowest() const { return at(0); }
  int32_t highest() const { return at(count() - 1); }

  // The least and the largest of reached(q) * one - slope * at, where x = q - reached is how far
  // below q the rounding to float32 reaches. Both products are integers, and to be below 2^53. By
  // vectors of kBytes, which change nothing.
  template <int kBytes>
  INTAGLIO_INLINE std::pair<double, double> Limits(double one, double slope) const {
    using V = typename Reals<kBytes>::V;
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    Limit<V> limits[2];
    for (Limit<V>& limit : limits) limit = {V{} + kInfinity, V{} - kInfinity};
    AddSide(below_, begin_, std::min(end_, positive_), one, slope, limits);
    AddSide(above_, std::max(begin_, positive_), end_, one, slope, limits);
    double least = kInfinity;
    double most = -kInfinity;
    for (const Limit<V>& limit : limits) {
      for (int i = 0; i < kLanes<V>; ++i) {
        least = std::min(least, limit.least[i]);
        most = std::max(most, limit.most[i]);
      }
    }
    return {least, most};
  }

 private:
  // The compiler's own vectors: of comparisons of reals it makes none.
  template <int kBytes>
  struct Reals {
    typedef double V __attribute__((vector_size(kBytes)));
  };
  template <class V>
  static constexpr int kLanes = sizeof(V) / sizeof(double);

  template <class V>
  struct Limit {
    INTAGLIO_INLINE void Add(const V& x) {
      least = x < least ? x : least;
      most = x > most ? x : most;
    }
    V least;
    V most;
  };

  // Of the q on one side of 0, all counted from place 0, though that be on the other side.
  struct Side {
    double at;       // at place 0, rounded up
    double rest;     // by which that is too much, of a mantissa, and what is added to round up
    double reached;  // at place 0
  };

  Side SideOf(const DoubleRoundingTask& task, double below, int64_t n) const {
    // Rests add up to a whole number or miss one by 2^-31 at least, and are summed with an error
    // below 2^-39. Rounded to the nearest with this much more, they are rounded up.
    constexpr double kAlmostHalf = 0.5 - 1.0 / (int64_t{1} << 33);
    const int64_t product = ((2 * int64_t{first_} - 1) << (30 + task.right_shift)) + n;
    const int64_t quotient = CeilDivide(product, task.mantissa);
    const auto rest = static_cast<double>(product - quotient * task.mantissa);
    return {static_cast<double>(quotient), rest / task.mantissa + kAlmostHalf, first_ - below};
  }

  double At(int place) const {
    const Side& side = place < positive_ ? below_ : above_;
    return side.at + step_ * place + Nearest(side.rest + rest_ * place);
  }

  // Of a number of less than 51 bits. Reals as large as kOnes are integers.
  static constexpr double kOnes = 3.0 * (int64_t{1} << 51);
  static double Nearest(double x) { return (x + kOnes) - kOnes; }

  // Two vectors of places at a time, which go on by sums: all but those of the rests are exact.
  template <class V>
  INTAGLIO_INLINE void AddSide(const Side& side, int begin, int end, double one, double slope,
                               Limit<V> (&limits)[2]) const {
    constexpr int kStep = 2 * kLanes<V>;
    const double step = one - slope * step_;
    const double start = side.reached * one - slope * side.at;
    V places[2] = {V{} + begin, V{} + begin};
    for (int i = 0; i < kStep; ++i) places[i / kLanes<V>][i % kLanes<V>] += i;
    V lines[2] = {start + step * places[0], start + step * places[1]};
    V rests[2] = {side.rest + rest_ * places[0], side.rest + rest_ * places[1]};
    int i = begin;
    for (; i + kStep <= end; i += kStep) {
      INTAGLIO_UNROLL
      for (int v = 0; v < 2; ++v) {
        limits[v].Add(lines[v] - slope * ((rests[v] + kOnes) - kOnes));
        lines[v] += kStep * step;
        rests[v] += kStep * rest_;
      }
    }
    if (i >= end) return;
    // The last place fills up the last vectors.
    INTAGLIO_UNROLL
    for (int v = 0; v < 2; ++v) {
      const V last = V{} + (end - 1);
      V place = places[v] + (i - begin);
      place = place < last ? place : last;
      const V rest = side.rest + rest_ * place;
      limits[v].Add(start + step * place - slope * ((rest + kOnes) - kOnes));
    }
  }

  int first_ = 0;     // q of place 0
  int positive_ = 0;  // the place of q = 1
  int begin_ = 0;
  int end_ = 0;
  double step_ = 0;  // from one q to the next
  double rest_ = 0;  // of a mantissa, that it takes beyond that
  Side below_ = {};
  Side above_ = {};
};

#if defined(__x86_64__)
[[gnu::target("avx2")]] std::pair<double, double> LimitsAvx2(const Steps& steps, double one,
                                                             double slope) {
  return steps.Limits<32>(one, slope);
}
#endif

// By vectors as wide as the machine has them: the search spends most of its time here.
std::pair<double, double> LimitsOf(const Steps& steps, double one, double slope) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") != 0) return LimitsAvx2(steps, one, slope);
#endif
  return steps.Limits<16>(one, slope);
}

// None of shifts beyond kMostShift.
Steps StepsOf(const DoubleRoundingTask& task) {
  if (task.mantissa == 0 || task.right_shift > kMostShift) return {};
  return Steps(task);
}

constexpr int kMostStretch = 63;  // that is tried

// A slope of fits: stretch * scale, the latter in units of 2^-(24 + right_shift + finer), of which
// it takes 2^23 to 2^24. The search is done in integers of this unit.
struct Slope {
  int64_t stretch;
  int64_t scale;
  int finer = 0;
  int64_t spacing;  // of addends: 4n for those below the origin, 8n for those on both sides
  int64_t one;

  Slope(const DoubleRoundingTask& task, int stretch) : stretch(stretch) {
    while (int64_t{task.mantissa} << finer < int64_t{stretch} << 30) ++finer;
    scale = ((int64_t{task.mantissa} << finer) / stretch + 64) >> 7;
    spacing = int64_t{1} << (stretch == 1 ? 25 : 26 + finer);
    one = int64_t{1} << (24 + task.right_shift + finer);
  }
};

// The values of scale * d + addend - origin for which every threshold is met: [low, high).
struct Room {
  int64_t low = 0;
  int64_t high = 0;

  // None where numbers are too large to be exact.
  Room(const Steps& thresholds, const Slope& slope) {
    constexpr int64_t kFar = int64_t{1} << 28;
    const int64_t step = slope.scale * slope.stretch;
    if (slope.stretch * thresholds.lowest() < -kFar) return;
    if (slope.stretch * thresholds.highest() > kFar) return;
    const auto [least, most] =
        LimitsOf(thresholds, static_cast<double>(slope.one), static_cast<double>(step));
    low = static_cast<int64_t>(most);
    high = static_cast<int64_t>(least) + step;
  }
};

float Stretched(const DoubleRoundingFit& fit, int32_t sum) {
  return Scalar::FusedMulAdd(Scalar::FloatOfBits(sum), fit.stretch, fit.shift);
}

// Where the sums are positive finite floats, and no result comes near the ends of int32: a zero
// point may be added to any.
bool StaysInRange(const DoubleRoundingFit& fit, int64_t least, int64_t most) {
  constexpr int64_t kBitsOfInfinity = 0x7f800000;
  if (!(fit.scale > 0) || !(fit.stretch > 0) || fit.origin < 0) return false;
  if (fit.base + least < 0 || fit.base + most >= kBitsOfInfinity) return false;
  const auto x = [&](int64_t sum) {
    return Scalar::FusedMulAdd(Stretched(fit, static_cast<int32_t>(sum)), fit.scale, fit.addend);
  };
  constexpr float kFarthestNumber = 1 << 30;
  return x(fit.base + least) >= -kFarthestNumber && x(fit.base + most) < kFarthestNumber;
}

int32_t Truth(const DoubleRoundingTask& task, int64_t acc) {
  const int32_t y = RequantizeDoubleRounding<Scalar>(static_cast<int32_t>(acc), task.mantissa, 0,
                                                     task.right_shift);
  return std::clamp(y, task.lowest, task.highest);
}

int32_t Fitted(const DoubleRoundingFit& fit, const DoubleRoundingTask& task, int64_t acc) {
  const auto sum = static_cast<int32_t>(fit.base + acc);
  const int32_t y =
      DoubleRoundingFitted<Scalar>(Stretched(fit, sum), fit.scale, fit.addend, fit.origin);
  return std::clamp(y, task.lowest, task.highest);
}

bool AgreesAtBothEnds(const DoubleRoundingFit& fit, const DoubleRoundingTask& task) {
  const auto agrees = [&](int64_t acc) { return Fitted(fit, task, acc) == Truth(task, acc); };
  return StaysInRange(fit, task.least, task.most) && agrees(task.least) && agrees(task.most);
}

// Whether a fit within the Room, of exact numbers, meets all thresholds, by the formulas of the
// header: origin + q is an even float32, so that ties are its, and the one below it is 4n away
// (from half the origin to the origin) or 8n (from there to twice the origin); of shifts below
// kLeastShift twice kNearReach.
bool RoomDecides(const DoubleRoundingTask& task, const Steps& thresholds) {
  const int32_t origin = OriginOf(task);
  const int above = task.right_shift < kLeastShift ? 0 : -origin / 2;
  return task.right_shift != kLeastShift && thresholds.result(0) > above &&
         thresholds.result(thresholds.count() - 1) <= origin;
}

// Finds d: scale * d modulo the spacing of addends takes as many values as there are ds.
std::optional<DoubleRoundingFit> FitSlope(const DoubleRoundingTask& task, const Steps& thresholds,
                                          const Slope& slope) {
  const Room room(thresholds, slope);
  if (room.low >= room.high) return std::nullopt;
  // On both sides of every threshold stretch * acc + d is an integer of at most 24 bits and, where
  // it is F itself, in [2^23, 2^24).
  const bool plain = slope.stretch == 1;
  const int64_t least = (plain ? int64_t{1} << 23 : 1 - (int64_t{1} << 24)) -
                        slope.stretch * (thresholds.lowest() - 1);
  const int64_t most = (int64_t{1} << 24) - 1 - slope.stretch * thresholds.highest();
  if (least > most) return std::nullopt;
  const int64_t low = Modulo(room.low - slope.scale * least, slope.spacing);
  const int64_t high = low + room.high - 1 - room.low;
  const int64_t steps =
      high >= slope.spacing ? 0 : FirstWithin(slope.scale, slope.spacing, low, high);
  const int64_t d = least + steps;
  if (steps < 0 || d > most) return std::nullopt;

  // The even half of the room's end is taken off, to get a multiple of the spacing.
  const int64_t last = room.high - 1 - slope.scale * d;
  const int64_t addend = last - Modulo(last, slope.spacing);
  // A multiple of 64 that M times the stretch is away from d, so that the shift is a float32.
  int64_t m = plain ? d : (int64_t{3} << 22) - (thresholds.lowest() + thresholds.highest()) / 2;
  while ((d - slope.stretch * m) % 64 != 0) ++m;

  const int exponent = -24 - task.right_shift - slope.finer;
  const int32_t origin = OriginOf(task);
  const double from_origin = static_cast<double>(addend) * PowerOfTwo(exponent);
  DoubleRoundingFit fit;
  fit.base = kBitsOfTwoTo23 + static_cast<int32_t>(m - (int64_t{1} << 23));
  fit.stretch = static_cast<float>(slope.stretch);
  fit.shift = static_cast<float>(d - slope.stretch * m);
  fit.scale = static_cast<float>(static_cast<double>(slope.scale) * PowerOfTwo(exponent));
  fit.addend = static_cast<float>(origin + from_origin);
  fit.origin = origin;
  const bool exact = static_cast<double>(fit.addend) == origin + from_origin &&
                     m + thresholds.lowest() - 1 >= int64_t{1} << 23 &&
                     m + thresholds.highest() < int64_t{1} << 24;
  const bool is = exact && RoomDecides(task, thresholds) ? AgreesAtBothEnds(fit, task)
                                                         : IsDoubleRounding(fit, task);
  return is ? std::optional(fit) : std::nullopt;
}

// Channels whose weights are all but zero have multipliers so small that one result is all.
std::optional<DoubleRoundingFit> FitConstant(const DoubleRoundingTask& task) {
  DoubleRoundingFit fit;
  // Sums around the bits of 2^23, wherever the accumulators lie.
  const int64_t base = kBitsOfTwoTo23 - (task.least + task.most) / 2;
  if (base > std::numeric_limits<int32_t>::max()) return std::nullopt;
  fit.base = static_cast<int32_t>(base);
  fit.scale = std::ldexp(1.0f, -40);
  fit.addend = static_cast<float>(2 * kFarthest + Truth(task, task.least)) + 0.25f;
  fit.origin = 2 * kFarthest;
  return IsDoubleRounding(fit, task) ? std::optional(fit) : std::nullopt;
}

}  // namespace

bool IsDoubleRounding(const DoubleRoundingFit& fit, const DoubleRoundingTask& task) {
  const DefaultFloatEnvironment environment;
  if (!IsWithinReach(task) || !StaysInRange(fit, task.least, task.most)) return false;
  const auto fitted = [&](int32_t acc) { return Fitted(fit, task, acc); };
  const auto agree = [&](int32_t first, int32_t last) {
    const int32_t y = Truth(task, first);
    return Truth(task, last) == y && fitted(first) == y && fitted(last) == y;
  };
  return AgreeOnEveryStep(task, StepsOf(task), agree);
}

std::optional<DoubleRoundingFit> FitDoubleRounding(const DoubleRoundingTask& task) {
  const DefaultFloatEnvironment environment;
  if (!IsWithinReach(task)) return std::nullopt;
  if (Truth(task, task.least) == Truth(task, task.most)) return FitConstant(task);
  const Steps thresholds = StepsOf(task);
  if (thresholds.count() == 0) return std::nullopt;
  if (task.right_shift < kLeastShift && task.lowest < 0) return std::nullopt;
  for (int stretch = 1; stretch <= kMostStretch; stretch += 2) {
    if (const auto fit = FitSlope(task, thresholds, Slope(task, stretch))) return fit;
  }
  return std::nullopt;
}

}  // namespace intaglio
