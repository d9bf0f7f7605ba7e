// Pages of memory that is written soon.
#ifndef INTAGLIO_PACK_POPULATE_H_
#define INTAGLIO_PACK_POPULATE_H_

#include <cstddef>

namespace intaglio {

// Takes the whole pages of newly allocated memory from the OS at once, which costs less than a
// fault for each. Does nothing where there are few, or the OS (Linux 5.14) cannot.
void Populate(void* memory, size_t bytes);

}  // namespace intaglio

#endif  // INTAGLIO_PACK_POPULATE_H_
