// The loops over float32 in vectors of 16 bytes, which the compiler has for every CPU.
#include "intaglio/kernels/float32/make_loops.h"

namespace intaglio {
namespace {
struct LoopsScalar;
}  // namespace

extern constinit const FloatLoops kFloatLoopsScalar =
    float32::MakeLoops<LoopsScalar, 16, float32::Unfused>(0);
#if defined(__aarch64__)
extern constinit const FloatLoops kFloatLoopsScalarFused =
    float32::MakeLoops<LoopsScalar, 16, float32::Fused>(0);
#endif

}  // namespace intaglio
