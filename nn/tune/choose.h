// What the measured ways of a layer say.
#ifndef INTAGLIO_NN_TUNE_CHOOSE_H_
#define INTAGLIO_NN_TUNE_CHOOSE_H_

#include <cstddef>
#include <vector>

#include "intaglio/nn/tune/adapter_times.h"
#include "intaglio/nn/tune/compose.h"
#include "intaglio/nn/tune/select.h"
#include "intaglio/nn/tune/tune.h"

namespace intaglio::nn::tune {

// What a way counts as: its time or, if it gains less than noise and one percent over the untuned
// one, that one's.
double CountedTime(const LayerReport& report, size_t way);

// The fastest way among those in the form that the network has, or among those that are converted.
// The first of equals; the number of ways if there is none.
size_t FastestOf(const LayerReport& report, bool converted);

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

// A network as a problem of selection (select.h): schema 0 is the form that the network has, schema
// 1 the other one. Its tensors are those that have both. Where differences count, layers whose
// difference was not measured are not converted.
struct NetworkProblem {
  Problem problem;
  std::vector<std::vector<size_t>> ways;  // by layer and option: the way
};
NetworkProblem MakeProblem(const OtherForm& form, const std::vector<LayerReport>& reports,
                           const AdapterTimes& adapters, bool both_forms,
                           Resource resource = Resource::kBytes);

// The ways of a selection.
std::vector<size_t> WaysOf(const NetworkProblem& network, const Selection& selection);

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_CHOOSE_H_
