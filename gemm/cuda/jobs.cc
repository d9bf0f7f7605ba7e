#include "intaglio/gemm/cuda/jobs.h"

#include "intaglio/gemm/cuda/error.cuh"
#include "intaglio/kernels/cuda/jobs.cuh"

namespace intaglio::cuda {

template <class Job>
Status Enqueue(const Stream& stream, const Job& job) {
  return ToStatus(LaunchJob(job, stream.get()), "launching an operator's kernel");
}

template Status Enqueue(const Stream&, const PairJob<SumOfPair>&);
template Status Enqueue(const Stream&, const PairJob<ProductOfPair>&);
template Status Enqueue(const Stream&, const MapJob<Lookup>&);
template Status Enqueue(const Stream&, const MapJob<FromReal>&);
template Status Enqueue(const Stream&, const MapJob<ToReal>&);
template Status Enqueue(const Stream&, const PadJob&);
template Status Enqueue(const Stream&, const SoftmaxJob&);
template Status Enqueue(const Stream&, const DepthwiseJob&);
template Status Enqueue(const Stream&, const PoolJob&);
template Status Enqueue(const Stream&, const MeanJob&);

}  // namespace intaglio::cuda
