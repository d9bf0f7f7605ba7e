// Places of the largest bytes of rows, over the compiler's own vectors and the bytes B of a kernel
// (byte_elementwise.h).
#ifndef INTAGLIO_KERNELS_ELEMENTWISE_BYTE_ARGMAX_H_
#define INTAGLIO_KERNELS_ELEMENTWISE_BYTE_ARGMAX_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/kernels/elementwise/line_args.h"

namespace intaglio {

// A byte and its place make a word that is the smaller the larger the byte is, and of equal bytes
// the earlier: one minimum finds both.
template <class V, class B>
struct Places {
  static void OfLargest(const ByteRows& rows, int32_t* places) {
    if (rows.depth >= kBlock && rows.depth <= 2 * kBlock) return OfTwoBlocks(rows, places);
    const uint8_t* row = rows.bytes;
    for (ptrdiff_t r = 0; r < rows.rows; ++r, row += rows.depth) {
      places[r] =
          rows.depth < kBlock ? OfShort(row, rows) : OfLong(row, rows.depth, Lowering(rows));
    }
  }

 private:
  static constexpr int kBlock = 16;
  static constexpr ptrdiff_t kMostPlaces = 256;  // of words
  typedef uint8_t Bytes __attribute__((vector_size(kBlock)));
  typedef uint16_t Words __attribute__((vector_size(kBlock)));

  static constexpr std::array<uint8_t, kMostPlaces> kPlaces = [] {
    std::array<uint8_t, kMostPlaces> places{};
    for (size_t i = 0; i < places.size(); ++i) places[i] = static_cast<uint8_t>(i);
    return places;
  }();

  static INTAGLIO_INLINE Bytes Load(const uint8_t* p) {
    Bytes bytes;
    std::memcpy(&bytes, p, sizeof bytes);
    return bytes;
  }

  // What bytes are xored with.
  static INTAGLIO_INLINE Bytes Lowering(const ByteRows& rows) {
    return static_cast<uint8_t>(~rows.flip) - Bytes{};
  }

  static INTAGLIO_INLINE Words Lesser(Words a, Words b) { return a < b ? a : b; }

  // The places of a block from this one on.
  static INTAGLIO_INLINE Bytes PlacesFrom(ptrdiff_t first) { return Load(kPlaces.data() + first); }

  // The least words of a block, of even and odd places.
  static INTAGLIO_INLINE Words LeastOfBlock(const uint8_t* p, Bytes places, Bytes lowering) {
    const Bytes bytes = Load(p) ^ lowering;
    return Lesser(Interleaved<0>(places, bytes), Interleaved<8>(places, bytes));
  }

  // Words of bytes `low` and, above them, `high`, from byte kFirst on.
  template <int kFirst>
  static INTAGLIO_INLINE Words Interleaved(Bytes low, Bytes high) {
    constexpr int k = kFirst;
    constexpr int h = kFirst + kBlock;
    const Bytes both =
        __builtin_shufflevector(low, high, k, h, k + 1, h + 1, k + 2, h + 2, k + 3, h + 3, k + 4,
                                h + 4, k + 5, h + 5, k + 6, h + 6, k + 7, h + 7);
    Words words;
    std::memcpy(&words, &both, sizeof words);
    return words;
  }

  // Of rows which two blocks cover, that overlap.
  static INTAGLIO_INLINE void OfTwoBlocks(const ByteRows rows, int32_t* places) {
    const Bytes lowering = Lowering(rows);
    const ptrdiff_t second = rows.depth - kBlock;
    const Bytes first_places = PlacesFrom(0);
    const Bytes second_places = PlacesFrom(second);
    const uint8_t* row = rows.bytes;
    for (ptrdiff_t r = 0; r < rows.rows; ++r, row += rows.depth) {
      const Words words = Lesser(LeastOfBlock(row, first_places, lowering),
                                 LeastOfBlock(row + second, second_places, lowering));
      places[r] = B::LeastWord(words) & 0xff;
    }
  }

  static INTAGLIO_INLINE int32_t OfLong(const uint8_t* row, ptrdiff_t depth, Bytes lowering) {
    int32_t place = 0;
    int least = 1 << 8;
    for (ptrdiff_t begin = 0; begin < depth; begin += kMostPlaces) {
      // The last block is read again as far as it was before.
      begin = std::max<ptrdiff_t>(0, std::min(begin, depth - kBlock));
      const ptrdiff_t count = std::min(depth - begin, kMostPlaces);
      Words words = LeastOfBlock(row + begin, PlacesFrom(0), lowering);
      for (ptrdiff_t at = kBlock; at < count; at += kBlock) {
        const ptrdiff_t block = std::min(at, count - kBlock);
        words = Lesser(words, LeastOfBlock(row + begin + block, PlacesFrom(block), lowering));
      }
      const int word = B::LeastWord(words);
      if (word >> 8 >= least) continue;
      least = word >> 8;
      place = static_cast<int32_t>(begin) + (word & 0xff);
    }
    return place;
  }

  // Of a row shorter than a block.
  static INTAGLIO_INLINE int32_t OfShort(const uint8_t* row, const ByteRows& rows) {
    uint8_t block[kBlock];
    std::memset(block, rows.flip, sizeof block);  // behind the row, the least byte that there is
    std::memcpy(block, row, static_cast<size_t>(rows.depth));
    return OfLong(block, kBlock, Lowering(rows));
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_ELEMENTWISE_BYTE_ARGMAX_H_
