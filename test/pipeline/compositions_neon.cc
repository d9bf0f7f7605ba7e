#include "intaglio/kernels/arm/registers_neon.h"
#include "intaglio/test/pipeline/composition_list.h"

namespace intaglio::test {

void RunNeon(int composition, const StageParameters& p, const AccumulatorTile& tile) {
  RunComposition<Neon>(composition, p, tile);
}

}  // namespace intaglio::test
