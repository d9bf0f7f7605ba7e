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

constexpr int kTaps = 9;

// Filters of more weights have their U made in each call, which reads an eighth of the bytes.
constexpr int64_t kMostKept = int64_t{128} * 128;

constexpr char kNoTransforms[] = "the kernel has no Winograd transforms";

int64_t CountTiles(const Im2col& input) {
  const auto count = [](int pixels) { return (pixels + kWinogradOutput - 1) / kWinogradOutput; };
  return int64_t{input.batch} * count(input.out_height) * count(input.out_width);
}

bool KeepsTransform(int channels, int outputs) { return int64_t{channels} * outputs <= kMostKept; }

std::span<const int32_t> ZeroPointsOf(const ConstMatrix& filters, const PackOptions& options) {
  if (!options.channel_zero_points.empty()) return options.channel_zero_points;
  return {&filters.zero_point, 1};
}

const char* WhyNotFilters(const ConstMatrix& filters, const PackOptions& options,
                          const Kernel& kernel) {
  if (kernel.winograd == nullptr) return kNoTransforms;
  if (filters.order != Order::kColMajor || filters.rows == 0 || filters.rows % kTaps != 0 ||
      filters.cols == 0) {
    return "the filters are not 3x3";
  }
  if (filters.rows / kTaps % 4 != 0) return "the channels are no multiple of 4";
  if (LargestWeight(filters, ZeroPointsOf(filters, options)) > kMostWinogradWeight) {
    return "weights lie too far from their zero points";
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

Status KeepTransform(PackedWinograd::Storage& storage) {
  const size_t panels = storage.panels().ranges.size();
  storage.weights = AlignedBuffer::Allocate(panels * storage.panel_step());
  if (storage.weights.data() == nullptr) throw std::bad_alloc();
  const ptrdiff_t step =
      PackedWinograd::Storage::WeightsStep(storage.channels, storage.routines().panel.width());
  for (size_t e = 0; e < panels; ++e) {
    auto* const to = static_cast<std::byte*>(storage.weights.data()) + e * storage.panel_step();
    storage.TransformWeights(e, 0, storage.channels, step, reinterpret_cast<int16_t*>(to));
  }
  return {};
}

}  // namespace

void PackedWinograd::Storage::TransformWeights(size_t panel, int first, int count, ptrdiff_t step,
                                               int16_t* to) const {
  const PanelRange& range = panels().ranges[panel];
  const size_t lanes = 2 * static_cast<size_t>(routines().panel.width());
  routines().transform_weights({panels().Panel(range), range.vectors, channels, first, count,
                                zero_points.data() + panel * lanes, to, step});
}

Result<PackedWinograd> PackedWinograd::Pack(const ConstMatrix& filters,
                                            const PackOptions& options) {
  const auto kernel = KernelNamed(options.kernel);
  if (!kernel.ok()) return kernel.status();
  const WinogradRoutines* const routines = (*kernel)->winograd;
  if (routines == nullptr) return Unsupported(std::string("Winograd: ") + kNoTransforms);
  INTAGLIO_RETURN_IF_ERROR(ValidateOperand(filters, "the filters to pack"));
  try {
    auto matrix = PackedMatrix::Pack(Side::kRhs, filters, routines->panel,
                                     options.channel_zero_points, routines->pack);
    if (!matrix.ok()) return matrix.status();
    if (const char* why_not = WhyNotFilters(filters, options, **kernel)) {
      return Unsupported(std::string("Winograd: ") + why_not);
    }
    const auto storage = std::make_shared<Storage>(
        Storage{*kernel,
                std::move(*matrix),
                filters.rows / kTaps,
                CountWinogradGroups(filters, ZeroPointsOf(filters, options)),
                {},
                {}});
    for (const PanelRange& panel : storage->panels().ranges) {
      AddZeroPoints(storage->panels(), panel, storage->zero_points);
    }
    if (KeepsTransform(storage->channels, filters.cols)) {
      INTAGLIO_RETURN_IF_ERROR(KeepTransform(*storage));
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
                                   storage_->zero_points.size() * sizeof(int16_t);
}

size_t MostWinogradBytes(int channels, int outputs) {
  if (channels <= 0 || outputs <= 0 || !KeepsTransform(channels, outputs)) return 0;
  const auto width = static_cast<int>(RoundUp(static_cast<size_t>(outputs), kMaxPanelWidth));
  return static_cast<size_t>(kFrequencies *
                             (PackedWinograd::Storage::WeightsStep(channels, width) + 64 * width));
}

const char* WhyNotWinograd(const Im2col& input, const ConstMatrix& filters,
                           const PackOptions& options) {
  const auto kernel = KernelNamed(options.kernel);
  if (!kernel.ok()) return "there is no such kernel";
  if (input.kernel_height != 3 || input.kernel_width != 3) return "the filters are not 3x3";
  if (input.stride_height != 1 || input.stride_width != 1) return "the stride is not 1";
  if (input.dilation_height != 1 || input.dilation_width != 1) return "the filters are dilated";
  if (input.group_channels != input.channels) return "the channels are in groups";
  return WhyNotFilters(filters, options, **kernel);
}

bool WinogradPays(const Im2col& input, int outputs, const std::string& kernel_name) {
  constexpr int kLeastSide = 7;
  constexpr int kStep = 16;
  const auto kernel = KernelNamed(kernel_name);
  if (!kernel.ok() || (*kernel)->winograd == nullptr) return false;
  const WinogradRange& pays = (*kernel)->winograd->pays;
  const int64_t tiles = CountTiles(input);
  const int64_t pixels = Rows(input);
  return std::min(input.out_height, input.out_width) >= kLeastSide && input.channels % kStep == 0 &&
         outputs % kStep == 0 && input.channels >= pays.least_channels &&
         100 * pixels >= pays.least_fill * tiles * kWinogradPixels &&
         (KeepsTransform(input.channels, outputs) ||
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
