#include "intaglio/bench/gemm/custom_pipeline.h"
#include "intaglio/kernels/x86/registers_avx512.h"

namespace intaglio::bench {

CustomPipeline MakeCustomAvx512(const CustomParameters& p) { return MakeCustom<Avx512>(p); }

}  // namespace intaglio::bench
