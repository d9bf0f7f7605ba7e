// Lines of images under bilinear interpolation by weights of few bits: columns are blended first,
// and sums of both fit 16 bits, so that as many channels as a vector has bytes are computed at a
// time.
//
// Over a kernel vocabulary V, which says how wide vectors are, and may have
//   DotBytes(a, b)               VPMADDUBSW: of uint8 and int8, products of pairs added to int16
//   PackBytes<kSigned>(a, b)     VPACKSSWB or VPACKUSWB
//   UnpackLow8, UnpackHigh8      of taps.h
// Else the compiler's own vectors do.
#ifndef INTAGLIO_KERNELS_ELEMENTWISE_BLEND_BYTES_H_
#define INTAGLIO_KERNELS_ELEMENTWISE_BLEND_BYTES_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/kernels/elementwise/line_args.h"

namespace intaglio {

template <class V>
struct BlendBytes {
  static constexpr int kBytes = std::max(16, 4 * V::kLanes);
  template <class T>
  struct Of {
    typedef T Vector __attribute__((vector_size(kBytes)));
  };
  using Bytes = typename Of<uint8_t>::Vector;
  using Words = typename Of<uint16_t>::Vector;
  static constexpr bool kHasDotBytes = requires(typename V::Operand x) { V::DotBytes(x, x); };

  // Numbers of 16 bits of half the channels each: of those that unpacking brings there, or of the
  // even and the odd ones.
  struct Column {
    Words low;
    Words high;
  };

  // Both lines' bytes by their weights.
  static INTAGLIO_INLINE Column Blended(const ByteBlend& line, Bytes upper, Bytes lower) {
    const auto a = static_cast<uint16_t>(line.weight_upper);
    const auto b = static_cast<uint16_t>(line.weight_lower);
    if constexpr (kHasDotBytes) {
      using Operand = typename V::Operand;
      const auto x = std::bit_cast<Operand>(upper);
      const auto y = std::bit_cast<Operand>(lower);
      const auto both = static_cast<uint16_t>(a | b << 8);
      const auto weights = std::bit_cast<Operand>(both + Words{});
      return {std::bit_cast<Words>(V::DotBytes(V::UnpackLow8(x, y), weights)),
              std::bit_cast<Words>(V::DotBytes(V::UnpackHigh8(x, y), weights))};
    } else {
      const auto x = std::bit_cast<Words>(upper);
      const auto y = std::bit_cast<Words>(lower);
      return {(x & 0xff) * a + (y & 0xff) * b, (x >> 8) * a + (y >> 8) * b};
    }
  }

  // Sums of bytes that are not flipped need all 16 bits, those of others a sign.
  template <bool kSigned>
  static INTAGLIO_INLINE Words Rounded(Words sum, int16_t half, int shift) {
    if constexpr (kSigned) {
      auto x = std::bit_cast<typename Of<int16_t>::Vector>(sum);
      x += half + (x >> 15);  // less 1 below zero, so that ties go away from it
      return std::bit_cast<Words>(x >> shift);
    } else {
      return sum >> shift;
    }
  }

  // Of numbers that are bytes of the output's type.
  template <bool kSigned>
  static INTAGLIO_INLINE Bytes Joined(Words low, Words high) {
    if constexpr (kHasDotBytes) {
      using Operand = typename V::Operand;
      return std::bit_cast<Bytes>(V::template PackBytes<kSigned>(std::bit_cast<Operand>(low),
                                                                 std::bit_cast<Operand>(high)));
    } else {
      return std::bit_cast<Bytes>((low & 0xff) | high << 8);
    }
  }

  static void Run(const ByteBlend& line) {
    if (line.is_signed) return RunAs<true>(line);
    RunAs<false>(line);
  }

  // Panels of channels that are computed at once: two share what a pixel takes to find its columns,
  // which of the widest vectors is most.
  static constexpr int kTogether = V::kLanes >= 16 ? 2 : 1;

  template <bool kSigned>
  static INTAGLIO_INLINE void RunAs(const ByteBlend& line) {
    ptrdiff_t c = 0;
    if constexpr (kTogether > 1) {
      for (; c + kTogether * kBytes <= line.channels; c += kTogether * kBytes) {
        RunPanels<kSigned, kTogether>(line, c);
      }
    }
    for (; c < line.channels; c += kBytes) {
      // The last ones are computed again rather than in fewer.
      RunPanels<kSigned, 1>(line, std::max(ptrdiff_t{0}, std::min(c, line.channels - kBytes)));
    }
  }

  static INTAGLIO_INLINE Bytes Load(const uint8_t* p) {
    Bytes bytes;
    std::memcpy(&bytes, p, kBytes);
    return bytes;
  }
  static __attribute__((noinline)) const uint8_t* CopyOf(const uint8_t* bytes, ptrdiff_t count,
                                                         uint8_t (&to)[kBytes]) {
    std::memset(to, 0, kBytes);
    std::memcpy(to, bytes, static_cast<size_t>(count));
    return to;
  }
  static __attribute__((noinline)) void StorePart(Bytes bytes, ptrdiff_t count, uint8_t* out) {
    uint8_t all[kBytes];
    std::memcpy(all, &bytes, kBytes);
    std::memcpy(out, all, static_cast<size_t>(count));
  }

  // The panel of channels that begins at this byte of both lines. Where kMayEnd, it may reach into
  // the next pixel, but not beyond the line, which may end in it.
  template <bool kSigned, bool kMayEnd>
  static INTAGLIO_INLINE Column Take(const ByteBlend& line, ptrdiff_t from) {
    const ptrdiff_t left = line.columns * line.channels - from;
    const uint8_t* upper = line.upper + from;
    const uint8_t* lower = line.lower + from;
    uint8_t last[2][kBytes];
    if (kMayEnd && __builtin_expect(left < kBytes, 0)) {
      upper = CopyOf(upper, left, last[0]);
      lower = CopyOf(lower, left, last[1]);
    }
    constexpr uint8_t kFlip = kSigned ? 0x80 : 0;
    return Blended(line, Load(upper) ^ kFlip, Load(lower) ^ kFlip);
  }

  template <bool kSigned, int kPanels>
  static INTAGLIO_INLINE void TakePanels(const ByteBlend& line, ptrdiff_t from,
                                         Column (&to)[kPanels]) {
    INTAGLIO_UNROLL
    for (int j = 0; j < kPanels; ++j) to[j] = Take<kSigned, kPanels == 1>(line, from + j * kBytes);
  }

  // All pixels of neighbouring panels of channels. What it writes into the next pixel is written
  // over later. The line is a copy, to which no result can write.
  template <bool kSigned, int kPanels>
  static __attribute__((noinline)) void RunPanels(const ByteBlend line, ptrdiff_t first) {
    const auto half = static_cast<int16_t>((1 << line.shift) >> 1);
    // Bytes that were flipped are larger by 128.
    const auto first_sum = static_cast<uint16_t>(kSigned ? -(128 << line.shift) : half);
    const Words start = first_sum + Words{};
    const bool is_half = line.channels <= kBytes / 2;
    uint8_t* out = line.out + first;
    const uint8_t* const end = line.out + line.pixels * line.channels;
    ptrdiff_t at_low = -1;
    ptrdiff_t at_high = -1;
    Column low[kPanels] = {};
    Column high[kPanels] = {};
    for (ptrdiff_t p = 0; p < line.pixels; ++p, out += line.channels) {
      const Tap<int32_t>& tap = line.taps[p];
      if (tap.low != at_low && tap.low == at_high) {
        INTAGLIO_UNROLL
        for (int j = 0; j < kPanels; ++j) low[j] = high[j];
      } else if (tap.low != at_low) {
        TakePanels<kSigned>(line, tap.low * line.channels + first, low);
      }
      if (tap.high != at_high) TakePanels<kSigned>(line, tap.high * line.channels + first, high);
      at_low = tap.low;
      at_high = tap.high;
      const auto a = static_cast<uint16_t>(tap.weight_low);
      const auto b = static_cast<uint16_t>(tap.weight_high);
      const auto blended = [=](Words x, Words y) __attribute__((always_inline)) {
        return Rounded<kSigned>(start + x * a + y * b, half, line.shift);
      };
      INTAGLIO_UNROLL
      for (int j = 0; j < kPanels; ++j) {
        const Bytes bytes =
            Joined<kSigned>(blended(low[j].low, high[j].low), blended(low[j].high, high[j].high));
        uint8_t* const to = out + j * kBytes;
        const ptrdiff_t left = end - to;
        if (kPanels == 1 && __builtin_expect(left < kBytes, 0)) {
          StorePart(bytes, left, to);
        } else if (kPanels == 1 && is_half) {
          std::memcpy(to, &bytes, kBytes / 2);
        } else {
          std::memcpy(to, &bytes, kBytes);
        }
      }
    }
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_ELEMENTWISE_BLEND_BYTES_H_
