#include "intaglio/kernels/float_table.h"

namespace intaglio {

#if defined(__x86_64__)
extern const FloatLoops kFloatLoopsAvx512Fused;
extern const FloatLoops kFloatLoopsAvx512;
extern const FloatLoops kFloatLoopsAvx2Fused;
extern const FloatLoops kFloatLoopsAvx2;
#elif defined(__aarch64__)
extern const FloatLoops kFloatLoopsScalarFused;
#endif
extern const FloatLoops kFloatLoopsScalar;

std::span<const FloatLoops* const> FloatTable() {
  static constexpr const FloatLoops* kTable[] = {
#if defined(__x86_64__)
    &kFloatLoopsAvx512Fused,
    &kFloatLoopsAvx512,
    &kFloatLoopsAvx2Fused,
    &kFloatLoopsAvx2,
#elif defined(__aarch64__)
    &kFloatLoopsScalarFused,
#endif
    &kFloatLoopsScalar
  };
  return kTable;
}

const FloatLoops& FloatLoopsFor(uint32_t features, FloatSums sums) {
  for (const FloatLoops* row : FloatTable()) {
    const bool adds_so = sums == FloatSums::kFused || row->sums == FloatSums::kUnfused;
    if ((row->needs & ~features) == 0 && adds_so) return *row;
  }
  return *FloatTable().back();  // needs nothing
}

}  // namespace intaglio
