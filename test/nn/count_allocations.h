// Counts the allocations of the whole program, by replacing operator new.
#ifndef INTAGLIO_TEST_NN_COUNT_ALLOCATIONS_H_
#define INTAGLIO_TEST_NN_COUNT_ALLOCATIONS_H_

#include <cstdint>

namespace intaglio::nn {

// Calls of any operator new so far, on any thread.
int64_t CountAllocations();

}  // namespace intaglio::nn

#endif  // INTAGLIO_TEST_NN_COUNT_ALLOCATIONS_H_
