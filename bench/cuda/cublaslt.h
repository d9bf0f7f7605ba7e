// cuBLASLt's int8 x int8 to int32 or int8, where CMake finds the library.
#ifndef INTAGLIO_BENCH_CUDA_CUBLASLT_H_
#define INTAGLIO_BENCH_CUDA_CUBLASLT_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

#include "intaglio/fixedpoint/type.h"

namespace intaglio::bench {

// dst[row][channel] = sum over depth of rows[row][depth] * channels[channel][depth], all of them
// dense; as int8, times one scale for all. The library wants extents that are multiples of 16 (of 4
// at least).
class CublasLt {
 public:
  CublasLt(int rows, int channels, int depth, Type output);
  ~CublasLt();
  bool works() const;
  bool Run(const int8_t* rows, const int8_t* channels, void* dst, cudaStream_t stream) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace intaglio::bench

#endif  // INTAGLIO_BENCH_CUDA_CUBLASLT_H_
