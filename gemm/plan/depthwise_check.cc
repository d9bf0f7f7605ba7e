#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>

#include "intaglio/gemm/run/depthwise_product.h"
#include "intaglio/pack/validate.h"

namespace intaglio {
namespace {

// The most pixels of input under one output line, over all kernel rows.
constexpr int64_t kMostColumns = 1 << 26;

// The most elements from the first to the last of the result: their bytes can be counted.
constexpr ptrdiff_t kMostDst = std::numeric_limits<ptrdiff_t>::max() / ptrdiff_t{sizeof(int32_t)};

}  // namespace

Status CheckDepthwise(const DepthwiseProduct& product) {
  const Im2col& input = product.input;
  INTAGLIO_RETURN_IF_ERROR(Validate(input));
  if (input.first_channel != 0 || input.group_channels != input.channels) {
    return InvalidArgument("depthwise: a view of channels " + std::to_string(input.first_channel) +
                           " + " + std::to_string(input.group_channels) + " of " +
                           std::to_string(input.channels) + ", not of all");
  }
  const DepthwiseFilters& filters = product.packed.filters;
  const Panels& panels = filters.panels;
  const int taps = input.kernel_height * input.kernel_width;
  if (input.kernel_height != filters.kernel_height || input.kernel_width != filters.kernel_width ||
      int64_t{input.channels} * filters.multiplier != panels.channels) {
    return InvalidArgument("depthwise: " + std::to_string(panels.channels) + " filters of " +
                           ExtentsText(filters.kernel_height, filters.kernel_width) +
                           " taps and multiplier " + std::to_string(filters.multiplier) + " for " +
                           ExtentsText(input.kernel_height, input.kernel_width) + " taps of " +
                           std::to_string(input.channels) + " channels");
  }
  if (ColumnsUnder(input, input.out_width) > kMostColumns / filters.padded_height()) {
    return InvalidArgument("depthwise: a line of " +
                           std::to_string(ColumnsUnder(input, input.out_width)) +
                           " columns of input, too long for this kernel height");
  }
  const int rows = Rows(input);
  if (rows > 0 && panels.channels > std::numeric_limits<int>::max() / rows) {
    return InvalidArgument("depthwise: more output elements than an int counts");
  }
  if (product.dst_stride < panels.channels || product.dst_stride > kMostDst / std::max(1, rows)) {
    return InvalidArgument("depthwise: " + std::to_string(rows) + " pixels of " +
                           std::to_string(panels.channels) + " channels with the stride " +
                           std::to_string(product.dst_stride));
  }
  const size_t elements = static_cast<size_t>(rows) * static_cast<size_t>(panels.channels);
  if (elements > 0 && product.dst == nullptr) return InvalidArgument("depthwise: null dst");
  const size_t dst_elements =
      elements == 0 ? 0
                    : static_cast<size_t>(rows - 1) * static_cast<size_t>(product.dst_stride) +
                          static_cast<size_t>(panels.channels);
  if (Overlap(input.data, ImageBytes(input), product.dst,
              dst_elements * SizeOf(product.tile.output))) {
    return InvalidArgument("depthwise: dst overlaps the input");
  }
  const int64_t worst = panels.magnitude() * LargestDistance(input.type, input.zero_point);
  if (worst > std::numeric_limits<int32_t>::max()) {
    return InvalidArgument("depthwise: a sum over " + std::to_string(taps) + " taps could reach " +
                           std::to_string(worst) + ", over int32");
  }
  return {};
}

}  // namespace intaglio
