// Compares whole networks: in turns, or by what earlier comparisons have found out.
#ifndef INTAGLIO_NN_TUNE_COMPARE_H_
#define INTAGLIO_NN_TUNE_COMPARE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/tune/job.h"
#include "intaglio/nn/tune/networks.h"
#include "intaglio/nn/tune/turns.h"

namespace intaglio::nn::tune {

class Comparison {
 public:
  struct Digests {
    uint64_t network;  // as it was given, with its other form
    uint64_t tuning;   // also of what decides which ways are measured
  };

  // Everything must outlive the comparison.
  Comparison(const Job& job, const Networks& networks, const Digests& digests)
      : job_(job), networks_(networks), digests_(digests) {}

  // Which candidate to take. kUnsupported says that none keeps the limits.
  Result<size_t> Pick();

  const std::vector<NetworkTime>& times() const { return times_; }  // of the candidates

 private:
  std::vector<Contender> Contenders() const;
  std::string KeyOf(const Candidate& candidate, bool is_clear) const;
  const Timing* Find(const Candidate& candidate) const;
  std::vector<double> Known();
  void Add(const Candidate& candidate, double ns);
  Result<size_t> TakeTurns();

  const Job& job_;
  const Networks& networks_;
  const Digests digests_;
  std::vector<NetworkTime> times_;
};

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_COMPARE_H_
