// Shared libraries of custom operators (nn/formats/tflite/operator_library.h).
#ifndef INTAGLIO_TOOLS_OPERATOR_LIBRARY_H_
#define INTAGLIO_TOOLS_OPERATOR_LIBRARY_H_

#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/formats/tflite/custom_operator.h"

namespace intaglio::tools {

// Loads the libraries and returns the operators of all of them. They stay loaded, because models
// have their code.
Result<std::vector<nn::CustomOperator>> LoadOperators(const std::vector<std::string>& paths);

}  // namespace intaglio::tools

#endif  // INTAGLIO_TOOLS_OPERATOR_LIBRARY_H_
