// The products that bench_cuda measures.
#ifndef INTAGLIO_BENCH_CUDA_CASES_H_
#define INTAGLIO_BENCH_CUDA_CASES_H_

#include <span>

namespace intaglio::bench {

struct Case {
  const char* name;
  int rows, channels, depth;
};

std::span<const Case> Cases();

}  // namespace intaglio::bench

#endif  // INTAGLIO_BENCH_CUDA_CASES_H_
