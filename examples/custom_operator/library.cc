// The operator as a library that the command loads.
#include <intaglio/nn/formats/tflite/operator_library.h>

#include "hard_shrink.h"

extern "C" const intaglio::nn::OperatorLibrary* IntaglioOperators() {
  static const intaglio::nn::OperatorLibrary kLibrary = {.operators = {&kHardShrinkInFiles, 1}};
  return &kLibrary;
}
