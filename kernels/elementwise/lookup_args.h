// The contract of a kernel's lookups: bytes that index tables of 256 entries.
#ifndef INTAGLIO_KERNELS_ELEMENTWISE_LOOKUP_ARGS_H_
#define INTAGLIO_KERNELS_ELEMENTWISE_LOOKUP_ARGS_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/fixedpoint/requantize.h"
#include "intaglio/kernels/elementwise/line_args.h"

namespace intaglio {

// A number in [0, 2^(8 kBytes)) for every byte, and the same split into bytes, the lowest first.
template <int kBytes>
struct NumberTable {
  static constexpr int kPlanes = kBytes;

  // By the number's place: term(place) for each.
  template <class Term>
  explicit NumberTable(const Term& term) {
    for (int i = 0; i < 256; ++i) {
      words[i] = term(i);
      for (int p = 0; p < kPlanes; ++p) planes[p][i] = static_cast<uint8_t>(words[i] >> 8 * p);
    }
  }

  int32_t words[256];
  uint8_t planes[kPlanes][256];
};
using TermTable = NumberTable<3>;
using ExpTable = NumberTable<4>;  // below 2^31

// The largest byte m of a row, and the sum of the terms of m - byte.
struct RowSum {
  int32_t largest;
  int64_t sum;
};

// What the numbers of a row are multiplied by, without a left shift.
struct RowScale {
  int32_t largest;
  QuantizedMultiplier scale;
};

struct LookupRoutines {
  // out[i] = table[in[i]]; in place, or apart.
  void (*translate)(const uint8_t* table, const uint8_t* in, uint8_t* out, ptrdiff_t count);
  void (*sum_rows)(const TermTable& terms, const ByteRows& rows, RowSum* sums);
  // out[i] = the number of largest - byte, requantized by double rounding, saturated to a byte and
  // flipped as the rows are; in place, or apart. Null where numbers are looked up one by one.
  void (*scale_rows)(const ExpTable& exps, const ByteRows& rows, const RowScale* scales,
                     uint8_t* out);
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_ELEMENTWISE_LOOKUP_ARGS_H_
