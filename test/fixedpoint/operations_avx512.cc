#include "intaglio/kernels/x86/registers_avx512.h"
#include "intaglio/test/fixedpoint/operation_list.h"

namespace intaglio::test {

OperationTable Avx512Operations() { return MakeOperationTable<Avx512>(); }

}  // namespace intaglio::test
