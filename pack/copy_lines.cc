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

// Lines of kPiece to 2 kPiece bytes, as two pieces that may overlap: no call, no branch.
template <ptrdiff_t kPiece>
void CopyShortLines(const LineCopy& copy) {
  const ptrdiff_t second = copy.bytes - kPiece;
  ForLines(copy, [=](const std::byte* in, std::byte* out) {
    std::memcpy(out, in, kPiece);
    std::memcpy(out + second, in + second, kPiece);
  });
}

}  // namespace

void CopyLines(const LineCopy& copy) {
  if (copy.bytes <= 0) return;
  if (copy.bytes <= 2) return CopyShortLines<1>(copy);
  if (copy.bytes <= 4) return CopyShortLines<2>(copy);
  if (copy.bytes <= 8) return CopyShortLines<4>(copy);
  if (copy.bytes <= 16) return CopyShortLines<8>(copy);
  if (copy.bytes <= 32) return CopyShortLines<16>(copy);
  if (copy.bytes <= 64) return CopyShortLines<32>(copy);
  const auto bytes = static_cast<size_t>(copy.bytes);
  ForLines(copy, [=](const std::byte* in, std::byte* out) { std::memcpy(out, in, bytes); });
}

}  // namespace intaglio
