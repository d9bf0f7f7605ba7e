// The values that `--constant NAME=VALUE` gives inputs of a model when its file is read.
#ifndef INTAGLIO_TOOLS_CONSTANTS_H_
#define INTAGLIO_TOOLS_CONSTANTS_H_

#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/formats/input_constant.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/tools/model_source.h"

namespace intaglio::tools {

// The values of arguments such as axes=0,1 or weights=FILE.npy. Numbers get the type of the input;
// they are a list, or one for a scalar, or as many as a shape of more dimensions holds.
Result<std::vector<nn::InputConstant>> ConstantsFrom(const nn::Graph& signature,
                                                     const std::vector<std::string>& arguments);

// The same for a file.
Result<std::vector<nn::InputConstant>> ConstantsOf(const ModelSource& source);

// The inputs of the file that a run still takes.
Result<nn::Graph> SignatureOf(const ModelSource& source);

}  // namespace intaglio::tools

#endif  // INTAGLIO_TOOLS_CONSTANTS_H_
