// Which operators of a file run here, and why the others do not.
#ifndef INTAGLIO_NN_FORMATS_TFLITE_SURVEY_H_
#define INTAGLIO_NN_FORMATS_TFLITE_SURVEY_H_

#include <span>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/formats/input_constant.h"
#include "intaglio/nn/formats/survey_row.h"
#include "intaglio/nn/formats/tflite/custom_operator.h"
#include "intaglio/nn/graph/limits.h"

namespace intaglio::nn {

// Tries each operator of the file by itself, within the limits, whether or not the operators before
// it run. Rows are in the order of first appearance. Types and operators may be any. It is an error
// only if no operator can be looked at, as in a damaged file.
Result<std::vector<SurveyRow>> SurveyTflite(const std::string& path, const Limits& limits = {},
                                            std::span<const CustomOperator> custom_operators = {},
                                            const std::vector<InputConstant>& constants = {});

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_TFLITE_SURVEY_H_
