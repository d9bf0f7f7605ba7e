// Which operators of a file run here, and why the others do not.
#ifndef INTAGLIO_NN_FORMATS_TFLITE_SURVEY_H_
#define INTAGLIO_NN_FORMATS_TFLITE_SURVEY_H_

#include <span>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/formats/tflite/custom_operator.h"
#include "intaglio/nn/graph/limits.h"

namespace intaglio::nn {

// Operators of one kind, version, type and fate.
struct SurveyRow {
  std::string name;  // "CONV_2D", "CUSTOM 'edgetpu-custom-op'"
  int version = 1;
  std::string type;  // of the first input, as in the file: "int8"; empty without inputs
  int count = 0;
  std::string why_not;  // empty: they run
};

// Tries each operator of the file by itself, within the limits, whether or not the operators before
// it run. Rows are in the order of first appearance. Types and operators may be any. It is an error
// only if no operator can be looked at, as in a damaged file.
Result<std::vector<SurveyRow>> SurveyTflite(const std::string& path, const Limits& limits = {},
                                            std::span<const CustomOperator> custom_operators = {});

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_TFLITE_SURVEY_H_
