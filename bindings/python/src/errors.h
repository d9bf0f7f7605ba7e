// Exceptions of the package intaglio, which intaglio/errors.py defines.
#ifndef INTAGLIO_BINDINGS_PYTHON_SRC_ERRORS_H_
#define INTAGLIO_BINDINGS_PYTHON_SRC_ERRORS_H_

#include <string>

#include "intaglio/fixedpoint/status.h"

namespace intaglio::python {

// Raises the exception `kind`, a class of intaglio/errors.py. Needs the GIL.
[[noreturn]] void Raise(const char* kind, const std::string& message);

// Raises what a status says unless it is ok. What the caller did wrong is an error of `kind`. Other
// codes have kinds of their own. Needs the GIL.
void RaiseIfError(const Status& status, const char* kind);

}  // namespace intaglio::python

#endif  // INTAGLIO_BINDINGS_PYTHON_SRC_ERRORS_H_
