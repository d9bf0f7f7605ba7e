#include "intaglio/gemm/bound_pipeline.h"

#include <new>
#include <string>
#include <utility>

#include "intaglio/fixedpoint/float_environment.h"
#include "intaglio/gemm/plan/bound_storage.h"
#include "intaglio/gemm/plan/check.h"
#include "intaglio/gemm/plan/constant_channels.h"
#include "intaglio/gemm/plan/dispatch.h"
#include "intaglio/gemm/plan/fit_panel.h"
#include "intaglio/gemm/plan/folded_params.h"
#include "intaglio/kernels/params_list.h"
#include "intaglio/pack/panels.h"
#include "intaglio/pack/validate.h"

namespace intaglio {

static_assert(sizeof(PanelParams) / kMaxPanelWidth - BoundPipeline::kChannelBytes <= 1);
static_assert(sizeof(ParamsOfWidth<8>) / 8 - BoundPipeline::kChannelBytes <= 4);

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

Result<BoundPipeline> BoundPipeline::Bind(const BindTarget& target,
                                          const StandardPipeline& pipeline, Type operand_type,
                                          int32_t operand_zero_point,
                                          const BindOptions& options) try {
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
  auto storage = std::make_shared<Storage>(
      Storage{target.packed, target.panels, CandidatesOf(*target.kernel), pipeline, operand_type,
              operand_zero_point, MakeEpilogue(&pipeline), AlignedBuffer::Allocate(bytes),
              options.weights_from_memory, options.keep_rows_per_thread, options.cutting});
  if (bytes > 0 && storage->params.data() == nullptr) throw std::bad_alloc();
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
  return BoundPipeline(std::move(storage));
} catch (const std::bad_alloc&) {
  return OutOfMemory("no memory to bind a pipeline");
}

Result<BoundPipeline> BoundPipeline::Bind(const PackedMatrix& matrix,
                                          const StandardPipeline& pipeline, Type operand_type,
                                          int32_t operand_zero_point, const BindOptions& options) {
  const auto of_format = KernelFor(matrix.panels().format);
  if (!of_format.ok()) return of_format.status();
  const Panels& panels = matrix.panels();
  const Kernel* kernel = ForProduct(operand_type, {options.rows, panels.channels, panels.groups},
                                    CandidatesOf(**of_format));
  const BindTarget target{matrix.shared_panels(),
                          &panels,
                          kernel,
                          RowMove(kernel->row_format, operand_type),
                          matrix.side() == Side::kLhs ? Axis::kRows : Axis::kCols,
                          kernel->takes_multiply_add};
  return Bind(target, pipeline, operand_type, operand_zero_point, options);
}

Status BoundPipeline::Storage::GiveTo(Product& product) const {
  if (product.panels != panels || product.rows.type() != operand_type ||
      product.rows.raw_zero_point() != operand_zero_point) {
    return BoundToAnother(*this, product);
  }
  product.kernel = ForProduct(operand_type, product.size(), kernels);
  product.weights_from_memory = weights_from_memory;
  product.keep_rows_per_thread = keep_rows_per_thread;
  product.cutting = cutting;
  if (product.standard != nullptr) {
    product.epilogue = epilogue;
    product.params = panel_params();
    product.tiles_take_windows = product.kernel->takes_windows && bounded_to_bytes;
  }
  return {};
}

Status BoundPipeline::HasOwnStages() {
  return Unsupported(
      "bound pipeline: it has stages of other kinds than the standard pipeline; give it to Gemm, "
      "GemmPlan or Depthwise as it is");
}

size_t BoundPipeline::bytes() const { return storage_ == nullptr ? 0 : storage_->params.bytes(); }

}  // namespace intaglio
