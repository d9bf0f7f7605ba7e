// What CONCATENATION copies where, whoever does it.
#ifndef INTAGLIO_NN_OPS_MOVEMENT_CONCATENATION_H_
#define INTAGLIO_NN_OPS_MOVEMENT_CONCATENATION_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "intaglio/nn/ops/support/table.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

// One input: in each of the outer steps, `bytes` of it are copied, through a table where its
// quantization is not the output's.
struct JoinedPart {
  size_t bytes = 0;
  std::optional<ByteTable> table;
};

struct JoinedParts {
  int axis = 0;  // not negative
  ptrdiff_t steps = 1;
  ptrdiff_t stride = 0;   // bytes of the output per step: the sum of the parts'
  bool by_lines = false;  // steps are lines of the last dimension
  std::vector<JoinedPart> parts;
};
// Errors name the layer.
Result<JoinedParts> JoinedPartsOf(const LayerView& layer);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_MOVEMENT_CONCATENATION_H_
