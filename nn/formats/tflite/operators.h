// Inside the .tflite reader: operators.
#ifndef INTAGLIO_NN_FORMATS_TFLITE_OPERATORS_H_
#define INTAGLIO_NN_FORMATS_TFLITE_OPERATORS_H_

#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/formats/tflite/file.h"
#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn {

// What an operator of the file is; an error where it names none.
Result<tflite::BuiltinOperator> CodeAt(const TfliteFile& file, const tflite::Operator& op);

// Refuses a subgraph with an operator that cannot be translated. This check comes before all
// others, because its error is the one that the owner of a model needs first.
Status CheckOperators(const TfliteFile& file, const tflite::SubGraph& subgraph, Budget& budget);

// One operator of the file, tried by itself.
struct SurveyedOperator {
  std::string name;
  int version = 1;
  std::string type;  // of its first input
  Status status;
};
// Surveys all operators, after SurveyTensors, whose result is `tensors`. Behind an operator that
// can be translated, shapes follow from it; behind the others, they are the file's.
Result<std::vector<SurveyedOperator>> SurveyOperators(const TfliteFile& file,
                                                      const tflite::SubGraph& subgraph,
                                                      const std::vector<Status>& tensors,
                                                      const Limits& limits, Budget& budget,
                                                      Graph& graph);

// Translates every operator, one layer each, in the file's order, after CheckOperators and
// ReadTensors. Output tensors take the shapes that follow from the inputs, as they do in TFLite.
Status ReadOperators(const TfliteFile& file, const tflite::SubGraph& subgraph, Budget& budget,
                     Graph& graph);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_TFLITE_OPERATORS_H_
