#include "intaglio/kernels/arm/registers_neon.h"
#include "intaglio/test/fixedpoint/operation_list.h"

namespace intaglio::test {

OperationTable NeonOperations() { return MakeOperationTable<Neon>(); }

}  // namespace intaglio::test
