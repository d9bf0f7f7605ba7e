// The loops over float32 in vectors of 64 bytes, for CPUs with AVX-512.
#include "intaglio/kernels/cpu_feature.h"
#include "intaglio/kernels/float32/make_loops.h"

namespace intaglio {
namespace {
struct LoopsAvx512;
}  // namespace

extern constinit const FloatLoops kFloatLoopsAvx512 =
    float32::MakeLoops<LoopsAvx512, 64, float32::Unfused>(kAvx512Bw);
extern constinit const FloatLoops kFloatLoopsAvx512Fused =
    float32::MakeLoops<LoopsAvx512, 64, float32::Fused>(kAvx512Bw);

}  // namespace intaglio
