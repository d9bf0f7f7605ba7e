#include "intaglio/bench/cuda/peers.h"

namespace intaglio::bench {

// CMake defines INTAGLIO_BENCH_<ENGINE> for each that it compiles.
PeerList MakePeers([[maybe_unused]] const PeerProblem& problem) {
  PeerList list;
#ifdef INTAGLIO_BENCH_CUBLASLT
  AddCublasLt(problem, list);
#endif
#ifdef INTAGLIO_BENCH_CUTLASS
  AddCutlass(problem, list);
#endif
  return list;
}

}  // namespace intaglio::bench
