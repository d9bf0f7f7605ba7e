// Which values the inputs of a model may have, so that its layers are defined there.
#ifndef INTAGLIO_TOOLS_INPUT_RANGES_H_
#define INTAGLIO_TOOLS_INPUT_RANGES_H_

#include <limits>
#include <vector>

#include "intaglio/nn/graph.h"

namespace intaglio::tools {

// Values as real numbers: dequantized where the tensor has a scale, else as they are stored.
struct Interval {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  bool bounded() const { return low > Interval().low || high < Interval().high; }

  // What lies in both; where nothing does, the end of `other` that is nearer. The ends of `other`
  // may be in either order.
  void Meet(const Interval& other);
};

// The intervals of a tensor's elements: element i has interval i modulo their number.
struct Range {
  std::vector<Interval> parts = {Interval()};  // at least one

  bool bounded() const;
  Interval Common() const;  // what all of them have in common
  void Meet(const Range& other);
};

// One range per input of the graph, which is valid. They follow from the layers that take
// indices or a shape or have a domain (GATHER, TRANSPOSE_CONV, SQRT, DIV), back through the layers
// that pass values on. Layers whose values depend on their inputs in other ways (a convolution) are
// not looked through.
std::vector<Range> RangesOfInputs(const nn::Graph& graph);

}  // namespace intaglio::tools

#endif  // INTAGLIO_TOOLS_INPUT_RANGES_H_
