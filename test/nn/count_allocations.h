// Counts the allocations of the whole program, and lets one fail, by replacing operator new.
#ifndef INTAGLIO_TEST_NN_COUNT_ALLOCATIONS_H_
#define INTAGLIO_TEST_NN_COUNT_ALLOCATIONS_H_

#include <cstdint>

namespace intaglio::nn {

// Calls of any operator new so far, on any thread.
int64_t CountAllocations();

// The bytes from operator new that are not freed yet, and their maximum since ResetPeak.
int64_t LiveBytes();
int64_t PeakBytes();
void ResetPeak();

// Lets the n-th of the following calls fail; 0: none. Whether a failure asked for before was still
// to come.
bool FailAllocation(int64_t n);

}  // namespace intaglio::nn

#endif  // INTAGLIO_TEST_NN_COUNT_ALLOCATIONS_H_
