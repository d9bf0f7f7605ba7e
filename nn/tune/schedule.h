// Shares the time of a tuning out to its steps.
#ifndef INTAGLIO_NN_TUNE_SCHEDULE_H_
#define INTAGLIO_NN_TUNE_SCHEDULE_H_

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

#include "intaglio/nn/tune/turns.h"

namespace intaglio::nn::tune {

// What is known of a network before anything is tried.
struct Effort {
  std::chrono::nanoseconds prepare{0};  // preparing the untuned network
  std::chrono::nanoseconds run{0};      // running it
  bool both_forms = false;              // layers may compute in two forms
  bool device = false;                  // layers may run on a device
};

// A budget counts everything: preparing, measuring, comparing.
class Schedule {
 public:
  using nanoseconds = std::chrono::nanoseconds;

  // The least that is worth anything; a smaller budget counts as this one.
  static constexpr nanoseconds kLeast = std::chrono::milliseconds(200);
  // The most; a larger budget counts as this one. Shares of it do not overflow.
  static constexpr nanoseconds kMost = std::chrono::hours(24 * 7);

  // A negative budget: as much as the network is worth.
  Schedule(nanoseconds budget, std::function<nanoseconds()> clock)
      : clock_(std::move(clock)), begin_(Now()), budget_(budget) {}

  nanoseconds Now() const {
    return clock_ ? clock_() : std::chrono::steady_clock::now().time_since_epoch();
  }
  nanoseconds begin() const { return begin_; }

  void Plan(const Effort& effort) {
    effort_ = effort;
    if (budget_ < nanoseconds(0)) budget_ = Worth();
    budget_ = std::clamp(budget_, kLeast, kMost);
  }

  // When the whole tuning shall end, and its steps in their order.
  nanoseconds end() const { return begin_ + budget_; }
  nanoseconds EndOfOwnForm() const {
    const nanoseconds left = EndOfOtherForm() - begin_;
    return begin_ + (effort_.both_forms ? left * 55 / 100 : left);
  }
  nanoseconds EndOfOtherForm() const {
    return effort_.both_forms ? EndOfDifferences() - budget_ * 10 / 100 : EndOfDifferences();
  }
  nanoseconds EndOfDifferences() const { return end() - Turns(); }
  nanoseconds EndOfTurns() const { return end(); }

 private:
  // What is compared at least: the untuned network twice, and one other.
  static constexpr int kFewestNetworks = 3;

  nanoseconds Worth() const {
    constexpr nanoseconds kMost = std::chrono::seconds(18);
    const nanoseconds worth =
        std::chrono::milliseconds(1800) + 90 * effort_.run + 10 * effort_.prepare;
    const nanoseconds in_forms = effort_.both_forms ? worth * 13 / 10 : worth;
    return std::min(kMost, std::max(in_forms, TurnsOf(kFewestNetworks) * 100 / 60));
  }
  // Comparing so many networks. Runs in turns take a little longer than runs of one network, as
  // other ways to compute layers may to be prepared.
  nanoseconds TurnsOf(int networks) const {
    const nanoseconds runs = static_cast<int64_t>(kFewestTurns) * networks * effort_.run;
    return runs * 9 / 8 + (networks - 2) * (2 * effort_.prepare + 2 * effort_.run);
  }
  // The networks to choose from and a control get all the time that they need, if that is not too
  // much. Those that are slower drop out, so twice the untuned one's share suffices for the
  // converted one. At least one network gets enough turns to convince, unless that is most of the
  // time: then only great gains will do, for which fewer turns suffice.
  nanoseconds Turns() const {
    const int networks = kFewestNetworks + (effort_.both_forms ? 2 : 0) + (effort_.device ? 2 : 0);
    const nanoseconds part = budget_ * 45 / 100;
    const nanoseconds least = TurnsOf(kFewestNetworks);
    if (least > budget_ * 65 / 100) return part;
    return std::max(least, std::min(part, TurnsOf(networks)));
  }

  std::function<nanoseconds()> clock_;
  nanoseconds begin_;
  nanoseconds budget_;
  Effort effort_;
};

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_SCHEDULE_H_
