// Times several contenders in turns, so that whatever else the machine does, and however its clock
// wanders, befalls all of them alike.
#ifndef INTAGLIO_BENCH_HARNESS_INTERLEAVE_H_
#define INTAGLIO_BENCH_HARNESS_INTERLEAVE_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "intaglio/bench/harness/quiet_watch.h"

namespace intaglio::bench {

struct Contender {
  std::string name;
  std::function<void()> run;  // one call
};

struct Budget {
  double seconds = 0.1;   // per contender, timed
  int min_rounds = 5;     // turns of each, whatever the seconds
  double settle_ms = 0;   // pause before each turn: other contenders' idle threads stop spinning
  bool cold = false;      // caches are swept before every single call
  bool cpu_time = false;  // the calling thread's CPU time instead of time: for busy machines
  QuietWatch* watch = nullptr;  // turns are to count in quiet moments only
};

// Of one call, in nanoseconds.
struct Timing {
  double min = 0;     // over all samples
  double median = 0;  // of all samples
  int64_t calls = 0;
  double quiet = 1;  // the part of the turns that the watch found quiet
};

// A sample is as many calls as take about 100 microseconds (one where cold); a turn is an untimed
// sample, which brings the contender's data back into the caches, then several timed ones. Turns go
// round until every contender has had its seconds.
std::vector<Timing> Interleave(std::span<const Contender> contenders, const Budget& budget);

}  // namespace intaglio::bench

#endif  // INTAGLIO_BENCH_HARNESS_INTERLEAVE_H_
