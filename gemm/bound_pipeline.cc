#include "intaglio/gemm/bound_pipeline.h"

#include <new>
#include <string>
#include <utility>

#include "intaglio/gemm/dispatch.h"
#include "intaglio/gemm/fit_panel.h"
#include "intaglio/gemm/prepare.h"
#include "intaglio/pack/validate.h"

namespace intaglio {

Result<BoundPipeline> BoundPipeline::Bind(const PackedMatrix& matrix,
                                          const StandardPipeline& pipeline, Type operand_type,
                                          int32_t operand_zero_point, const BindOptions& options) {
  const Panels& panels = matrix.panels();
  const bool along_rows = matrix.side() == Side::kLhs;
  INTAGLIO_RETURN_IF_ERROR(
      Validate(pipeline, along_rows ? panels.channels : 1, along_rows ? 1 : panels.channels));
  if (operand_type != Type::kInt8 && operand_type != Type::kUInt8) {
    return Unsupported(std::string("bound pipeline: operands of ") + NameOf(operand_type));
  }
  INTAGLIO_RETURN_IF_ERROR(ValidateZeroPoint(operand_zero_point, operand_type));
  const Axis axis = along_rows ? Axis::kRows : Axis::kCols;
  if ((pipeline.bias != nullptr || pipeline.per_channel) && pipeline.axis != axis) {
    return InvalidArgument("bound pipeline: its channels are not those of the packed matrix");
  }
  auto kernel = KernelFor(panels.format);
  if (!kernel.ok()) return kernel.status();
  try {
    const size_t bytes = panels.extents.size() * sizeof(PanelParams);
    auto storage = std::make_shared<Storage>(Storage{
        matrix, pipeline, operand_type, operand_zero_point, AlignedBuffer::Allocate(bytes)});
    if (bytes > 0 && storage->params.data() == nullptr) {
      return OutOfMemory("no memory to bind a pipeline");
    }
    const RowFacts rows{operand_zero_point + RowMove((*kernel)->row_format, operand_type),
                        LargestDistance(operand_type, operand_zero_point)};
    auto* params = static_cast<PanelParams*>(storage->params.data());
    for (const PanelExtent& extent : panels.extents) {
      FillPanelParams(panels, extent, rows, &storage->pipeline, *params);
      if (options.fit && (*kernel)->has_fma) FitPanel(panels, extent, rows, pipeline, *params);
      ++params;
    }
    BoundPipeline bound;
    bound.storage_ = std::move(storage);
    return bound;
  } catch (const std::bad_alloc&) {
    return OutOfMemory("no memory to bind a pipeline");
  }
}

Status UseBound(const BoundPipeline::Storage& bound, Product& product) {
  if (product.panels != &bound.matrix.panels()) {
    return InvalidArgument("the pipeline was bound to another packed matrix");
  }
  if (product.rows.type() != bound.operand_type ||
      product.rows.raw_zero_point() != bound.operand_zero_point) {
    return InvalidArgument(std::string("the pipeline was bound to operands of ") +
                           NameOf(bound.operand_type) + " with zero point " +
                           std::to_string(bound.operand_zero_point));
  }
  if (product.standard != nullptr) {
    product.params = static_cast<const PanelParams*>(bound.params.data());
  }
  return {};
}

size_t BoundPipeline::bytes() const { return storage_ == nullptr ? 0 : storage_->params.bytes(); }

}  // namespace intaglio
