// The range of a tensor's real numbers under the tensor's name, as files store it.
#ifndef INTAGLIO_NN_GRAPH_NAMED_RANGE_H_
#define INTAGLIO_NN_GRAPH_NAMED_RANGE_H_

#include <string>

namespace intaglio::nn {

struct NamedRange {
  std::string tensor;  // its name, or its number, such as "#12", if the name is unclear
  float min = 0;
  float max = 0;

  bool operator==(const NamedRange&) const = default;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_GRAPH_NAMED_RANGE_H_
