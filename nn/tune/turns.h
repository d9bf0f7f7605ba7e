// Whole networks that run in turns, and which of them to take.
#ifndef INTAGLIO_NN_TUNE_TURNS_H_
#define INTAGLIO_NN_TUNE_TURNS_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/tune/pairs.h"

namespace intaglio::nn::tune {

// After so many turns, a network is faster beyond doubt if the interval of the ratio lies below 1.
inline constexpr size_t kFewestTurns = 31;
// Slow networks have no time for so many. With fewer turns, the interval must lie below a share
// that grows from this one to 1, because it is far less likely then that the network is not faster.
inline constexpr size_t kTurnsOfGreatGain = 9;
inline constexpr double kGreatGain = 0.75;
// What the interval must lie below after some turns; 0: nothing convinces yet.
constexpr double ConvincingRatio(size_t turns) {
  if (turns < kTurnsOfGreatGain) return 0;
  if (turns >= kFewestTurns) return 1;
  constexpr size_t kSteps = kFewestTurns - kTurnsOfGreatGain;
  const size_t steps = turns - kTurnsOfGreatGain;
  return kGreatGain + (1 - kGreatGain) * static_cast<double>(steps) / static_cast<double>(kSteps);
}
// More are never taken.
inline constexpr size_t kMostTurns = 201;

// The times of networks, in nanoseconds; turn i of each lies next to turn i of the others.
class Turns {
 public:
  explicit Turns(size_t networks)
      : times_(networks), is_out_(networks, false), is_slower_(networks, false) {}

  void Add(size_t network, double ns) { times_[network].push_back(ns); }
  // Lets a network drop out, because it is slower than network 0, or because there is no time for
  // it.
  void Drop(size_t network) { is_out_[network] = is_slower_[network] = true; }
  void LeaveOut(size_t network) { is_out_[network] = true; }
  bool IsOut(size_t network) const { return is_out_[network]; }
  bool IsSlower(size_t network) const { return is_slower_[network]; }
  // The turns of network 0, which the others may have dropped out of.
  size_t count() const;
  size_t count(size_t network) const { return times_[network].size(); }
  // The value below which a fifth of the times lie.
  double Estimate(size_t network) const;
  double Median(size_t network) const;
  // The median of network a's time over b's.
  MedianRatio Ratio(size_t a, size_t b) const;
  // Whether network a is faster than b beyond doubt, by more than the share `least`.
  bool IsFaster(size_t a, size_t b, double least) const;

 private:
  std::vector<std::vector<double>> times_;
  std::vector<bool> is_out_;
  std::vector<bool> is_slower_;
};

struct Contender {
  bool bounded = false;  // its results have other bits than those of network 0
  bool fits = true;      // it keeps the limits
};

// What a network must gain at least before turns end early, and bounded results in any case.
inline constexpr double kLeastExactGain = 0.01;
inline constexpr double kLeastBoundedGain = 0.02;

struct TurnOptions {
  std::vector<Contender> contenders;
  std::function<std::chrono::nanoseconds()> now;
  std::chrono::nanoseconds end{0};
  // Runs a network once; number contenders.size() is the control, network 0 again.
  std::function<Status(size_t network)> run;
  std::function<void(size_t turns)> progress = {};  // may be empty
};

// Runs all networks in turns, until it is clear which to take, or until the end. Who is slower than
// network 0 drops out soon, unless that does not fit. So do the slowest of the others where fewer
// networks have time for enough turns, but all do not. At least one turn is taken.
Result<Turns> TakeTurns(const TurnOptions& options);

// By what share the control, the network behind the others, differed from network 0.
double FloorOf(const Turns& turns, size_t control);

// The network to take: the first that fits, unless a later one that fits is faster than it beyond
// doubt, and by more than `floor`, the share by which equal networks differ. All exact ones are
// tried before those that are bounded. Those that were left out count only if no other gains
// anything. The number of networks if none fits.
size_t PickNetwork(const Turns& turns, const std::vector<Contender>& contenders, double floor);

// What turns say of a network, to be kept. Its time is less than that of network 0 only if it is
// faster beyond doubt.
struct Verdict {
  double ns = 0;
  size_t turns = 0;  // 0: there were too few
};
std::vector<Verdict> VerdictsOf(const Turns& turns, const std::vector<Contender>& contenders,
                                double floor);

// The network to take by verdicts that were kept: as PickNetwork would, had it these times.
size_t PickKnown(const std::vector<double>& ns, const std::vector<Contender>& contenders);

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_TURNS_H_
