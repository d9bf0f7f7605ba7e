// Names that a file gives the inputs and outputs of its model, besides those of tensors.
#ifndef INTAGLIO_NN_FORMATS_SIGNATURE_H_
#define INTAGLIO_NN_FORMATS_SIGNATURE_H_

#include <cstddef>
#include <string>
#include <vector>

namespace intaglio::nn {

// A file may have several, each with a key, such as "serving_default". No two have the same key.
struct Signature {
  // Positions, because passes and other shapes may replace tensors, but keep the order of inputs
  // and outputs.
  struct Entry {
    std::string name;
    size_t position = 0;  // in Graph::inputs or Graph::outputs
  };

  std::string key;
  // No two have the same name or the same position. Some inputs of the graph may have no name.
  std::vector<Entry> inputs;
  // No two have the same name. Two names may stand for one output.
  std::vector<Entry> outputs;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_SIGNATURE_H_
