// The lock of the interpreter.
#ifndef INTAGLIO_BINDINGS_PYTHON_SRC_GIL_H_
#define INTAGLIO_BINDINGS_PYTHON_SRC_GIL_H_

#include <nanobind/nanobind.h>
#include <unistd.h>

namespace intaglio::python {

// Releases the GIL for a scope. Before version 3.14, an interpreter that has ended unwinds a daemon
// thread that asks for the GIL. No C++ frame may be unwound so: it would end the process with an
// error. Such a thread sleeps instead until the process ends, as in later versions.
class GilRelease {
 public:
  GilRelease() : state_(PyEval_SaveThread()) {}
  ~GilRelease() noexcept(false) {
    SleepIfUnwound sleep;
    PyEval_RestoreThread(state_);
    sleep.armed = false;
  }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  struct SleepIfUnwound {
    ~SleepIfUnwound() {
      while (armed) pause();
    }
    bool armed = true;
  };

  PyThreadState* state_;
};

}  // namespace intaglio::python

#endif  // INTAGLIO_BINDINGS_PYTHON_SRC_GIL_H_
