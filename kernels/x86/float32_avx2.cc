// The loops over float32 in vectors of 32 bytes, for CPUs with AVX2 and FMA.
#include "intaglio/kernels/cpu_feature.h"
#include "intaglio/kernels/float32/make_loops.h"

namespace intaglio {
namespace {
struct LoopsAvx2;
}  // namespace

extern constinit const FloatLoops kFloatLoopsAvx2 =
    float32::MakeLoops<LoopsAvx2, 32, float32::Unfused>(kAvx2);
extern constinit const FloatLoops kFloatLoopsAvx2Fused =
    float32::MakeLoops<LoopsAvx2, 32, float32::Fused>(kAvx2);

}  // namespace intaglio
