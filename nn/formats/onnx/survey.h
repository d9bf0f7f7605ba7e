// Which operators of a file have a translation here.
#ifndef INTAGLIO_NN_FORMATS_ONNX_SURVEY_H_
#define INTAGLIO_NN_FORMATS_ONNX_SURVEY_H_

#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/formats/survey_row.h"

namespace intaglio::nn {

// Counts the nodes of the main graph by operator. The version of a row is the opset. A row says
// whether the operator is known in it; a node may be refused nevertheless, for its types or
// attributes (LoadOnnx says so). It is an error only if the file is damaged.
Result<std::vector<SurveyRow>> SurveyOnnx(const std::string& path);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_ONNX_SURVEY_H_
