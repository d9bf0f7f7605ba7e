#include "intaglio/gemm/bind_panels.h"

#include <string>
#include <utility>

#include "intaglio/fixedpoint/float_environment.h"
#include "intaglio/gemm/check.h"
#include "intaglio/gemm/constant_channels.h"
#include "intaglio/gemm/fit_panel.h"
#include "intaglio/gemm/folded_params.h"
#include "intaglio/kernels/params_list.h"
#include "intaglio/pack/validate.h"

namespace intaglio {

static_assert(sizeof(PanelParams) / kMaxPanelWidth - BoundPipeline::kChannelBytes <= 1);
static_assert(sizeof(ParamsOfWidth<8>) / 8 - BoundPipeline::kChannelBytes <= 4);

Result<std::shared_ptr<const BoundPipeline::Storage>> BindPanels(const BindTarget& target,
                                                                 const StandardPipeline& pipeline,
                                                                 Type operand_type,
                                                                 int32_t operand_zero_point,
                                                                 const BindOptions& options) {
  const DefaultFloatEnvironment environment;
  const Panels& panels = *target.panels;
  const bool along_rows = target.channels_along == Axis::kRows;
  INTAGLIO_RETURN_IF_ERROR(
      Validate(pipeline, along_rows ? panels.channels : 1, along_rows ? 1 : panels.channels));
  if (operand_type != Type::kInt8 && operand_type != Type::kUInt8) {
    return Unsupported(std::string("bound pipeline: operands of ") + NameOf(operand_type));
  }
  INTAGLIO_RETURN_IF_ERROR(ValidateZeroPoint(operand_zero_point, operand_type));
  if ((pipeline.bias != nullptr || pipeline.per_channel) &&
      pipeline.axis != target.channels_along) {
    return InvalidArgument("bound pipeline: its channels are not those of the packed matrix");
  }
  INTAGLIO_RETURN_IF_ERROR(CheckDepth(panels, LargestDistance(operand_type, operand_zero_point)));
  const int width = panels.format.width();
  const size_t each = ParamsBytes(width);
  const size_t bytes = (panels.ranges.size() + (target.folded ? 1 : 0)) * each;
  auto storage = std::make_shared<BoundPipeline::Storage>(BoundPipeline::Storage{
      target.packed, target.panels, CandidatesOf(*target.kernel), pipeline, operand_type,
      operand_zero_point, MakeEpilogue(&pipeline), AlignedBuffer::Allocate(bytes),
      options.weights_from_memory, options.keep_rows_per_thread});
  if (bytes > 0 && storage->params.data() == nullptr) {
    return OutOfMemory("no memory to bind a pipeline");
  }
  const RowFacts rows{operand_zero_point + target.operand_move,
                      LargestDistance(operand_type, operand_zero_point)};
  auto* const first = static_cast<PanelForm*>(storage->params.data());
  storage->bounded_to_bytes = SizeOf(pipeline.output) == 1;
  const bool by_multiply_add =
      options.fit && target.takes_multiply_add && options.rows >= kRowsWorthAMultiplyAdd;
  const bool by_vector = options.fit && target.kernel->has_fma && options.rows >= kRowsWorthAFit;
  const WithSmallBiases small(panels, rows, pipeline);
  PanelFitter fitter(panels, rows, small.pipeline());
  for (size_t e = 0; e < panels.ranges.size(); ++e) {
    const PanelRange& panel = panels.ranges[e];
    MakeParams(width, ParamsAt(first, e, each), [&](PanelParams& params) {
      FillPanelParams(panels, panel, rows, &small.pipeline(), params);
      const bool fitted =
          by_multiply_add && FitPanelByMultiplyAdd(panels, panel, rows, small.pipeline(), params);
      if (!fitted && by_vector) fitter.Fit(panel, params);
      storage->bounded_to_bytes &= IsBounded(params, panel.vectors);
    });
  }
  if (target.folded) RepeatChannels(panels, first, each);
  return std::shared_ptr<const BoundPipeline::Storage>(std::move(storage));
}

namespace {

Status BoundToAnother(const BoundPipeline::Storage& bound, const Product& product) {
  if (product.panels != bound.panels) {
    return InvalidArgument("the pipeline was bound to another packed matrix");
  }
  return InvalidArgument(std::string("the pipeline was bound to operands of ") +
                         NameOf(bound.operand_type) + " with zero point " +
                         std::to_string(bound.operand_zero_point));
}

}  // namespace

Status UseBound(const BoundPipeline::Storage& bound, Product& product) {
  if (product.panels != bound.panels || product.rows.type() != bound.operand_type ||
      product.rows.raw_zero_point() != bound.operand_zero_point) {
    return BoundToAnother(bound, product);
  }
  product.kernel = ForProduct(bound.operand_type, product.size(), bound.kernels);
  product.weights_from_memory = bound.weights_from_memory;
  product.keep_rows_per_thread = bound.keep_rows_per_thread;
  if (product.standard != nullptr) {
    product.epilogue = bound.epilogue;
    product.params = bound.panel_params();
    product.tiles_take_windows = product.kernel->takes_windows && bound.bounded_to_bytes;
  }
  return {};
}

}  // namespace intaglio
