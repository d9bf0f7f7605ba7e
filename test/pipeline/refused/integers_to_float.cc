// refused: put Requantize or ScaleToFloat before the cast
#include "intaglio/gemm/gemm.h"

void Run() {
  const intaglio::Pipeline pipeline(intaglio::Clamp{0, 5}, intaglio::CastTo<float>{});
  (void)intaglio::AsTilePipeline<intaglio::NativeRegisters>(pipeline);
}
