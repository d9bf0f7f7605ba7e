// Device memory, for callers that do not include CUDA's headers.
#ifndef INTAGLIO_GEMM_CUDA_MEMORY_H_
#define INTAGLIO_GEMM_CUDA_MEMORY_H_

#include <cstddef>
#include <memory>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/gemm/cuda/stream.h"

namespace intaglio::cuda {

// At least one byte, at a multiple of 256, on the current device; freed with its last owner.
Result<std::shared_ptr<void>> Allocate(size_t bytes);

// Enqueued in the stream. Either side of a copy may be memory of the host, which must stay as it is
// until the copy is done.
Status Copy(const Stream& stream, void* to, const void* from, size_t bytes);
Status Fill(const Stream& stream, void* to, int byte, size_t bytes);

// Until all that is enqueued is done; an error if any of it went wrong.
Status Wait(const Stream& stream);

}  // namespace intaglio::cuda

#endif  // INTAGLIO_GEMM_CUDA_MEMORY_H_
