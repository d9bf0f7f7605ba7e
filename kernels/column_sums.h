// Sums of the columns of bytes that lie in lines, over the compiler's own vectors, which every
// instruction set has: a kernel vocabulary V says only how wide they are to be.
#ifndef INTAGLIO_KERNELS_COLUMN_SUMS_H_
#define INTAGLIO_KERNELS_COLUMN_SUMS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/kernels/line_args.h"

namespace intaglio {

template <class V>
struct ColumnSums {
  static constexpr int kLeast = 16;  // bytes of the shortest block
  static constexpr int kBlock = std::max(kLeast, 4 * V::kLanes);
  static constexpr ptrdiff_t kMostLines = 257;  // whose sums of bytes fit 16 bits

  static void Add(const LineStack& lines, int32_t* sums) {
    LineStack part = lines;
    for (ptrdiff_t left = lines.lines; left > 0; left -= kMostLines) {
      part.lines = std::min(left, kMostLines);
      if (lines.flip != 0) {
        AddPart<true>(part, sums);
      } else {
        AddPart<false>(part, sums);
      }
      part.in += part.lines * part.stride;
    }
  }

 private:
  template <int kBytes>
  struct Of {
    typedef uint16_t Words __attribute__((vector_size(kBytes)));
  };

  template <bool kSigned>
  static INTAGLIO_INLINE void AddPart(const LineStack& part, int32_t* sums) {
    ptrdiff_t at = 0;
    for (; at + 4 * kBlock <= part.count; at += 4 * kBlock) {
      AddBlocks<kSigned, kBlock, 4>(part, at, at, sums);
    }
    for (; at + kBlock <= part.count; at += kBlock) {
      AddBlocks<kSigned, kBlock, 1>(part, at, at, sums);
    }
    if (part.count < kLeast) return AddNumbers(part, sums);
    // The last block is read again as far as it was added before.
    for (; at < part.count; at += kLeast) {
      AddBlocks<kSigned, kLeast, 1>(part, std::min(at, part.count - kLeast), at, sums);
    }
  }

  // kBlocks blocks of kBytes bytes, of which those from `first` on are added. Sums of even and of
  // odd bytes are in vectors of their own; the former of numbers that signed ones are moved to.
  template <bool kSigned, int kBytes, int kBlocks>
  static __attribute__((noinline)) void AddBlocks(const LineStack& part, ptrdiff_t begin,
                                                  ptrdiff_t first, int32_t* sums) {
    using Words = typename Of<kBytes>::Words;
    Words even[kBlocks] = {};
    Words odd[kBlocks] = {};
    const uint8_t* line = part.in + begin;
    for (ptrdiff_t l = 0; l < part.lines; ++l, line += part.stride) {
      INTAGLIO_UNROLL
      for (int b = 0; b < kBlocks; ++b) {
        Words pairs;
        std::memcpy(&pairs, line + b * kBytes, sizeof pairs);
        if constexpr (kSigned) pairs ^= 0x8080;
        even[b] += pairs & 0xff;
        odd[b] += pairs >> 8;
      }
    }
    const auto moved = static_cast<int32_t>(kSigned ? 128 * part.lines : 0);
    // By way of memory, for a loop instead of as many extractions as there are bytes.
    uint16_t words[2][kBlocks][kBytes / 2];
    std::memcpy(words[0], even, sizeof even);
    std::memcpy(words[1], odd, sizeof odd);
    for (int b = 0; b < kBlocks; ++b) {
      for (int i = 0; i < kBytes; ++i) {
        const ptrdiff_t at = begin + b * kBytes + i;
        if (at >= first) sums[at] += words[i % 2][b][i / 2] - moved;
      }
    }
  }

  static void AddNumbers(const LineStack& part, int32_t* sums) {
    const uint8_t* line = part.in;
    for (ptrdiff_t l = 0; l < part.lines; ++l, line += part.stride) {
      for (ptrdiff_t i = 0; i < part.count; ++i) {
        sums[i] += (line[i] ^ part.flip) - part.flip;
      }
    }
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_COLUMN_SUMS_H_
