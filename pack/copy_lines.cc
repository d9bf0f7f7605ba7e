#include "intaglio/pack/copy_lines.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace intaglio {
namespace {

constexpr ptrdiff_t kCacheLine = 64;
constexpr ptrdiff_t kBytesAhead = 1 << 10;

// line(in, out) for every line. Stores of short lines would wait for one line of the cache after
// the other, which are fetched ahead therefore; long ones do so by themselves.
template <class Line>
void ForLines(LineCopy copy, const Line& line) {
  const ptrdiff_t ahead = kBytesAhead / std::max<ptrdiff_t>(1, std::abs(copy.out_stride)) + 1;
  const ptrdiff_t fetching = copy.bytes <= kBytesAhead ? copy.lines - ahead : 0;
  const ptrdiff_t distance = ahead * copy.out_stride;
  for (ptrdiff_t i = 0; i < copy.lines; ++i) {
    for (ptrdiff_t at = 0; i < fetching && at < copy.bytes; at += kCacheLine) {
      __builtin_prefetch(copy.out + distance + at, 1);
    }
    line(copy.in, copy.out);
    copy.in += copy.in_stride;
    copy.out += copy.out_stride;
  }
}

// A line of kPiece bytes, or of up to twice as many, as one piece or two that may overlap: no call,
// no branch.
template <ptrdiff_t kPiece, bool kIsOne>
struct ShortLine {
  explicit ShortLine(ptrdiff_t bytes) : second(bytes - kPiece) {}
  void operator()(const std::byte* in, std::byte* out) const {
    std::memcpy(out, in, kPiece);
    if constexpr (!kIsOne) std::memcpy(out + second, in + second, kPiece);
  }
  ptrdiff_t second;
};

template <ptrdiff_t kPiece>
void CopyShortLines(const LineCopy& copy) {
  if (copy.bytes == kPiece) return ForLines(copy, ShortLine<kPiece, true>(copy.bytes));
  ForLines(copy, ShortLine<kPiece, false>(copy.bytes));
}

// Side by side, two lines fill the cache's as a long one does.
template <class Line>
void CopyShortPairs(LineCopy first, LineCopy second) {
  const Line line(first.bytes);
  const Line other(second.bytes);
  for (ptrdiff_t i = 0; i < first.lines; ++i) {
    line(first.in, first.out);
    other(second.in, second.out);
    first.in += first.in_stride;
    first.out += first.out_stride;
    second.in += second.in_stride;
    second.out += second.out_stride;
  }
}

}  // namespace

void CopyLines(const LineCopy& copy) {
  if (copy.bytes <= 0 || copy.lines <= 0) return;
  if (copy.in_stride == copy.bytes && copy.out_stride == copy.bytes) {
    std::memcpy(copy.out, copy.in, static_cast<size_t>(copy.bytes * copy.lines));
    return;
  }
  if (copy.bytes < 2) return CopyShortLines<1>(copy);
  if (copy.bytes < 4) return CopyShortLines<2>(copy);
  if (copy.bytes < 8) return CopyShortLines<4>(copy);
  if (copy.bytes < 16) return CopyShortLines<8>(copy);
  if (copy.bytes < 32) return CopyShortLines<16>(copy);
  if (copy.bytes <= 64) return CopyShortLines<32>(copy);
  const auto bytes = static_cast<size_t>(copy.bytes);
  ForLines(copy, [=](const std::byte* in, std::byte* out) { std::memcpy(out, in, bytes); });
}

void CopyLinePairs(const LineCopy& first, const LineCopy& second) {
  const auto [least, most] = std::minmax(first.bytes, second.bytes);
  if (least == 16 && most == 16) return CopyShortPairs<ShortLine<16, true>>(first, second);
  if (least >= 16 && most <= 32) return CopyShortPairs<ShortLine<16, false>>(first, second);
  if (least >= 8 && most <= 16) return CopyShortPairs<ShortLine<8, false>>(first, second);
  CopyLines(first);
  CopyLines(second);
}

}  // namespace intaglio
