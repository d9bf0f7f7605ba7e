// refused: put Requantize or ScaleToFloat before the cast
#include "intaglio/gemm/gemm.h"

void Run() {
  const intaglio::Pipeline pipeline(intaglio::ScaleToFloat{1.0f}, intaglio::CastTo<int8_t>{});
  (void)intaglio::AsTilePipeline<intaglio::NativeRegisters>(pipeline);
}
