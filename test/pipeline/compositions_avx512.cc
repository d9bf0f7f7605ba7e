#include "intaglio/kernels/x86/registers_avx512.h"
#include "intaglio/test/pipeline/composition_list.h"

namespace intaglio::test {

void RunAvx512(int composition, const StageParameters& p, const AccumulatorTile& tile) {
  RunComposition<Avx512>(composition, p, tile);
}

}  // namespace intaglio::test
