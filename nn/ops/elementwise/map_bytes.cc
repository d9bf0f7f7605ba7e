#include "intaglio/nn/ops/elementwise/map_bytes.h"

#include <string>

#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/ops/support/table.h"

namespace intaglio::nn {
namespace {

Result<PreparedLayer> PrepareMapBytes(const LayerView& layer, const LayerOptions&) {
  const Type type = layer.output().type;
  if ((kEightBit & SetOf(type)) == 0) {
    return layer.Unsupported(std::string("the output is ") + NameOf(type) +
                             "; int8 or uint8 is supported");
  }
  return PrepareTable(layer, layer.op<MapBytes>().table);
}

}  // namespace

constinit const OperatorRow MapBytes::kRow = {.name = "MAP_BYTES",
                                              .min_inputs = 1,
                                              .max_inputs = 1,
                                              .types = kEightBit,
                                              .infer = InferUnary,
                                              .candidates = Candidate{"table", PrepareMapBytes}};

}  // namespace intaglio::nn
