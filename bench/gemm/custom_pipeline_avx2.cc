#include "intaglio/bench/gemm/custom_pipeline.h"
#include "intaglio/kernels/x86/registers_avx2.h"

namespace intaglio::bench {

CustomPipeline MakeCustomAvx2(const CustomParameters& p) { return MakeCustom<Avx2>(p); }

}  // namespace intaglio::bench
