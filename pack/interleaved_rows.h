// Rows of RowFormat::kSigned8By8 (pack/rows.h).
#ifndef INTAGLIO_PACK_INTERLEAVED_ROWS_H_
#define INTAGLIO_PACK_INTERLEAVED_ROWS_H_

#include <cstddef>

#include "intaglio/pack/rows.h"

namespace intaglio {

// PackRows. Those that cannot be read where they lie are laid out in the place of the next eight
// first.
void PackInterleavedRows(const RowSource& source, int first, int count, int padded_depth,
                         std::byte* packed);

}  // namespace intaglio

#endif  // INTAGLIO_PACK_INTERLEAVED_ROWS_H_
