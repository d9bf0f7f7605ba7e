// A shared library of custom operators, which the command loads (`intaglio run --operators`). It
// exports one function:
//
//   extern "C" const intaglio::nn::OperatorLibrary* IntaglioOperators() {
//     static constexpr intaglio::nn::OperatorLibrary kLibrary = {.operators = kOperators};
//     return &kLibrary;
//   }
#ifndef INTAGLIO_NN_FORMATS_TFLITE_OPERATOR_LIBRARY_H_
#define INTAGLIO_NN_FORMATS_TFLITE_OPERATOR_LIBRARY_H_

#include <cstdint>
#include <span>

#include "intaglio/nn/formats/tflite/custom_operator.h"
#include "intaglio/nn/formats/tflite/operator_interface.h"

namespace intaglio::nn {

struct OperatorLibrary {
  uint64_t interface = kOperatorInterface;
  std::span<const CustomOperator> operators;
};

// The name and the type of the function.
inline constexpr char kOperatorLibraryFunction[] = "IntaglioOperators";
using OperatorLibraryFunction = const OperatorLibrary*();

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_TFLITE_OPERATOR_LIBRARY_H_
