#include "intaglio/kernels/x86/registers_sse41.h"
#include "intaglio/test/pipeline/composition_list.h"

namespace intaglio::test {

void RunSse41(int composition, const StageParameters& p, const AccumulatorTile& tile) {
  RunComposition<Sse41>(composition, p, tile);
}

}  // namespace intaglio::test
