// refused: this stage does not take the value of the stage before it
#include "intaglio/gemm/gemm.h"

void Run() {
  const intaglio::Pipeline pipeline(intaglio::ScaleToFloat{1.0f}, intaglio::RoundingShift{1},
                                    intaglio::CastTo<int8_t>{});
  (void)intaglio::AsTilePipeline<intaglio::NativeRegisters>(pipeline);
}
