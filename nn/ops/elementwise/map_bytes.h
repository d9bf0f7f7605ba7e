// MAP_BYTES: any function of one number of 8 bits.
#ifndef INTAGLIO_NN_OPS_ELEMENTWISE_MAP_BYTES_H_
#define INTAGLIO_NN_OPS_ELEMENTWISE_MAP_BYTES_H_

#include <array>
#include <cstdint>

#include "intaglio/nn/graph/operator_row.h"

namespace intaglio::nn {

// Input and output are int8 or uint8. Element i of the table is the result's bits for the bits i.
// No .tflite form.
struct MapBytes {
  static const OperatorRow kRow;
  std::array<uint8_t, 256> table = {};
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_ELEMENTWISE_MAP_BYTES_H_
