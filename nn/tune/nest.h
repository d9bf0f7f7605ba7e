// Options that are networks themselves: *childnets*. A dense layer may be a convolution between two
// reshapes, Winograd's convolution a transform, a product and a transform back, each with options
// of its own.
#ifndef INTAGLIO_NN_TUNE_NEST_H_
#define INTAGLIO_NN_TUNE_NEST_H_

#include <cstddef>
#include <vector>

#include "intaglio/nn/tune/select.h"

namespace intaglio::nn::tune {

// Says that an option of a layer is a net. The ends of that net have the option's schema, so that
// what is selected within does not depend on what is selected around it.
struct Childnet {
  size_t layer = 0;
  size_t option = 0;
  size_t net = 0;
};

// Net 0 is the whole network. A net stands behind all those that have it as a child. The time and
// bytes that an option with a childnet states are added to those of the net.
struct Nest {
  struct Net {
    Problem problem;
    std::vector<Childnet> children = {};
  };
  std::vector<Net> nets;
};

// The fastest selection of every net, by its number. Nets are solved innermost first: the time of
// one is that of the options that it stands for. Only the nets of options that are selected, from
// net 0 on, are part of the result.
//
// Errors are those of Select, and kInvalidArgument for a child that names no layer, option or net
// behind its own. A net that has no solution makes its options impossible, not the whole nest.
Result<std::vector<Selection>> SelectNest(const Nest& nest, const SelectLimits& limits = {});

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_NEST_H_
