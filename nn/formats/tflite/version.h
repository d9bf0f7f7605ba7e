// Inside the .tflite writer: versions of operators.
#ifndef INTAGLIO_NN_FORMATS_TFLITE_VERSION_H_
#define INTAGLIO_NN_FORMATS_TFLITE_VERSION_H_

#include <string_view>

#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

// The version of the operator `name` from which on TFLite takes what the layer has, as far as types
// decide it. A runtime older than a file refuses it by this number; none computes by it.
int TfliteVersion(std::string_view name, const LayerView& layer);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_TFLITE_VERSION_H_
