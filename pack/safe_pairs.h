// Weights of which two neighbouring products with bytes sum up within an int16.
#ifndef INTAGLIO_PACK_SAFE_PAIRS_H_
#define INTAGLIO_PACK_SAFE_PAIRS_H_

#include "intaglio/pack/matrix.h"

namespace intaglio {

// Whether a * v + b * w lies in int16 for all a, b in [0, 255] and all stored (int8) values v, w of
// depths 2i and 2i + 1 of any row of `channels`. That is so where the positive ones of v and w add
// up to at most 128, and the negative ones to at least -128: 255 * 128 = 32640, and 255 * 129 is
// beyond 2^15. Then VPMADDUBSW, which saturates, is exact.
bool PairsAreSafe(const ConstMatrix& channels);

}  // namespace intaglio

#endif  // INTAGLIO_PACK_SAFE_PAIRS_H_
