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

// The fastest way among those in the schema that the network has, or among those in float32. The
// first of equals; the number of ways if there is none.
size_t FastestOf(const LayerReport& report, bool in_float);

// Whether the best way in float32 takes twice as long as the best of integers, or longer.
bool IsFarBehind(const LayerReport& report);

LayerChoice ChoiceOf(const TimedWay& way);
// The ways with these indices, one for each layer.
std::vector<LayerWay> WaysFor(const std::vector<LayerReport>& reports,
                              const std::vector<size_t>& ways);

// What stands against time.
enum class Resource {
  kBytes,       // of packed constants
  kDifference,  // relative differences of layers in float32, added up, in kDifferenceUnits
  kBoth,
};
inline constexpr double kDifferenceUnits = 1e9;

// A network as a problem of selection (select.h): schema 0 is the one that the network has, schema
// 1 is float32. Its tensors are those that have a form in float32. Where differences count, layers
// whose difference was not measured do not compute in float32.
struct NetworkProblem {
  Problem problem;
  std::vector<std::vector<size_t>> ways;  // by layer and option: the way
};
NetworkProblem MakeProblem(const Graph& graph, const std::vector<LayerReport>& reports,
                           const AdapterTimes& adapters, bool with_float,
                           Resource resource = Resource::kBytes);

// The ways of a selection.
std::vector<size_t> WaysOf(const NetworkProblem& network, const Selection& selection);

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_CHOOSE_H_
