// REQUIRE: a run that needs a condition.
#ifndef INTAGLIO_NN_OPS_CONTROL_REQUIRE_H_
#define INTAGLIO_NN_OPS_CONTROL_REQUIRE_H_

#include <string>

#include "intaglio/nn/graph/operator_row.h"

namespace intaglio::nn {

// Inputs: x, and one bool. The output is x. Where the bool is not `expected`, the run fails, and
// `reason` is the error. No .tflite form.
struct Require {
  static const OperatorRow kRow;
  bool expected = true;
  std::string reason = {};
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_CONTROL_REQUIRE_H_
