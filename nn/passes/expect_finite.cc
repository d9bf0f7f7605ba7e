#include "intaglio/nn/passes/expect_finite.h"

#include "intaglio/nn/ops/operators.h"

namespace intaglio::nn {
namespace {

template <class Op>
void Forget(Operator& op, bool Op::*flag) {
  if (!op.Is<Op>()) return;
  Op changed = *op.As<Op>();
  changed.*flag = false;
  op = changed;
}

}  // namespace

void ExpectFinite(Operator& op) {
  Forget(op, &Add::keeps_infinities);
  Forget(op, &Sub::keeps_infinities);
  Forget(op, &Mul::keeps_infinities);
  Forget(op, &Div::keeps_infinities);
  Forget(op, &ReduceMax::keeps_infinities);
  Forget(op, &ReduceMin::keeps_infinities);
  Forget(op, &Maximum::keeps_nan);
  Forget(op, &Minimum::keeps_nan);
}

}  // namespace intaglio::nn
