// A library of operators that forgot to give them.
#include "intaglio/nn/formats/tflite/operator_library.h"

extern "C" const intaglio::nn::OperatorLibrary* IntaglioOperators() { return nullptr; }
