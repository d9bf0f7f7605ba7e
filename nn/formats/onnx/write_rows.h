// How layers are written into .onnx files: a row for each operator, by family. To add an operator,
// write in its family's file a function that adds its nodes, and its row.
#ifndef INTAGLIO_NN_FORMATS_ONNX_WRITE_ROWS_H_
#define INTAGLIO_NN_FORMATS_ONNX_WRITE_ROWS_H_

#include <span>

#include "intaglio/nn/formats/onnx/layer_writer.h"
#include "intaglio/nn/graph/operator_row.h"

namespace intaglio::nn::onnx {

struct WriteRow {
  const OperatorRow* op;
  // Reads the layer's inputs from `w` and sets all its outputs there. What it cannot write, it
  // refuses there.
  void (*write)(LayerWriter& w, const WriteRow& row);
  const char* name = nullptr;  // of the node, where one function writes many operators
};

std::span<const WriteRow> ElementwiseWriteRows();
std::span<const WriteRow> LinearWriteRows();
std::span<const WriteRow> MovementWriteRows();
std::span<const WriteRow> PartsWriteRows();
std::span<const WriteRow> QuantizedWriteRows();
std::span<const WriteRow> RecurrentWriteRows();
std::span<const WriteRow> ReduceWriteRows();
std::span<const WriteRow> WindowWriteRows();

// Calls visit(row) for each row. Stops where it returns true, and returns the row; else null.
template <class Visit>
const WriteRow* FindWriteRow(const Visit& visit) {
  for (const auto rows :
       {ElementwiseWriteRows(), LinearWriteRows(), MovementWriteRows(), PartsWriteRows(),
        QuantizedWriteRows(), RecurrentWriteRows(), ReduceWriteRows(), WindowWriteRows()}) {
    for (const WriteRow& row : rows) {
      if (visit(row)) return &row;
    }
  }
  return nullptr;
}

// A row's write: write(parameters, w).
template <class Op, void (*write)(const Op&, LayerWriter&)>
void WriteBy(LayerWriter& w, const WriteRow&) {
  write(w.layer().op<Op>(), w);
}

}  // namespace intaglio::nn::onnx

#endif  // INTAGLIO_NN_FORMATS_ONNX_WRITE_ROWS_H_
