// Sums of the columns of bytes that lie in lines, over the compiler's own vectors, which every
// instruction set has: a kernel vocabulary V says only how wide they are to be.
#ifndef INTAGLIO_KERNELS_TILE_COLUMN_SUMS_H_
#define INTAGLIO_KERNELS_TILE_COLUMN_SUMS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/kernels/elementwise/line_args.h"

namespace intaglio {

template <class V>
struct ColumnSums {
  static constexpr int kLeast = 16;  // bytes of the shortest block
  static constexpr int kBlock = std::max(kLeast, 4 * V::kLanes);
  static constexpr ptrdiff_t kMostLines = 257;  // whose sums of bytes fit 16 bits

  static void Add(const LineStack& lines, int32_t* sums) {
    ptrdiff_t at = 0;
    for (; at + 4 * kBlock <= lines.count; at += 4 * kBlock) {
      AddBlocks<kBlock, 4>(lines, at, at, sums);
    }
    for (; at + kBlock <= lines.count; at += kBlock) AddBlocks<kBlock, 1>(lines, at, at, sums);
    if (lines.count < kLeast) return AddNumbers(lines, sums);
    // The last block is read again as far as it was added before.
    for (; at < lines.count; at += kLeast) {
      AddBlocks<kLeast, 1>(lines, std::min(at, lines.count - kLeast), at, sums);
    }
  }

 private:
  template <int kBytes>
  struct Of {
    typedef uint16_t Words __attribute__((vector_size(kBytes)));
  };

  // kBlocks blocks of kBytes bytes, of which those from `first` on are added.
  template <int kBytes, int kBlocks>
  static __attribute__((noinline)) void AddBlocks(const LineStack& lines, ptrdiff_t begin,
                                                  ptrdiff_t first, int32_t* sums) {
    uint32_t totals[2][kBlocks * kBytes / 2] = {};  // of even bytes and of odd bytes
    LineStack part = lines;
    part.in += begin;
    for (ptrdiff_t left = lines.lines; left > 0; left -= kMostLines) {
      part.lines = std::min(left, kMostLines);
      AddPart<kBytes, kBlocks>(part, totals);
      part.in += part.lines * part.stride;
    }
    const auto moved = static_cast<uint32_t>(lines.flip * lines.lines);
    for (int i = 0; i < kBlocks * kBytes; ++i) {
      if (begin + i >= first) AddTo(sums[begin + i], totals[i % 2][i / 2] - moved);
    }
  }

  // Sums modulo 2^16, of pairs of flipped bytes and of the odd ones of these, give those of the
  // even ones.
  template <int kBytes, int kBlocks>
  static INTAGLIO_INLINE void AddPart(const LineStack& part,
                                      uint32_t (&totals)[2][kBlocks * kBytes / 2]) {
    using Words = typename Of<kBytes>::Words;
    const Words flips = static_cast<uint16_t>(part.flip * 0x101) - Words{};
    Words pairs[kBlocks] = {};
    Words odd[kBlocks] = {};
    const uint8_t* line = part.in;
    for (ptrdiff_t l = 0; l < part.lines; ++l, line += part.stride) {
      INTAGLIO_UNROLL
      for (int b = 0; b < kBlocks; ++b) {
        Words tap;
        std::memcpy(&tap, line + b * kBytes, sizeof tap);
        tap ^= flips;
        pairs[b] += tap;
        odd[b] += tap >> 8;
      }
    }
    uint16_t words[2][kBlocks * kBytes / 2];
    for (int b = 0; b < kBlocks; ++b) pairs[b] -= odd[b] << 8;
    std::memcpy(words[0], pairs, sizeof pairs);
    std::memcpy(words[1], odd, sizeof odd);
    for (int i = 0; i < kBlocks * kBytes / 2; ++i) {
      totals[0][i] += words[0][i];
      totals[1][i] += words[1][i];
    }
  }

  // Adds modulo 2^32.
  static INTAGLIO_INLINE void AddTo(int32_t& sum, uint32_t x) {
    sum = static_cast<int32_t>(static_cast<uint32_t>(sum) + x);
  }

  static void AddNumbers(const LineStack& lines, int32_t* sums) {
    const uint8_t* line = lines.in;
    for (ptrdiff_t l = 0; l < lines.lines; ++l, line += lines.stride) {
      for (ptrdiff_t i = 0; i < lines.count; ++i) {
        AddTo(sums[i], static_cast<uint32_t>((line[i] ^ lines.flip) - lines.flip));
      }
    }
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_TILE_COLUMN_SUMS_H_
