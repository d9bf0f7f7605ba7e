// Architectures without vector kernels: every custom pipeline is the scalar one.
#include "intaglio/bench/gemm/custom_pipeline.h"

namespace intaglio::bench {

CustomPipeline MakeCustomAvx512(const CustomParameters& p) { return MakeCustomScalar(p); }
CustomPipeline MakeCustomAvx2(const CustomParameters& p) { return MakeCustomScalar(p); }

}  // namespace intaglio::bench
