// refused: a pipeline ends with CastTo<T>
#include "intaglio/gemm/gemm.h"

auto Make() { return intaglio::Pipeline<>(); }
