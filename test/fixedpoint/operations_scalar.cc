#include "intaglio/fixedpoint/registers.h"
#include "intaglio/test/fixedpoint/operation_list.h"

namespace intaglio::test {

OperationTable ScalarOperations() { return MakeOperationTable<Scalar>(); }

}  // namespace intaglio::test
