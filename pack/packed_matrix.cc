#include "intaglio/pack/packed_matrix.h"

#include <new>
#include <string>
#include <utility>

#include "intaglio/pack/validate.h"

namespace intaglio {

Result<PackedMatrix> PackedMatrix::Pack(Side side, const ConstMatrix& matrix,
                                        const PanelFormat& format,
                                        std::span<const int32_t> channel_zero_points,
                                        const PanelRoutines& routines) {
  INTAGLIO_RETURN_IF_ERROR(ValidateOperand(matrix, "the matrix to pack"));
  // The rows of `channels` are the channels, whichever side it is.
  const ConstMatrix channels = side == Side::kLhs ? matrix : Transposed(matrix);
  if (!channel_zero_points.empty()) {
    if (channel_zero_points.size() != static_cast<size_t>(channels.rows)) {
      return InvalidArgument(std::to_string(channel_zero_points.size()) + " zero points for " +
                             std::to_string(channels.rows) + " channels");
    }
    for (const int32_t zero_point : channel_zero_points) {
      INTAGLIO_RETURN_IF_ERROR(ValidateZeroPoint(zero_point, matrix.type));
    }
  }
  try {
    Panels panels;
    INTAGLIO_RETURN_IF_ERROR(LayOutPanels(format, channels.rows, channels.cols, panels));
    PackExtents(channels, channel_zero_points, Magnitudes::kExact, routines, 0,
                static_cast<int>(panels.extents.size()), panels);
    for (const int32_t zero_point : panels.zero_points) {
      panels.has_zero_points |= zero_point != 0;
      panels.one_zero_point &= zero_point == panels.zero_points[0];
    }
    return PackedMatrix(side, std::make_shared<const Panels>(std::move(panels)));
  } catch (const std::bad_alloc&) {
    return OutOfMemory("no memory to pack a matrix of " + std::to_string(channels.rows) +
                       " channels");
  }
}

}  // namespace intaglio
