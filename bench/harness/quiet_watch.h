// Tells when something else slows the machine down: a neighbour on the other thread of a core, a
// lower clock.
#ifndef INTAGLIO_BENCH_HARNESS_QUIET_WATCH_H_
#define INTAGLIO_BENCH_HARNESS_QUIET_WATCH_H_

#include <functional>

namespace intaglio::bench {

// What a turn is worth.
enum class Turn { kQuiet, kDisturbed, kAgain };

// Runs a probe, some 100 microseconds of fixed work, around every turn of a contender. A moment is
// quiet while the probe takes hardly longer than at best since the program began.
class QuietWatch {
 public:
  // Waits, and has turns taken again, for `patience` seconds in each case; then turns count as they
  // are.
  QuietWatch(std::function<void()> probe, double patience);

  void BeginCase() { left_ns_ = patience_ns_; }
  // Returns in a quiet moment, or where there is no patience left.
  void AwaitQuiet();
  // Of the turn since AwaitQuiet.
  Turn Judge();

 private:
  bool IsQuiet();

  std::function<void()> probe_;
  double patience_ns_;
  double left_ns_;
  double turn_began_ns_ = 0;
  double best_ns_;
};

}  // namespace intaglio::bench

#endif  // INTAGLIO_BENCH_HARNESS_QUIET_WATCH_H_
