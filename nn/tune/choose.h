// What the measured ways of a layer say.
#ifndef INTAGLIO_NN_TUNE_CHOOSE_H_
#define INTAGLIO_NN_TUNE_CHOOSE_H_

#include <cstddef>
#include <vector>

#include "intaglio/nn/tune/adapter_times.h"
#include "intaglio/nn/tune/compose.h"
#include "intaglio/nn/tune/select.h"
#include "intaglio/nn/tune/transfer_times.h"
#include "intaglio/nn/tune/tune.h"

namespace intaglio::nn::tune {

// What a way counts as: its time or, if it gains less than noise and one percent over the untuned
// one, that one's.
double CountedTime(const LayerReport& report, size_t way);

// The fastest way on the CPU among those in the form that the network has, or among those that are
// converted. The first of equals; the number of ways if there is none.
size_t FastestOf(const LayerReport& report, bool converted);
// The same on the device.
size_t FastestOnDevice(const LayerReport& report, bool converted);

// Whether the best converted way takes twice as long as the best of the others, or longer.
bool IsFarBehind(const LayerReport& report);

LayerChoice ChoiceOf(const TimedWay& way);
// The ways with these indices, one for each layer.
std::vector<LayerWay> WaysFor(const std::vector<LayerReport>& reports,
                              const std::vector<size_t>& ways);

// What stands against time.
enum class Resource {
  kBytes,       // of packed constants
  kDifference,  // relative differences of converted layers, added up, in kDifferenceUnits
  kBoth,
};
inline constexpr double kDifferenceUnits = 1e9;

// What it costs to have a tensor in another schema. Without times of transfers, there is no device.
// Both must outlive it.
struct CrossingTimes {
  CrossingTimes(const AdapterTimes& a, const TransferTimes* t = nullptr)
      : adapters(a), transfers(t) {}

  const AdapterTimes& adapters;
  const TransferTimes* transfers;

  // In nanoseconds, from one schema of a problem to another.
  double Of(const OtherForm& form, TensorId tensor, int from, int to) const;
};

// A network as a problem of selection (select.h): schema 0 is the form that the network has, schema
// 1 the other one; 2 and 3 are the same on the device. Its tensors are those that have both forms
// or, with a device, all that layers write or inputs bring. Where differences count, layers whose
// difference was not measured are not converted.
struct NetworkProblem {
  Problem problem;
  std::vector<std::vector<size_t>> ways;  // by layer and option: the way
  // Layers that only change a form are priced as adapters, not as layers.
  bool has_adapter_layers = true;
};
NetworkProblem MakeProblem(const OtherForm& form, const std::vector<LayerReport>& reports,
                           const CrossingTimes& times, bool both_forms,
                           Resource resource = Resource::kBytes);

// The bytes of each tensor that may cross between the memories, in both forms if they are counted.
std::vector<size_t> SizesOfCrossings(const OtherForm& form, bool both_forms);

// The ways of a selection.
std::vector<size_t> WaysOf(const NetworkProblem& network, const Selection& selection);

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_CHOOSE_H_
