// The whole networks that a tuning chooses among: the untuned one, and selections of measured ways.
#ifndef INTAGLIO_NN_TUNE_NETWORKS_H_
#define INTAGLIO_NN_TUNE_NETWORKS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/nn/tune/adapter_times.h"
#include "intaglio/nn/tune/choose.h"
#include "intaglio/nn/tune/compose.h"
#include "intaglio/nn/tune/differences.h"
#include "intaglio/nn/tune/job.h"
#include "intaglio/nn/tune/select.h"

namespace intaglio::nn::tune {

// A way through the whole network.
struct Candidate {
  std::string name;
  std::vector<size_t> ways;  // by layer: which of its report's
  double predicted_ns = 0;
  Composed composed = {};
  std::unique_ptr<Model> model = {};  // null: the untuned one
  bool bounded = false;        // its results have other bits than those of the untuned network
  Difference difference = {};  // of outputs, if it is bounded
};

class Networks {
 public:
  // Both must outlive the networks.
  Networks(const Job& job, Differences& differences) : job_(job), differences_(differences) {}

  // Where the plan is empty, the network runs as it was given, and not as it was simplified.
  Status CountGivenBytes();

  // Adds the untuned network and the fastest one on the CPU in its own form. If there is a device,
  // the fastest mix of both, and the one of which it computes all that it can. If layers have two
  // forms, the fastest mix of everything, and the one that is all in the other form. Transfers are
  // null without a device.
  Status Add(bool both_forms, const AdapterTimes& adapters, const TransferTimes* transfers);

  const std::vector<Candidate>& candidates() const { return candidates_; }  // the untuned one first
  Model& ModelOf(const Candidate& candidate) const {
    return candidate.model == nullptr ? job_.measurer.untuned() : *candidate.model;
  }
  size_t BytesOf(const Candidate& candidate) const;
  bool Fits(const Candidate& candidate) const;
  // The least bytes of all networks that were prepared.
  size_t least_bytes() const;

  // Time and each amount without limits, for reports.
  std::vector<Tradeoff>& tradeoffs() { return tradeoffs_; }
  std::vector<Tradeoff>& accuracy() { return accuracy_; }

 private:
  bool ChangesBits(const Candidate& candidate) const;
  Result<Candidate> Prepare(const std::string& name, const NetworkProblem& network,
                            const Selection& selection);
  void Keep(Candidate candidate);
  NetworkProblem ProblemOf(bool both_forms, bool with_device, Resource resource) const;
  Status AddFastest(const std::string& name, bool both_forms, bool with_device);
  Status AddSelected(const std::string& name, const NetworkProblem& network,
                     const std::vector<size_t>& ways);
  void KeepTradeoffs(bool both_forms);
  Status AddWithin(const std::string& name, const NetworkProblem& network, bool by_difference);
  int64_t ExcessBytes(const Candidate& candidate) const;
  int64_t ExcessUnits(const Candidate& candidate) const;
  Status AddAllConverted();
  Status AddAllOnDevice();

  const Job& job_;
  Differences& differences_;
  AdapterTimes adapters_;
  const TransferTimes* transfers_ = nullptr;
  std::vector<Candidate> candidates_;
  std::vector<Tradeoff> tradeoffs_;
  std::vector<Tradeoff> accuracy_;
  size_t least_bytes_ = static_cast<size_t>(-1);
  size_t given_bytes_ = 0;  // of the network as it was given; 0: those of the untuned one
};

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_NETWORKS_H_
