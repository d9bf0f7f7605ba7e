// Products neither side of which was packed before.
#ifndef INTAGLIO_GEMM_RUN_PACK_FOR_CALL_H_
#define INTAGLIO_GEMM_RUN_PACK_FOR_CALL_H_

#include "intaglio/fixedpoint/status.h"
#include "intaglio/gemm/context.h"
#include "intaglio/gemm/gemm.h"
#include "intaglio/gemm/plan/product.h"

namespace intaglio {

// The side to pack: the one whose vectors lie contiguous in dst, unless only the other lets the
// kernel apply the pipeline in registers.
Side ChoosePanelSide(const Operand& lhs, const MutableMatrix& dst,
                     const StandardPipeline* standard);

// Packs the matrix whose rows are the channels, on the context's threads, and gives the product its
// panels and the kernel that reads them. Checks that no sum can leave int32.
Status PackForCall(Context& context, const ConstMatrix& channels, Product& product);

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_RUN_PACK_FOR_CALL_H_
