// Finds where the elements of a matrix begin, if it has any.
#ifndef INTAGLIO_PACK_FIRST_BYTE_H_
#define INTAGLIO_PACK_FIRST_BYTE_H_

#include <cstdint>

#include "intaglio/pack/matrix.h"

namespace intaglio {

// The data of a matrix without elements may be null, and arithmetic on a null pointer is undefined.
// The result is then an address that nobody reads.
inline const uint8_t* FirstByte(const ConstMatrix& m) {
  static constexpr uint8_t kNoElement = 0;
  return m.data != nullptr ? static_cast<const uint8_t*>(m.data) : &kNoElement;
}

}  // namespace intaglio

#endif  // INTAGLIO_PACK_FIRST_BYTE_H_
