// Runs a layer of int16 inputs and int8 weights as two products of 8 bits (linear16.h). The weights
// may be packed before or in each run.
#ifndef INTAGLIO_NN_OPS_LINEAR_RUN_16X8_H_
#define INTAGLIO_NN_OPS_LINEAR_RUN_16X8_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/gemm/depthwise.h"
#include "intaglio/gemm/gemm.h"
#include "intaglio/nn/ops/linear/conv.h"
#include "intaglio/nn/ops/linear/linear16.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

// weights(g) is the operand with the weights of group g.
template <class Weights>
Status RunProduct16x8(const RunArguments& arguments, const ConvShape& shape, const Linear16& layer,
                      const Weights& weights) {
  const Halves halves = HalvesIn(arguments.scratch, shape.inputs());
  Split(static_cast<const int16_t*>(arguments.inputs[0]), shape.inputs(), halves);
  const int columns = shape.group_outputs();
  for (int g = 0; g < shape.groups; ++g) {
    const Operand of_group = weights(g);
    const MutableMatrix products{halves.products, Type::kInt32, shape.rows(),
                                 columns,         columns,      Order::kRowMajor};
    INTAGLIO_RETURN_IF_ERROR(Gemm(arguments.context, shape.Input(halves.high, Type::kInt8, 0, g),
                                  of_group, products, StandardPipeline()));
    const AddHighHalves add{layer, halves.products, columns, g * columns};
    const MutableMatrix dst =
        shape.Output(arguments.outputs[0], Type::kInt16, arguments.output_stride, g);
    INTAGLIO_RETURN_IF_ERROR(Gemm(arguments.context, shape.Input(halves.low, Type::kUInt8, 0, g),
                                  of_group, dst, add.pipeline()));
  }
  return {};
}

inline Status RunDepthwise16x8(const RunArguments& arguments, const Im2col& view,
                               const Linear16& layer, const PackedDepthwise& filters) {
  const int64_t elements = int64_t{view.batch} * view.height * view.width * view.channels;
  const Halves halves = HalvesIn(arguments.scratch, elements);
  Split(static_cast<const int16_t*>(arguments.inputs[0]), elements, halves);
  Im2col source = view;
  source.data = halves.high;
  INTAGLIO_RETURN_IF_ERROR(
      Depthwise(arguments.context, source, filters, halves.products, StandardPipeline()));
  source.data = halves.low;
  source.type = Type::kUInt8;
  const AddHighHalves add{layer, halves.products, filters.channels(), 0};
  return Depthwise(arguments.context, source, filters, arguments.outputs[0], add.pipeline(),
                   arguments.output_stride / ptrdiff_t{sizeof(int16_t)});
}

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_LINEAR_RUN_16X8_H_
