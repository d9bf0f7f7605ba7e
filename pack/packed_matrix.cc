#include "intaglio/pack/packed_matrix.h"

#include <algorithm>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/pack/panels.h"
#include "intaglio/pack/validate.h"

namespace intaglio {
namespace {

// Of a matrix whose rows are the channels.
Status PackPanels(const ConstMatrix& channels, const PanelFormat& format,
                  std::span<const int32_t> channel_zero_points, const PanelRoutines& routines,
                  Panels& panels) {
  INTAGLIO_RETURN_IF_ERROR(LayOutPanels(format, channels.rows, channels.cols, panels));
  PackPanels(channels, channel_zero_points, Magnitudes::kExact, routines, 0,
             static_cast<int>(panels.ranges.size()), panels);
  for (const int32_t zero_point : panels.zero_points) {
    panels.has_zero_points |= zero_point != 0;
    panels.one_zero_point &= zero_point == panels.zero_points[0];
  }
  return {};
}

}  // namespace

PackedMatrix::PackedMatrix(Side side, std::shared_ptr<const Panels> panels)
    : side_(side),
      rows_(side == Side::kLhs ? panels->channels : panels->depth),
      cols_(side == Side::kLhs ? panels->depth : panels->channels),
      panels_(std::move(panels)) {}

size_t PackedMatrix::bytes() const { return panels_->bytes(); }

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
    INTAGLIO_RETURN_IF_ERROR(PackPanels(channels, format, channel_zero_points, routines, panels));
    return PackedMatrix(side, std::make_shared<const Panels>(std::move(panels)));
  } catch (const std::bad_alloc&) {
    return OutOfMemory("no memory to pack a matrix of " + std::to_string(channels.rows) +
                       " channels");
  }
}

Result<PackedMatrix> PackedMatrix::PackRuns(const ConstMatrix& matrix, int runs,
                                            const PanelFormat& format,
                                            const PanelRoutines& routines) {
  const int length = matrix.rows / runs;
  const int padded_length = format.Groups(length) * format.depth_step;
  try {
    const auto* from = static_cast<const int8_t*>(matrix.data);
    const auto padded_rows = static_cast<size_t>(padded_length) * static_cast<size_t>(runs);
    std::vector<int8_t> padded(padded_rows * static_cast<size_t>(matrix.cols), 0);
    int8_t* to = padded.data();
    for (int c = 0; c < matrix.cols; ++c, from += matrix.stride) {
      for (int r = 0; r < runs; ++r, to += padded_length) {
        std::copy_n(from + ptrdiff_t{r} * length, length, to);
      }
    }
    Panels panels;
    INTAGLIO_RETURN_IF_ERROR(
        PackPanels(MakeConstMatrix(padded.data(), matrix.cols, runs * padded_length), format, {},
                   routines, panels));
    panels.depth = matrix.rows;
    panels.runs = runs;
    return PackedMatrix(Side::kRhs, std::make_shared<const Panels>(std::move(panels)));
  } catch (const std::bad_alloc&) {
    return OutOfMemory("no memory to pack filters of " + std::to_string(matrix.cols) + " channels");
  }
}

}  // namespace intaglio
