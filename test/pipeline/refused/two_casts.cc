// refused: only the last stage of a pipeline may be a CastTo<T>
#include "intaglio/gemm/gemm.h"

auto Make() { return intaglio::Pipeline(intaglio::CastTo<int32_t>{}, intaglio::CastTo<int8_t>{}); }
