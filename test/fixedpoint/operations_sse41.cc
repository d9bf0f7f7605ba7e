#include "intaglio/kernels/x86/registers_sse41.h"
#include "intaglio/test/fixedpoint/operation_list.h"

namespace intaglio::test {

OperationTable Sse41Operations() { return MakeOperationTable<Sse41>(); }

}  // namespace intaglio::test
