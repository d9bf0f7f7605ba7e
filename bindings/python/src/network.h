// Networks that Python writes layer by layer, for intaglio.torch: to train with their numbers, and
// to save them.
#ifndef INTAGLIO_BINDINGS_PYTHON_SRC_NETWORK_H_
#define INTAGLIO_BINDINGS_PYTHON_SRC_NETWORK_H_

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/operator.h"

namespace intaglio::python {

// The operator of a TFLite name and a dict of parameters (operator_from.cc).
Result<nn::Operator> OperatorFrom(const std::string& name, const nanobind::dict& parameters);

void BindNetwork(nanobind::module_& module);

}  // namespace intaglio::python

#endif  // INTAGLIO_BINDINGS_PYTHON_SRC_NETWORK_H_
