#include "intaglio/gemm/plan/winograd_forms.h"

#include <algorithm>
#include <iterator>

namespace intaglio {
namespace {

// Every |x| is at most 128, so that sums of products x * w lie within [-2^bits, 2^bits) if the |w|
// of one output channel add up to this at most.
constexpr int64_t MostMagnitude(int bits) { return ((int64_t{1} << bits) - 1) / 128; }

// Results of squares are 64 times, those of lines 8 times the accumulator, within int32.
constexpr int64_t kSquareMagnitude = MostMagnitude(25);
constexpr int64_t kLineMagnitude = MostMagnitude(28);

// 144 * |w| is at most 2^15 - 1. Along lines no weight of 8 bits, less its zero point, leaves int16
// (kernels/winograd/lines.h).
constexpr int kSquareWeight = ((1 << 15) - 1) / 144;
constexpr int kLineWeight = 255;

constexpr WinogradForm Square() {
  return {.kernel_height = 3,
          .kernel_width = 3,
          .arithmetic = WinogradArithmetic::kSquare4x3,
          .tile_height = 4,
          .tile_width = 4,
          .under_height = 6,
          .under_width = 6,
          .most_magnitude = kSquareMagnitude,
          .most_weight = kSquareWeight};
}

// Filters of one line.
constexpr WinogradForm Along(WinogradArithmetic arithmetic, int width, int outputs, int under,
                             int blocks = 1) {
  const int taps = (width + blocks - 1) / blocks;
  return {.kernel_height = 1,
          .kernel_width = width,
          .arithmetic = arithmetic,
          .tile_height = 1,
          .tile_width = outputs,
          .under_height = 1,
          .under_width = under,
          .blocks = blocks,
          .block_right = blocks > 1 ? taps : 0,
          .most_magnitude = kLineMagnitude,
          .most_weight = kLineWeight};
}

constexpr WinogradForm Down(WinogradForm form) {
  std::swap(form.kernel_height, form.kernel_width);
  std::swap(form.tile_height, form.tile_width);
  std::swap(form.under_height, form.under_width);
  std::swap(form.block_down, form.block_right);
  return form;
}

// Each line of the filters is a block.
constexpr WinogradForm Lines(WinogradForm form, int height) {
  form.kernel_height = form.blocks = height;
  form.block_down = 1;
  return form;
}

constexpr WinogradForm kSevens = Along(WinogradArithmetic::kLine6x4, 7, 6, 9, 2);
constexpr WinogradForm kFives = Along(WinogradArithmetic::kLine4x5, 5, 4, 8);
constexpr WinogradForm kThrees = Along(WinogradArithmetic::kLine4x3, 3, 4, 6);

constexpr WinogradForm kForms[] = {Square(), kSevens,      Down(kSevens), Lines(kFives, 5),
                                   kFives,   Down(kFives), kThrees,       Down(kThrees)};

}  // namespace

const WinogradForm* WinogradFormOf(int kernel_height, int kernel_width) {
  const auto* const found =
      std::find_if(std::begin(kForms), std::end(kForms), [&](const WinogradForm& form) {
        return form.kernel_height == kernel_height && form.kernel_width == kernel_width;
      });
  return found == std::end(kForms) ? nullptr : found;
}

}  // namespace intaglio
