#include "intaglio/bench/gemm/custom_pipeline.h"
#include "intaglio/fixedpoint/registers.h"

namespace intaglio::bench {

CustomPipeline MakeCustomScalar(const CustomParameters& p) { return MakeCustom<Scalar>(p); }

}  // namespace intaglio::bench
