// Shares the time of a tuning out to its steps.
#ifndef INTAGLIO_NN_TUNE_SCHEDULE_H_
#define INTAGLIO_NN_TUNE_SCHEDULE_H_

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

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
    if (budget_ < nanoseconds(0)) budget_ = Worth(effort);
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
  // Runs of whole networks in turns: of those to choose from, and a control. Networks that are
  // slower drop out, so twice the untuned one's share suffices for the converted one.
  static constexpr int kTurns = 31;

  static nanoseconds Worth(const Effort& effort) {
    constexpr nanoseconds kMost = std::chrono::seconds(18);
    const nanoseconds worth =
        std::chrono::milliseconds(1800) + 90 * effort.run + 10 * effort.prepare;
    return std::min(kMost, effort.both_forms ? worth * 13 / 10 : worth);
  }
  nanoseconds Turns() const {
    const int networks = (effort_.both_forms ? 5 : 3) + (effort_.device ? 2 : 0);
    const nanoseconds preparing = effort_.both_forms ? 5 * effort_.prepare : effort_.prepare;
    return std::min(budget_ * 45 / 100, kTurns * networks * effort_.run + preparing);
  }

  std::function<nanoseconds()> clock_;
  nanoseconds begin_;
  nanoseconds budget_;
  Effort effort_;
};

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_SCHEDULE_H_
