// How the layers of childnets (nn/routine/childnet.h) are computed fastest.
//
// The layers of a childnet are measured in the childnet alone, as those of any network are, and so
// are the childnets of its layers. Then the fastest way of each layer is selected, innermost first
// (nest.h). What is selected becomes one more way to compute the layer that the childnet stands
// for, and is measured among the neighbours of that layer.
#ifndef INTAGLIO_NN_TUNE_CHILDNETS_H_
#define INTAGLIO_NN_TUNE_CHILDNETS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/tune/tune.h"

namespace intaglio::nn::tune {

// What was measured of a childnet.
struct ChildProfile {
  struct Inner;
  std::string routine;  // the name of the childnet, without layers
  Graph graph;
  std::vector<LayerReport> reports;  // of its layers; the untuned way first
  std::vector<Inner> childnets;      // of its layers
};
struct ChildProfile::Inner {
  size_t layer = 0;
  ChildProfile profile;
};

// A childnet whose layers are computed as selected.
struct TunedChildnet {
  std::string routine;           // the name, with the choices for its layers
  std::vector<ChildWay> layers;  // those that are not computed as by default
};

// Selects the fastest ways of all layers. Errors are those of SelectNest.
Result<TunedChildnet> SelectChildnet(const ChildProfile& profile);

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_CHILDNETS_H_
