// Every operator is one small struct of parameters. A layer says what is computed, and a routine
// decides how.
//
// A struct holds whatever fixes shapes or constants of the arithmetic as plain values: an importer
// resolves parameters that a file stores as constant tensors (paddings, axes, new shapes), so the
// inputs of a layer are only data, weights and biases.
#ifndef INTAGLIO_NN_OPS_OPERATORS_H_
#define INTAGLIO_NN_OPS_OPERATORS_H_

#include "intaglio/nn/ops/control/operators.h"
#include "intaglio/nn/ops/detection/operators.h"
#include "intaglio/nn/ops/elementwise/operators.h"
#include "intaglio/nn/ops/linear/operators.h"
#include "intaglio/nn/ops/movement/operators.h"
#include "intaglio/nn/ops/recurrent/operators.h"
#include "intaglio/nn/ops/reduce/operators.h"
#include "intaglio/nn/ops/window/operators.h"

#endif  // INTAGLIO_NN_OPS_OPERATORS_H_
