#include "intaglio/kernels/x86/registers_avx2.h"
#include "intaglio/test/pipeline/composition_list.h"

namespace intaglio::test {

void RunAvx2(int composition, const StageParameters& p, const AccumulatorTile& tile) {
  RunComposition<Avx2>(composition, p, tile);
}

}  // namespace intaglio::test
