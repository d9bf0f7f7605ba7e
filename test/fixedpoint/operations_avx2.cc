#include "intaglio/kernels/x86/registers_avx2.h"
#include "intaglio/test/fixedpoint/operation_list.h"

namespace intaglio::test {

OperationTable Avx2Operations() { return MakeOperationTable<Avx2>(); }

}  // namespace intaglio::test
