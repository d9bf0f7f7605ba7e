#include "intaglio/gemm/depthwise.h"

#include <cstdio>
#include <new>
#include <string>
#include <utility>

#include "intaglio/gemm/plan/bound_storage.h"
#include "intaglio/gemm/plan/dispatch.h"
#include "intaglio/gemm/run/depthwise_product.h"
#include "intaglio/kernels/depthwise/depthwise_args.h"
#include "intaglio/pack/validate.h"

namespace intaglio {
namespace {

// How many pixels a panel is to hold: several where the channels of one fill no more than half.
int PixelsOfPanel(const Kernel& kernel, int taps, int kernel_width, int channels, int multiplier) {
  const PanelFormat& panel = kernel.panel;
  const bool folds = kernel.folds_pixels && multiplier == 1 && kernel_width > 0 &&
                     FoldsPixels(taps / kernel_width, kernel_width, channels, panel.lanes);
  return folds ? panel.width() / channels : 1;
}

Status PackInto(DepthwiseFilters& packed, const ConstMatrix& filters, int kernel_width,
                int multiplier, const Kernel& kernel, int copies) {
  const PanelFormat& panel = kernel.panel;
  auto made = PackDepthwiseFilters(filters, kernel_width, multiplier, panel.lanes, panel.vectors,
                                   kernel.tap_step, copies);
  if (!made.ok()) return made.status();
  packed = std::move(*made);
  return {};
}

void Announce(const DepthwiseProduct& product) {
  const Panels& panels = product.packed.filters.panels;
  const char* const stages = product.standard != nullptr ? "" : product.tile.registers;
  std::fprintf(
      stderr,
      "intaglio: depthwise, %d pixels x %d channels x %d taps, kernel %s, pipeline %s%s%s\n",
      Rows(product.input), panels.channels, panels.depth, product.packed.kernel->name,
      product.standard != nullptr ? "in registers" : "over tiles",
      *stages == '\0' ? "" : ", stages by ", stages);
}

Status Run(Context& context, const Im2col& input, const PackedDepthwise& filters, void* dst,
           ptrdiff_t dst_stride, const StandardPipeline* standard, const TilePipeline& tile,
           const PanelForm* params) {
  const PackedDepthwise::Storage* packed = filters.storage();
  if (packed == nullptr) return InvalidArgument("depthwise: the filters are empty");
  if (dst_stride == 0) dst_stride = filters.channels();
  const DepthwiseProduct product{input, *packed, dst, dst_stride, standard, tile, params};
  try {
    INTAGLIO_RETURN_IF_ERROR(CheckDepthwise(product));
    if (Verbose()) Announce(product);
    return ExecuteDepthwise(context, product);
  } catch (const std::bad_alloc&) {
    return OutOfMemory("no memory for a depthwise convolution");
  }
}

Status RunStandard(Context& context, const Im2col& input, const PackedDepthwise& filters, void* dst,
                   ptrdiff_t dst_stride, const StandardPipeline& pipeline,
                   const PanelForm* params) {
  const bool in_registers = pipeline.scaling != Scaling::kReal64;
  return Run(context, input, filters, dst, dst_stride, in_registers ? &pipeline : nullptr,
             AsTilePipeline(pipeline), in_registers ? params : nullptr);
}

}  // namespace

Result<PackedDepthwise> PackedDepthwise::Pack(const ConstMatrix& filters, int kernel_width,
                                              int multiplier, const std::string& kernel_name) {
  auto kernel = KernelNamed(kernel_name);
  if (!kernel.ok()) return kernel.status();
  try {
    const auto storage = std::make_shared<Storage>(Storage{*kernel, {}, {}});
    INTAGLIO_RETURN_IF_ERROR(
        PackInto(storage->filters, filters, kernel_width, multiplier, **kernel, 1));
    const int pixels =
        PixelsOfPanel(**kernel, filters.rows, kernel_width, filters.cols, multiplier);
    if (pixels > 1) {
      INTAGLIO_RETURN_IF_ERROR(
          PackInto(storage->folded, filters, kernel_width, multiplier, **kernel, pixels));
    }
    PackedDepthwise packed;
    packed.storage_ = storage;
    return packed;
  } catch (const std::bad_alloc&) {
    return OutOfMemory("no memory for depthwise filters");
  }
}

int PackedDepthwise::taps() const { return storage_ ? storage_->filters.panels.depth : 0; }
int PackedDepthwise::channels() const { return storage_ ? storage_->filters.panels.channels : 0; }
int PackedDepthwise::multiplier() const { return storage_ ? storage_->filters.multiplier : 1; }
size_t PackedDepthwise::bytes() const {
  return storage_ ? storage_->filters.bytes() + storage_->folded.bytes() : 0;
}
const char* PackedDepthwise::kernel_name() const { return storage_ ? storage_->kernel->name : ""; }

Result<BoundPipeline> BoundPipeline::Bind(const PackedDepthwise& filters,
                                          const StandardPipeline& pipeline, Type operand_type,
                                          int32_t operand_zero_point, const BindOptions& options) {
  const PackedDepthwise::Storage* packed = filters.storage();
  if (packed == nullptr) return InvalidArgument("bound pipeline: the filters are empty");
  const BindTarget target{filters.shared_storage(),
                          &packed->filters.panels,
                          packed->kernel,
                          TapMove(*packed->kernel, operand_type),
                          Axis::kCols,
                          /*takes_multiply_add=*/false,
                          packed->folded.copies > 1};
  return Bind(target, pipeline, operand_type, operand_zero_point, options);
}

Status Depthwise(Context& context, const Im2col& input, const PackedDepthwise& filters, void* dst,
                 const StandardPipeline& pipeline, ptrdiff_t dst_stride) {
  INTAGLIO_RETURN_IF_ERROR(Validate(pipeline, 1, filters.channels()));
  if (pipeline.axis != Axis::kCols && (pipeline.bias != nullptr || pipeline.per_channel)) {
    return InvalidArgument("depthwise: a pipeline whose channels run along rows");
  }
  return RunStandard(context, input, filters, dst, dst_stride, pipeline, nullptr);
}

Status Depthwise(Context& context, const Im2col& input, const PackedDepthwise& filters, void* dst,
                 const BoundPipeline& pipeline, ptrdiff_t dst_stride) {
  const BoundPipeline::Storage* bound = pipeline.storage();
  if (bound == nullptr) return InvalidArgument("the pipeline is bound to nothing");
  if (filters.storage() == nullptr || bound->panels != &filters.storage()->filters.panels) {
    return InvalidArgument("the pipeline was bound to other filters");
  }
  if (input.type != bound->operand_type || input.zero_point != bound->operand_zero_point) {
    return InvalidArgument(std::string("the pipeline was bound to operands of ") +
                           NameOf(bound->operand_type) + " with zero point " +
                           std::to_string(bound->operand_zero_point));
  }
  return RunStandard(context, input, filters, dst, dst_stride, bound->pipeline,
                     bound->panel_params());
}

Status Depthwise(Context& context, const Im2col& input, const PackedDepthwise& filters, void* dst,
                 const TilePipeline& pipeline, ptrdiff_t dst_stride) {
  return Run(context, input, filters, dst, dst_stride, nullptr, pipeline, nullptr);
}

}  // namespace intaglio
