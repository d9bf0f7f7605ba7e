// Operators of your own in .tflite files. The format calls them custom operators: each has a name,
// and options whose bytes mean something to that operator alone.
//
// Pass a list of them to the reader (ImportOptions) and to the writer (ExportOptions). Everything
// else treats their layers as it treats all others.
#ifndef INTAGLIO_NN_FORMATS_TFLITE_CUSTOM_OPERATOR_H_
#define INTAGLIO_NN_FORMATS_TFLITE_CUSTOM_OPERATOR_H_

#include <cstdint>
#include <span>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/layer_view.h"
#include "intaglio/nn/graph/operator.h"

namespace intaglio::nn {

struct CustomOperator {
  // In the file. A custom operator that the library knows by itself may be replaced by its name.
  const char* name = nullptr;
  // The row of the operators that `read` makes and that `write` writes.
  const OperatorRow* row = nullptr;
  // Makes the operator from its options, which may be empty. The layer has inputs and outputs, but
  // no operator yet, and its outputs have the shapes that the file declares. None of this is to be
  // trusted: an input may be absent, and there may be too many or too few of them. Inputs that the
  // row calls parameters are constants if they follow from constants. A constant may lie at any
  // address. Errors need not name the operator.
  Result<Operator> (*read)(std::span<const uint8_t> options, const LayerView& layer) = nullptr;
  // Makes the options of a layer with this operator. Null: the operator cannot be written.
  Result<std::vector<uint8_t>> (*write)(const LayerView& layer) = nullptr;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_TFLITE_CUSTOM_OPERATOR_H_
