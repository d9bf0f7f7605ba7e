// refused: this stage does not take the value of the stage before it
#include "intaglio/gemm/gemm.h"

struct Nothing {};

void Run() {
  const intaglio::Pipeline pipeline(Nothing{}, intaglio::CastTo<int8_t>{});
  (void)intaglio::AsTilePipeline<intaglio::NativeRegisters>(pipeline);
}
