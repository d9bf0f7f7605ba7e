// refused: CastTo<T> takes int8_t, uint8_t, int16_t, int32_t or float
#include "intaglio/gemm/gemm.h"

auto Make() { return intaglio::Pipeline(intaglio::CastTo<double>{}); }
