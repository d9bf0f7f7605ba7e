// The arrays that `--input [NAME=]FILE.npy` gives the inputs of a model.
#ifndef INTAGLIO_TOOLS_INPUTS_H_
#define INTAGLIO_TOOLS_INPUTS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph.h"
#include "intaglio/nn/model.h"
#include "intaglio/tools/model_io.h"

namespace intaglio::tools {

// Which input of the model an argument is for.
struct GivenInput {
  size_t index = 0;
  std::string path;
};

// One per argument: NAME=FILE where an input has that name; else a file, for the next input in the
// model's order. An error where an input is given twice or does not exist.
Result<std::vector<GivenInput>> MatchInputs(const nn::Graph& graph,
                                            const std::vector<std::string>& arguments);

// Fills the inputs from files of their types and shapes. Per input of the model: whether it was
// given. `resizable`: an error may tell of --resize.
Result<std::vector<bool>> FillFromFiles(const nn::Model& model,
                                        const std::vector<std::string>& arguments, bool resizable,
                                        Buffers& buffers);

}  // namespace intaglio::tools

#endif  // INTAGLIO_TOOLS_INPUTS_H_
