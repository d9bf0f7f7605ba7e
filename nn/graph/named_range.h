// The interval of real numbers of a tensor that is named, for files.
#ifndef INTAGLIO_NN_GRAPH_NAMED_RANGE_H_
#define INTAGLIO_NN_GRAPH_NAMED_RANGE_H_

#include <string>

namespace intaglio::nn {

struct NamedRange {
  std::string tensor;  // its name, or "#12", its number, where no other name is sure
  float min = 0;
  float max = 0;

  bool operator==(const NamedRange&) const = default;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_GRAPH_NAMED_RANGE_H_
