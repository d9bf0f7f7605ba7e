#include "intaglio/nn/ops/elementwise/dynamic_quantize.h"

#include <cstddef>
#include <memory>

#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/dynamic_quantizer.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {
namespace {

class DynamicQuantizeRoutine final : public Routine {
 public:
  DynamicQuantizeRoutine(ptrdiff_t count, const LayerOptions& options)
      : count_(count), quantizer_(options.kernel) {}

  Status Run(const RunArguments& arguments) const override {
    const HalfEvenQuantizer q =
        quantizer_.Quantize(arguments.context, static_cast<const float*>(arguments.inputs[0]),
                            count_, static_cast<uint8_t*>(arguments.outputs[0]));
    *static_cast<float*>(arguments.outputs[1]) = q.scale;
    *static_cast<uint8_t*>(arguments.outputs[2]) = static_cast<uint8_t>(q.zero_point);
    return {};
  }

 private:
  ptrdiff_t count_;
  DynamicQuantizer quantizer_;
};

Result<PreparedLayer> PrepareDynamicQuantize(const LayerView& layer, const LayerOptions& options) {
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.output(0), Type::kUInt8));
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.output(1), Type::kFloat32));
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.output(2), Type::kUInt8));
  PreparedLayer prepared;
  prepared.routine = std::make_shared<DynamicQuantizeRoutine>(
      static_cast<ptrdiff_t>(*CountElements(layer.output().shape)), options);
  return prepared;
}

ShapesResult InferDynamicQuantize(const LayerView& layer) {
  return std::vector<Shape>{layer.input(0).shape, {}, {}};
}

}  // namespace

constinit const OperatorRow DynamicQuantize::kRow = {
    .name = "DYNAMIC_QUANTIZE",
    .min_inputs = 1,
    .max_inputs = 1,
    .types = kFloat,
    .infer = InferDynamicQuantize,
    .candidates = Candidate{"quantize", PrepareDynamicQuantize, kAnyType, nullptr, /*bounded=*/0}};

}  // namespace intaglio::nn
