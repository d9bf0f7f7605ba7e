#include "intaglio/bench/harness/quiet_watch.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>
#include <utility>

namespace intaglio::bench {
namespace {

constexpr double kHardlyLonger = 1.06;  // clocks alone wander by as much
constexpr int kFirstProbes = 1000;      // busy neighbours pause now and then
constexpr auto kPause = std::chrono::milliseconds(20);

double NowNs() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::nano>(now).count();
}

}  // namespace

QuietWatch::QuietWatch(std::function<void()> probe, double patience)
    : probe_(std::move(probe)),
      patience_ns_(patience * 1e9),
      left_ns_(patience_ns_),
      best_ns_(std::numeric_limits<double>::infinity()) {
  for (int i = 0; i < kFirstProbes; ++i) IsQuiet();
}

bool QuietWatch::IsQuiet() {
  const double start = NowNs();
  probe_();
  const double ns = NowNs() - start;
  best_ns_ = std::min(best_ns_, ns);
  return ns <= kHardlyLonger * best_ns_;
}

void QuietWatch::AwaitQuiet() {
  turn_began_ns_ = NowNs();
  while (left_ns_ > 0 && !IsQuiet()) {
    std::this_thread::sleep_for(kPause);
    const double now = NowNs();
    left_ns_ -= now - turn_began_ns_;
    turn_began_ns_ = now;
  }
}

Turn QuietWatch::Judge() {
  if (IsQuiet()) return Turn::kQuiet;
  if (left_ns_ <= 0) return Turn::kDisturbed;
  left_ns_ -= NowNs() - turn_began_ns_;
  return Turn::kAgain;
}

}  // namespace intaglio::bench
