// compiles
#include "intaglio/gemm/gemm.h"

void Run(const int32_t* acc) {
  const intaglio::Pipeline pipeline(intaglio::AddBias{acc}, intaglio::CastTo<int8_t>{});
  (void)intaglio::AsTilePipeline<intaglio::NativeRegisters>(pipeline);
}
