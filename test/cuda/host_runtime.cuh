// The CUDA runtime played by the host, as much of it as intaglio::cuda and its verification call:
// device memory is the host's, and a stream's work is done at once, or when its graph is launched.
#ifndef INTAGLIO_TEST_CUDA_HOST_RUNTIME_CUH_
#define INTAGLIO_TEST_CUDA_HOST_RUNTIME_CUH_

#include <cuda_runtime_api.h>

#include <functional>

namespace intaglio::test {

// From here on, the n-th call that can fail, from 0, does so with this error; of a negative n,
// none. Freeing memory and ending what a graph is made of do not count.
void FailCall(int n, cudaError_t error = cudaErrorInvalidValue);
// How many calls there were since.
int CallsMade();

// Of the device, 10 * major + minor; that of an H200 at first.
void SetCapability(int capability);

// Does what a call enqueues, or adds it to the graph that is being captured.
cudaError_t Enqueue(std::function<void()> work);

}  // namespace intaglio::test

#endif  // INTAGLIO_TEST_CUDA_HOST_RUNTIME_CUH_
