// What a survey of a file says.
#ifndef INTAGLIO_NN_FORMATS_SURVEY_ROW_H_
#define INTAGLIO_NN_FORMATS_SURVEY_ROW_H_

#include <string>

namespace intaglio::nn {

// Operators of one kind, version, type and fate.
struct SurveyRow {
  std::string name;  // the format's: "CONV_2D", "Conv"
  int version = 1;
  std::string type;  // of the first input, as in the file: "int8"; may be empty
  int count = 0;
  std::string why_not;  // empty: they run
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_SURVEY_ROW_H_
