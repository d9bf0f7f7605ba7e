// The arrays that `--input [NAME=]FILE.npy` gives the inputs of a model.
#ifndef INTAGLIO_TOOLS_INPUTS_H_
#define INTAGLIO_TOOLS_INPUTS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/tools/model_io.h"

namespace intaglio::tools {

// The input of the model that an argument is for.
struct GivenInput {
  size_t index = 0;
  std::string value;
};

// Returns one element per argument of an option. An argument is NAME=VALUE if an input has that
// name. Otherwise it is a value for the next input in the model's order. It is an error if an input
// is given twice or does not exist.
Result<std::vector<GivenInput>> MatchInputs(const nn::Graph& graph, const std::string& option,
                                            const std::vector<std::string>& arguments);

// The shapes of all inputs: those that arguments such as [NAME=]1x3x224x224 give, and empty ones
// for the others.
Result<std::vector<nn::Shape>> ShapesFrom(const nn::Graph& signature,
                                          const std::vector<std::string>& arguments);

// Fills the inputs from files of their types and shapes. Returns, for each input of the model,
// whether it was given. If `resizable`, an error may advise --resize.
Result<std::vector<bool>> FillFromFiles(const nn::Model& model,
                                        const std::vector<std::string>& arguments, bool resizable,
                                        Buffers& buffers);

}  // namespace intaglio::tools

#endif  // INTAGLIO_TOOLS_INPUTS_H_
