// A shared library of custom operators, which the command loads (`intaglio run --operators`). It
// exports one function:
//
//   extern "C" const intaglio::nn::OperatorLibrary* IntaglioOperators() {
//     static constexpr intaglio::nn::OperatorLibrary kLibrary = {.operators = kOperators};
//     return &kLibrary;
//   }
#ifndef INTAGLIO_NN_FORMATS_TFLITE_OPERATOR_LIBRARY_H_
#define INTAGLIO_NN_FORMATS_TFLITE_OPERATOR_LIBRARY_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "intaglio/nn/formats/tflite/custom_operator.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

// Names the interface between the library and who loads it. It follows from the sizes of all that
// passes between them, and from a number that is raised if something else of it changes.
inline constexpr uint64_t kOperatorInterface = [] {
  constexpr uint64_t kNumber = 1;
  uint64_t interface = kNumber;
  for (const size_t size :
       {sizeof(CustomOperator), sizeof(OperatorRow), sizeof(Operator), sizeof(Graph), sizeof(Layer),
        sizeof(Tensor), sizeof(LayerView), sizeof(LayerOptions), sizeof(PreparedLayer),
        sizeof(RunArguments), sizeof(Status)}) {
    interface = interface * 1009 + size;
  }
  return interface;
}();

struct OperatorLibrary {
  uint64_t interface = kOperatorInterface;
  std::span<const CustomOperator> operators;
};

// The name and the type of the function.
inline constexpr char kOperatorLibraryFunction[] = "IntaglioOperators";
using OperatorLibraryFunction = const OperatorLibrary*();

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_TFLITE_OPERATOR_LIBRARY_H_
