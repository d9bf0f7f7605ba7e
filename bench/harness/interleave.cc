#include "intaglio/bench/harness/interleave.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace intaglio::bench {
namespace {

constexpr double kSampleNs = 100e3;
constexpr double kTurnNs = 2e6;
constexpr size_t kSweepBytes = size_t{64} << 20;  // more than the caches that one core fills alone

using Clock = std::chrono::steady_clock;

double NowNs(bool cpu_time) {
  if (!cpu_time) {
    return std::chrono::duration<double, std::nano>(Clock::now().time_since_epoch()).count();
  }
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

void SweepCaches() {
  static std::vector<uint64_t> memory(kSweepBytes / sizeof(uint64_t), 1);
  for (uint64_t& word : memory) ++word;
}

class Racer {
 public:
  Racer(const Contender& contender, const Budget& budget) : contender_(contender), budget_(budget) {
    contender_.run();  // first calls allocate and generate code
    const double once = TimeCalls(1);
    if (!budget_.cold) {
      // A second look, so that a slow first call does not make for short samples.
      const auto calls = std::max<int64_t>(1, static_cast<int64_t>(kSampleNs / 10 / once));
      const double each = TimeCalls(calls) / static_cast<double>(calls);
      calls_ = std::max<int64_t>(1, static_cast<int64_t>(kSampleNs / each));
    }
  }

  bool Done() const { return turns_ >= budget_.min_rounds && timed_ns_ >= budget_.seconds * 1e9; }

  void TakeTurn() {
    if (budget_.watch != nullptr) budget_.watch->AwaitQuiet();
    if (budget_.settle_ms > 0) {
      std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(budget_.settle_ms));
    }
    if (!budget_.cold) TimeCalls(calls_);
    const size_t before = samples_.size();
    double turn_ns = 0;
    do {
      if (budget_.cold) SweepCaches();
      const double ns = TimeCalls(calls_);
      samples_.push_back(ns / static_cast<double>(calls_));
      turn_ns += ns;
    } while (turn_ns < kTurnNs);
    const Turn turn = budget_.watch == nullptr ? Turn::kQuiet : budget_.watch->Judge();
    if (turn == Turn::kAgain) return samples_.resize(before);
    timed_ns_ += turn_ns;
    quiet_turns_ += turn == Turn::kQuiet ? 1 : 0;
    ++turns_;
  }

  Timing Finish() {
    std::sort(samples_.begin(), samples_.end());
    return {samples_.front(), samples_[samples_.size() / 2],
            calls_ * static_cast<int64_t>(samples_.size()),
            static_cast<double>(quiet_turns_) / turns_};
  }

 private:
  double TimeCalls(int64_t calls) const {
    const double start = NowNs(budget_.cpu_time);
    for (int64_t i = 0; i < calls; ++i) contender_.run();
    return NowNs(budget_.cpu_time) - start;
  }

  const Contender& contender_;
  const Budget& budget_;
  int64_t calls_ = 1;
  int turns_ = 0;
  int quiet_turns_ = 0;
  double timed_ns_ = 0;
  std::vector<double> samples_;
};

}  // namespace

std::vector<Timing> Interleave(std::span<const Contender> contenders, const Budget& budget) {
  if (budget.watch != nullptr) budget.watch->BeginCase();
  std::vector<Racer> racers;
  racers.reserve(contenders.size());
  for (const Contender& contender : contenders) racers.emplace_back(contender, budget);
  for (bool all_done = racers.empty(); !all_done;) {
    all_done = true;
    for (Racer& racer : racers) {
      if (racer.Done()) continue;
      racer.TakeTurn();
      all_done = false;
    }
  }
  std::vector<Timing> timings;
  for (Racer& racer : racers) timings.push_back(racer.Finish());
  return timings;
}

}  // namespace intaglio::bench
