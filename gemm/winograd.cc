#include "intaglio/gemm/winograd.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <new>
#include <string>
#include <utility>

#include "intaglio/gemm/plan/bound_storage.h"
#include "intaglio/gemm/plan/dispatch.h"
#include "intaglio/gemm/run/winograd_product.h"
#include "intaglio/pack/validate.h"

namespace intaglio {
namespace {

// With more weights it is faster to make U in each call, which reads an eighth of the bytes.
constexpr int64_t kMostKept = int64_t{128} * 128;

constexpr char kNoTransforms[] = "the kernel has no Winograd transforms";

int64_t CountTiles(const Im2col& input, const WinogradForm& form) {
  const auto count = [](int pixels, int of_tile) { return (pixels + of_tile - 1) / of_tile; };
  return int64_t{input.batch} * count(input.out_height, form.tile_height) *
         count(input.out_width, form.tile_width);
}

// U of lines is made by so few instructions that it is not kept: from a cache it gains 4 to 7 % of
// the time, from memory it loses as much or more (Zen 4).
bool KeepsTransform(const WinogradForm& form, int channels, int outputs, WinogradWeights weights) {
  if (weights != WinogradWeights::kBySize) return weights == WinogradWeights::kKept;
  return form.arithmetic == WinogradArithmetic::kSquare4x3 &&
         int64_t{channels} * outputs <= kMostKept;
}

std::span<const int32_t> ZeroPointsOf(const ConstMatrix& filters, const PackOptions& options) {
  if (!options.channel_zero_points.empty()) return options.channel_zero_points;
  return {&filters.zero_point, 1};
}

const char* WhyNotFilters(const ConstMatrix& filters, const PackOptions& options,
                          const Kernel& kernel, const WinogradForm* form) {
  if (kernel.winograd == nullptr) return kNoTransforms;
  if (form == nullptr || kernel.winograd->of(*form).input == nullptr) {
    return "the kernel has no transforms for filters of this shape";
  }
  if (filters.order != Order::kColMajor || filters.rows == 0 || filters.cols == 0 ||
      filters.rows % form->taps() != 0) {
    return "the filters have another shape";
  }
  if (filters.rows / form->taps() % 4 != 0) return "the channels are no multiple of 4";
  const auto zero_points = ZeroPointsOf(filters, options);
  const int largest = LargestWeight(filters, zero_points, form->most_weight);
  if (largest > form->most_weight) return "weights lie too far from their zero points";
  if (form->blocks > 1 && int64_t{largest} * filters.rows > form->most_magnitude &&
      CountWinogradGroups(filters, zero_points, *form) > 1) {
    return "sums of weights are too large";
  }
  return nullptr;
}

// Zero points of the stored (int8) weights in the order of a panel's lanes, each twice.
void AddZeroPoints(const Panels& panels, const PanelRange& panel, std::vector<int16_t>& to) {
  for (int v = 0; v < panels.format.vectors; ++v) {
    for (int lane = 0; lane < panels.format.lanes; ++lane) {
      const int channel =
          v < panel.vectors ? ChannelOfLane(panels.format, panel.vectors, v, lane) : panel.channels;
      const auto at = static_cast<size_t>(panel.first_channel + channel);
      const int32_t zero_point = channel < panel.channels ? panels.zero_points[at] : 0;
      to.insert(to.end(), 2, static_cast<int16_t>(zero_point));
    }
  }
}

void KeepTransform(PackedWinograd::Storage& storage) {
  const auto step = [&](const PanelRange& panel) {
    return PackedWinograd::Storage::WeightsStep(storage.depth(), storage.LanesOf(panel));
  };
  size_t bytes = 0;
  for (const PanelRange& panel : storage.panels().ranges) {
    storage.weights_at.push_back(bytes);
    bytes += static_cast<size_t>(storage.form->frequencies() * step(panel));
  }
  storage.weights = AlignedBuffer::Allocate(bytes);
  if (storage.weights.data() == nullptr) throw std::bad_alloc();
  for (size_t e = 0; e < storage.weights_at.size(); ++e) {
    auto* const to = static_cast<std::byte*>(storage.weights.data()) + storage.weights_at[e];
    storage.TransformWeights(e, 0, storage.channels, step(storage.panels().ranges[e]),
                             reinterpret_cast<int16_t*>(to));
  }
}

}  // namespace

void PackedWinograd::Storage::TransformWeights(size_t panel, int first, int count, ptrdiff_t step,
                                               int16_t* to) const {
  const PanelRange& range = panels().ranges[panel];
  const size_t lanes = 2 * static_cast<size_t>(routines().panel.width());
  for (int b = 0; b < form->blocks; ++b) {
    const int tap = b * form->block_taps();
    routines().of(*form).weights({panels().Panel(range), range.vectors, channels, first, count, tap,
                                  std::min(form->block_taps(), form->taps() - tap),
                                  zero_points.data() + panel * lanes, to, step});
    to += ptrdiff_t{count} * range.vectors * routines().panel.lanes;
  }
}

Result<PackedWinograd> PackedWinograd::Pack(const ConstMatrix& filters, const PackOptions& options,
                                            const WinogradFilters& shape) {
  const auto kernel = KernelNamed(options.kernel);
  if (!kernel.ok()) return kernel.status();
  const WinogradRoutines* const routines = (*kernel)->winograd;
  if (routines == nullptr) return Unsupported(std::string("Winograd: ") + kNoTransforms);
  INTAGLIO_RETURN_IF_ERROR(ValidateOperand(filters, "the filters to pack"));
  try {
    auto matrix = PackedMatrix::Pack(Side::kRhs, filters, routines->panel,
                                     options.channel_zero_points, routines->pack);
    if (!matrix.ok()) return matrix.status();
    const WinogradForm* const form = WinogradFormOf(shape.kernel_height, shape.kernel_width);
    if (const char* why_not = WhyNotFilters(filters, options, **kernel, form)) {
      return Unsupported(std::string("Winograd: ") + why_not);
    }
    const auto storage = std::make_shared<Storage>(
        Storage{*kernel,
                std::move(*matrix),
                form,
                filters.rows / form->taps(),
                CountWinogradGroups(filters, ZeroPointsOf(filters, options), *form),
                {},
                {}});
    for (const PanelRange& panel : storage->panels().ranges) {
      AddZeroPoints(storage->panels(), panel, storage->zero_points);
    }
    if (KeepsTransform(*form, storage->channels, filters.cols, shape.weights)) {
      KeepTransform(*storage);
    }
    PackedWinograd packed;
    packed.storage_ = storage;
    return packed;
  } catch (const std::bad_alloc&) {
    return OutOfMemory("no memory for Winograd filters");
  }
}

int PackedWinograd::channels() const { return storage_ ? storage_->channels : 0; }
int PackedWinograd::outputs() const { return storage_ ? storage_->panels().channels : 0; }
int PackedWinograd::groups() const { return storage_ ? storage_->groups : 0; }
size_t PackedWinograd::bytes() const {
  return storage_ == nullptr ? 0
                             : storage_->matrix.bytes() + storage_->weights.bytes() +
                                   storage_->zero_points.size() * sizeof(int16_t) +
                                   storage_->weights_at.size() * sizeof(size_t);
}

size_t MostWinogradBytes(const WinogradFilters& shape, int channels, int outputs) {
  const WinogradForm* const form = WinogradFormOf(shape.kernel_height, shape.kernel_width);
  if (form == nullptr || channels <= 0 || outputs <= 0 ||
      !KeepsTransform(*form, channels, outputs, shape.weights)) {
    return 0;
  }
  const auto width = static_cast<int>(RoundUp(static_cast<size_t>(outputs), kMaxPanelWidth));
  const int depth = form->blocks * channels;
  return static_cast<size_t>(form->frequencies() *
                             (PackedWinograd::Storage::WeightsStep(depth, width) + 64 * width));
}

const char* WhyNotWinograd(const Im2col& input, const ConstMatrix& filters,
                           const PackOptions& options) {
  const auto kernel = KernelNamed(options.kernel);
  if (!kernel.ok()) return "there is no such kernel";
  if (input.stride_height != 1 || input.stride_width != 1) return "the stride is not 1";
  if (input.dilation_height != 1 || input.dilation_width != 1) return "the filters are dilated";
  if (input.group_channels != input.channels) return "the channels are in groups";
  const WinogradForm* const form = WinogradFormOf(input.kernel_height, input.kernel_width);
  if (form != nullptr && filters.rows != form->taps() * input.channels) {
    return "the filters have another shape";
  }
  return WhyNotFilters(filters, options, **kernel, form);
}

bool WinogradPays(const Im2col& input, int outputs, const std::string& kernel_name,
                  WinogradWeights weights) {
  constexpr int kLeastSide = 7;
  constexpr int kStep = 16;
  const auto kernel = KernelNamed(kernel_name);
  if (!kernel.ok() || (*kernel)->winograd == nullptr) return false;
  const WinogradForm* const form = WinogradFormOf(input.kernel_height, input.kernel_width);
  if (form == nullptr) return false;
  const bool is_square = form->arithmetic == WinogradArithmetic::kSquare4x3;
  const WinogradRange& pays =
      is_square ? (*kernel)->winograd->pays : (*kernel)->winograd->lines_pay;
  const int64_t tiles = CountTiles(input, *form);
  const int64_t pixels = Rows(input);
  return std::min(input.out_height, input.out_width) >= kLeastSide && input.channels % kStep == 0 &&
         outputs % kStep == 0 && input.channels >= pays.least_channels &&
         100 * pixels >= pays.least_fill * tiles * form->pixels() &&
         (KeepsTransform(*form, input.channels, outputs, weights) ||
          256 * tiles >= int64_t{pays.least_tiles} * input.channels);
}

Result<BoundPipeline> BoundPipeline::Bind(const PackedWinograd& filters,
                                          const StandardPipeline& pipeline, Type operand_type,
                                          int32_t operand_zero_point, const BindOptions& options) {
  const PackedWinograd::Storage* packed = filters.storage();
  if (packed == nullptr) return InvalidArgument("bound pipeline: the filters are empty");
  if (pipeline.scaling == Scaling::kReal64) {
    return Unsupported("bound pipeline: Winograd does not scale by float64");
  }
  const BindTarget target{filters.shared_storage(), &packed->panels(), packed->kernel,
                          WinogradMove(operand_type), Axis::kCols};
  return Bind(target, pipeline, operand_type, operand_zero_point, options);
}

Status Winograd(Context& context, const Im2col& input, const PackedWinograd& filters, void* dst,
                const BoundPipeline& pipeline, const WinogradOptions& options) {
  const BoundPipeline::Storage* bound = pipeline.storage();
  const PackedWinograd::Storage* packed = filters.storage();
  if (packed == nullptr) return InvalidArgument("Winograd: the filters are empty");
  if (bound == nullptr) return InvalidArgument("the pipeline is bound to nothing");
  if (bound->panels != &packed->panels()) {
    return InvalidArgument("the pipeline was bound to other filters");
  }
  if (input.type != bound->operand_type || input.zero_point != bound->operand_zero_point) {
    return InvalidArgument(std::string("the pipeline was bound to operands of ") +
                           NameOf(bound->operand_type) + " with zero point " +
                           std::to_string(bound->operand_zero_point));
  }
  const ptrdiff_t dst_stride = options.dst_stride == 0 ? filters.outputs() : options.dst_stride;
  const WinogradProduct product{
      input, *packed, dst, dst_stride, options.most_tiles, bound->epilogue, bound->panel_params()};
  try {
    INTAGLIO_RETURN_IF_ERROR(CheckWinograd(product));
    if (Verbose()) {
      std::fprintf(stderr, "intaglio: Winograd, %d pixels x %d outputs x %d channels, kernel %s\n",
                   Rows(input), filters.outputs(), filters.channels(), packed->kernel->name);
    }
    return ExecuteWinograd(context, product);
  } catch (const std::bad_alloc&) {
    return OutOfMemory("no memory for a Winograd convolution");
  }
}

}  // namespace intaglio
