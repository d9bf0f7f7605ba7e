// What the passes did to a graph while its file was read.
#ifndef INTAGLIO_NN_PASSES_PASS_REPORT_H_
#define INTAGLIO_NN_PASSES_PASS_REPORT_H_

#include <cstddef>
#include <string>
#include <vector>

namespace intaglio::nn {

// Layers of one kind, as in 12 "products".
struct PassCount {
  std::string what;
  size_t count = 0;
};

struct PassReport {
  std::string name;
  std::string description;
  bool required = false;  // it cannot be switched off
  bool ran = false;
  size_t layers_before = 0;
  size_t layers_after = 0;
  std::vector<PassCount> counts;  // of all that the pass counts, also those that are 0
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_PASSES_PASS_REPORT_H_
