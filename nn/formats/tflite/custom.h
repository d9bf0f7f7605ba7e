// Inside the .tflite reader and writer: the operators of the user's own.
#ifndef INTAGLIO_NN_FORMATS_TFLITE_CUSTOM_H_
#define INTAGLIO_NN_FORMATS_TFLITE_CUSTOM_H_

#include <span>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/formats/tflite/custom_operator.h"
#include "intaglio/nn/formats/tflite/read.h"
#include "intaglio/nn/formats/tflite/write.h"

namespace intaglio::nn {

// Every element of the list is complete.
Status CheckCustomOperators(std::span<const CustomOperator> list);

// The element for an operator of a file with the code CUSTOM, or for a layer; null if there is
// none.
const CustomOperator* FindCustom(std::span<const CustomOperator> list,
                                 const tflite::OperatorCode& code);
const CustomOperator* FindCustom(std::span<const CustomOperator> list, const Operator& op);

Status ReadCustom(const CustomOperator& custom, Translation& t);
Status WriteCustom(const CustomOperator& custom, Encoding& e);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_TFLITE_CUSTOM_H_
