// Compiled with ordinary flags.
#include <type_traits>

#include "intaglio/kernels/x86/plain_registers.h"
#include "intaglio/test/pipeline/composition_list.h"

namespace intaglio::test {
namespace {

template <class Plain>
void RunPlain(int composition, const StageParameters& p, const AccumulatorTile& tile) {
  VisitComposition(composition, p, [&](const auto& pipeline) {
    Plain::template Run<std::decay_t<decltype(pipeline)>>(&pipeline, tile);
  });
}

}  // namespace

void RunPlainSse41(int composition, const StageParameters& p, const AccumulatorTile& tile) {
  RunPlain<PlainSse41>(composition, p, tile);
}
void RunPlainAvx2(int composition, const StageParameters& p, const AccumulatorTile& tile) {
  RunPlain<PlainAvx2>(composition, p, tile);
}
void RunPlainAvx512(int composition, const StageParameters& p, const AccumulatorTile& tile) {
  RunPlain<PlainAvx512>(composition, p, tile);
}

}  // namespace intaglio::test
