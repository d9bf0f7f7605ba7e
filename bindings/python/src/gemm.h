// Products of matrices from Python: pack() and gemm().
#ifndef INTAGLIO_BINDINGS_PYTHON_SRC_GEMM_H_
#define INTAGLIO_BINDINGS_PYTHON_SRC_GEMM_H_

#include <nanobind/nanobind.h>

namespace intaglio::python {

void BindGemm(nanobind::module_& module);

}  // namespace intaglio::python

#endif  // INTAGLIO_BINDINGS_PYTHON_SRC_GEMM_H_
