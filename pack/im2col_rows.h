// Packs rows of an im2col view, by runs of neighbouring bytes of the image.
#ifndef INTAGLIO_PACK_IM2COL_ROWS_H_
#define INTAGLIO_PACK_IM2COL_ROWS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "intaglio/pack/im2col.h"

namespace intaglio {

// Elements are what rows are made of, and how runs of them are put:
//   Element                  the type
//   Convert(byte)            an element of a byte of the image
//   CopyRuns(from, from_step, length, count, to, to_step)
//                            `count` runs of `length` elements, whose beginnings are steps apart
//   FillRuns(value, length, count, to, to_step)
//                            as many of elements that are all alike
template <class Elements>
class Im2colRows {
 public:
  using Element = typename Elements::Element;

  // As PackRows.
  static void Pack(const Im2col& v, int first, int count, int padded_depth, Element* packed) {
    const Element padding = Elements::Convert(static_cast<uint8_t>(v.zero_point));
    const Range inside = PositionsInside(v);
    const int depth = Cols(v);
    Elements::FillRuns(Element{0}, padded_depth - depth, count, packed + depth, padded_depth);
    Position at = PositionOf(v, first);
    for (int r = 0; r < count;) {
      int done = 1;
      if (at.x >= inside.begin && at.x < inside.end) {
        done = std::min(inside.end - at.x, count - r);
        PackInside(v, at, done, padding, padded_depth, packed);
      } else {
        PackRow(v, at, padding, packed);
      }
      r += done;
      packed += ptrdiff_t{done} * padded_depth;
      at.x += done;
      if (at.x < v.out_width) continue;
      at.x = 0;
      if (++at.y < v.out_height) continue;
      at.y = 0;
      ++at.batch;
    }
  }

 private:
  // One output position.
  struct Position {
    int batch;
    int y;
    int x;
  };

  struct Range {
    int begin;
    int end;
  };

  static Position PositionOf(const Im2col& v, int row) {
    const int plane = v.out_height * v.out_width;
    const int within = row % plane;
    return {row / plane, within / v.out_width, within % v.out_width};
  }

  // The taps along one side whose input lies inside the image.
  static Range TapsInside(int origin, int dilation, int taps, int extent) {
    // Divisions are for the few views that are dilated.
    const auto taps_before = [&](int64_t distance) {
      const int64_t all = dilation == 1 ? distance : (distance + dilation - 1) / dilation;
      return static_cast<int>(std::clamp<int64_t>(all, 0, taps));
    };
    return {taps_before(-int64_t{origin}), taps_before(int64_t{extent} - origin)};
  }

  // Output positions of a line all of whose taps lie inside the image along x.
  static Range PositionsInside(const Im2col& v) {
    const int reach = (v.kernel_width - 1) * v.dilation_width;
    const int begin = (v.pad_left + v.stride_width - 1) / v.stride_width;
    const int64_t last = int64_t{v.width} - 1 - reach + v.pad_left;  // the largest x * stride
    const auto end =
        last < 0 ? 0 : static_cast<int>(std::min<int64_t>(v.out_width, last / v.stride_width + 1));
    return {begin, std::max(begin, end)};
  }

  // A position some of whose taps lie outside: the runs of its kernel rows, cut to what lies
  // inside.
  static void PackRow(const Im2col& v, const Position& at, Element padding, Element* row) {
    const int c = v.group_channels;
    const int x0 = at.x * v.stride_width - v.pad_left;
    const int y0 = at.y * v.stride_height - v.pad_top;
    const Range xs = TapsInside(x0, v.dilation_width, v.kernel_width, v.width);
    const Range ys = TapsInside(y0, v.dilation_height, v.kernel_height, v.height);
    const int length = v.kernel_width * c;  // of a kernel row
    const int lines = ys.end - ys.begin;
    Elements::FillRuns(padding, length, ys.begin, row, length);
    row += ptrdiff_t{ys.begin} * length;
    Elements::FillRuns(padding, xs.begin * c, lines, row, length);
    const auto* data = static_cast<const uint8_t*>(v.data) + v.first_channel;
    const int y = y0 + ys.begin * v.dilation_height;
    const ptrdiff_t line = (ptrdiff_t{at.batch} * v.height + y) * v.width;
    const ptrdiff_t line_step = ptrdiff_t{v.dilation_height} * v.width * v.channels;
    const bool runs_on = v.dilation_width == 1 && c == v.channels;
    for (int kx = xs.begin; lines > 0 && kx < xs.end; kx = runs_on ? xs.end : kx + 1) {
      const int x = x0 + kx * v.dilation_width;
      Elements::CopyRuns(data + (line + x) * v.channels, line_step, runs_on ? (xs.end - kx) * c : c,
                         lines, row + ptrdiff_t{kx} * c, length);
    }
    Elements::FillRuns(padding, (v.kernel_width - xs.end) * c, lines, row + ptrdiff_t{xs.end} * c,
                       length);
    Elements::FillRuns(padding, length, v.kernel_height - ys.end, row + ptrdiff_t{lines} * length,
                       length);
  }

  // `count` neighbouring positions from `at` on, all inside along x: tap by tap, each a run of the
  // same length for all of them.
  static void PackInside(const Im2col& v, const Position& at, int count, Element padding,
                         int padded_depth, Element* packed) {
    const bool runs_on = v.dilation_width == 1 && v.group_channels == v.channels;
    const int runs = runs_on ? 1 : v.kernel_width;
    const int length = runs_on ? v.kernel_width * v.channels : v.group_channels;
    const ptrdiff_t step = ptrdiff_t{v.stride_width} * v.channels;
    const int x0 = at.x * v.stride_width - v.pad_left;
    Element* to = packed;
    for (int ky = 0; ky < v.kernel_height; ++ky) {
      const int y = at.y * v.stride_height - v.pad_top + ky * v.dilation_height;
      const bool inside = y >= 0 && y < v.height;
      const auto* line =
          static_cast<const uint8_t*>(v.data) + v.first_channel +
          ((ptrdiff_t{at.batch} * v.height + (inside ? y : 0)) * v.width + x0) * v.channels;
      for (int kx = 0; kx < runs; ++kx, to += length) {
        if (inside) {
          Elements::CopyRuns(line + ptrdiff_t{kx} * v.dilation_width * v.channels, step, length,
                             count, to, padded_depth);
        } else {
          Elements::FillRuns(padding, length, count, to, padded_depth);
        }
      }
    }
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_PACK_IM2COL_ROWS_H_
