#include "intaglio/bindings/python/src/errors.h"

#include <nanobind/nanobind.h>

#include "intaglio/nn/graph/printable.h"

namespace intaglio::python {
namespace {

const char* KindOf(StatusCode code, const char* kind) {
  switch (code) {
    case StatusCode::kUnsupported:
      return "UnsupportedError";
    case StatusCode::kOutOfMemory:
      return "OutOfMemoryError";
    case StatusCode::kIoError:
      return "FileError";
    default:
      return kind;
  }
}

}  // namespace

void Raise(const char* kind, const std::string& message) {
  const nanobind::object type = nanobind::module_::import_("intaglio.errors").attr(kind);
  PyErr_SetString(type.ptr(), nn::Printable(message).c_str());
  throw nanobind::python_error();
}

void RaiseIfError(const Status& status, const char* kind) {
  if (!status.ok()) Raise(KindOf(status.code(), kind), status.message());
}

}  // namespace intaglio::python
