// Finds values of a model's inputs for which its layers are defined.
#ifndef INTAGLIO_TOOLS_INPUT_RANGES_H_
#define INTAGLIO_TOOLS_INPUT_RANGES_H_

#include <limits>
#include <vector>

#include "intaglio/nn/graph/graph.h"

namespace intaglio::tools {

// Values as real numbers: dequantized if the tensor has a scale, otherwise as stored.
struct Interval {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  bool bounded() const { return low > Interval().low || high < Interval().high; }

  // Becomes the part that lies in both intervals. If there is none, it becomes the nearer end of
  // `other`. The ends of `other` may be in either order.
  void Meet(const Interval& other);
};

// The intervals of a tensor's elements. Element i has the interval i modulo the number of
// intervals.
struct Range {
  std::vector<Interval> parts = {Interval()};  // at least one

  bool bounded() const;
  Interval Common() const;  // the intersection of all of them
  void Meet(const Range& other);
};

// Returns one range per input of a valid graph. The ranges follow from layers that take indices or
// a shape, or that have a domain (GATHER, TRANSPOSE_CONV, SQRT, DIV). They are passed back through
// layers that pass values on. Layers whose values depend on their inputs in other ways, such as
// convolutions, pass nothing back.
std::vector<Range> RangesOfInputs(const nn::Graph& graph);

}  // namespace intaglio::tools

#endif  // INTAGLIO_TOOLS_INPUT_RANGES_H_
