// Lookups one by one.
#ifndef INTAGLIO_KERNELS_REFERENCE_LOOKUPS_H_
#define INTAGLIO_KERNELS_REFERENCE_LOOKUPS_H_

#include <algorithm>
#include <cstring>

#include "intaglio/kernels/elementwise/lookup_args.h"

namespace intaglio {

struct LookupsScalar {
  static void Translate(const uint8_t* table, const uint8_t* in, uint8_t* out, ptrdiff_t count) {
    // Eight bytes by one load and one store.
    for (; count >= 8; count -= 8, in += 8, out += 8) {
      uint64_t bytes = 0;
      std::memcpy(&bytes, in, sizeof bytes);
      uint64_t found = 0;
      for (int i = 0; i < 64; i += 8) found |= uint64_t{table[bytes >> i & 0xff]} << i;
      std::memcpy(out, &found, sizeof found);
    }
    for (ptrdiff_t i = 0; i < count; ++i) out[i] = table[in[i]];
  }

  static void SumRows(const TermTable& terms, const ByteRows& rows, RowSum* sums) {
    const uint8_t* row = rows.bytes;
    for (ptrdiff_t r = 0; r < rows.rows; ++r, row += rows.depth) {
      uint8_t largest = 0;
      for (ptrdiff_t i = 0; i < rows.depth; ++i) {
        largest = std::max(largest, static_cast<uint8_t>(row[i] ^ rows.flip));
      }
      int64_t sum = 0;
      for (ptrdiff_t i = 0; i < rows.depth; ++i) {
        sum += terms.words[largest - (row[i] ^ rows.flip)];
      }
      sums[r] = {largest, sum};
    }
  }
};

inline constexpr LookupRoutines kLookupsScalar = {LookupsScalar::Translate, LookupsScalar::SumRows,
                                                  nullptr};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_REFERENCE_LOOKUPS_H_
