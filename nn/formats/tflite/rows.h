// How the operators are read from .tflite files and written into them: a row each, by family. To
// add an operator: its options in schema.fbs if the format has some, and in its family's file here
// a function that reads it, one that writes it, and its row.
#ifndef INTAGLIO_NN_FORMATS_TFLITE_ROWS_H_
#define INTAGLIO_NN_FORMATS_TFLITE_ROWS_H_

#include <span>

#include "intaglio/nn/formats/tflite/read.h"
#include "intaglio/nn/formats/tflite/write.h"
#include "intaglio/nn/graph/operator_row.h"

namespace intaglio::nn {

using Code = tflite::BuiltinOperator;

struct TfliteRow {
  Code code;
  // The last version that existed when the row was written. Later versions have types or options
  // that the row does not know. Types and options of earlier ones are checked themselves. 0: this
  // row only writes the operator, and another row with its code reads it.
  int max_version;
  Status (*read)(Translation& t);
  const OperatorRow* op = nullptr;         // null: there is no layer
  Status (*write)(Encoding& e) = nullptr;  // null: there are no parameters
  const char* types = nullptr;             // of what makes no layer
  const char* custom_name = nullptr;       // of an operator with the code CUSTOM
};

std::span<const TfliteRow> ControlRows();
std::span<const TfliteRow> DetectionRows();
std::span<const TfliteRow> ElementwiseRows();
std::span<const TfliteRow> LinearRows();
std::span<const TfliteRow> MovementRows();
std::span<const TfliteRow> RecurrentRows();
std::span<const TfliteRow> ReduceRows();
std::span<const TfliteRow> SliceRows();
std::span<const TfliteRow> WindowRows();

// Calls visit(row) for each row. Stops where it returns true, and returns the row; else null.
template <class Visit>
const TfliteRow* FindRow(const Visit& visit) {
  for (const auto rows :
       {ControlRows(), DetectionRows(), ElementwiseRows(), LinearRows(), MovementRows(),
        RecurrentRows(), ReduceRows(), SliceRows(), WindowRows()}) {
    for (const TfliteRow& row : rows) {
      if (visit(row)) return &row;
    }
  }
  return nullptr;
}

// A row's write: encode(parameters, e).
template <class Op, Status (*encode)(const Op&, Encoding&)>
Status WriteBy(Encoding& e) {
  return encode(e.layer().op<Op>(), e);
}

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_TFLITE_ROWS_H_
