// The checks of a product: made once, before anything is touched.
#ifndef INTAGLIO_GEMM_PLAN_CHECK_H_
#define INTAGLIO_GEMM_PLAN_CHECK_H_

#include "intaglio/fixedpoint/status.h"
#include "intaglio/gemm/gemm.h"
#include "intaglio/pack/panels.h"
#include "intaglio/pack/rows.h"

namespace intaglio {

// Types, extents, strides, null data, shapes that fit, a dst that overlaps nothing.
Status CheckOperands(const Operand& lhs, const Operand& rhs, const MutableMatrix& dst);

// That no sum can leave int32. Of packed panels their own values count; of a matrix whose rows are
// the channels, the worst of its type.
Status CheckDepth(const Panels& panels, int64_t row_magnitude);
Status CheckDepth(const RowSource& rows, const ConstMatrix& channels);

// Filters whose kernel rows are padded need the windows that they were packed for.
Status CheckRuns(const RowSource& rows, const Panels& panels);

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_PLAN_CHECK_H_
