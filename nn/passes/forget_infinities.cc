#include "intaglio/nn/passes/forget_infinities.h"

#include "intaglio/nn/ops/operators.h"

namespace intaglio::nn {
namespace {

template <class Op>
void KeepNone(Operator& op) {
  if (!op.Is<Op>()) return;
  Op changed = *op.As<Op>();
  changed.keeps_infinities = false;
  op = changed;
}

}  // namespace

void ForgetInfinities(Operator& op) {
  KeepNone<Add>(op);
  KeepNone<Sub>(op);
  KeepNone<Mul>(op);
  KeepNone<Div>(op);
  KeepNone<ReduceMax>(op);
  KeepNone<ReduceMin>(op);
}

}  // namespace intaglio::nn
