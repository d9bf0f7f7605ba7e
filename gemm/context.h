// Threads and scratch memory for products.
#ifndef INTAGLIO_GEMM_CONTEXT_H_
#define INTAGLIO_GEMM_CONTEXT_H_

#include <cstddef>
#include <functional>
#include <memory>

#include "intaglio/fixedpoint/status.h"

namespace intaglio {

struct Panels;

// Runs task(0) ... task(count - 1), in any order, on any threads, and returns when all have
// returned. The tasks throw nothing.
using ParallelFor = std::function<void(int count, const std::function<void(int)>& task)>;

// Serves one caller at a time; several contexts may run at once, and share packed matrices. Results
// do not depend on the number of threads.
//
// fork() copies a context but not its threads. The child may use and destroy its copy, and exit
// with a static one, whatever the parent does with its own: the copy starts threads of its own when
// it needs them next. Only a context that another thread of the parent was using at that moment is
// copied in the midst of a change: the child must neither use nor destroy that copy, nor call
// exit() where it is static, but _exit(). A pool of the caller's own is the caller's to mend.
// Not covered are children of _Fork() or of clone() for which no handlers of pthread_atfork() run,
// and such handlers themselves: these use no context.
//
// Where memory or threads are short, a call returns an error or runs on fewer threads, and the
// context remains usable.
class Context {
 public:
  // Uses `threads` threads, the caller's among them. The others are started on first need and sleep
  // between products: an idle worker spins for at most 2 milliseconds.
  explicit Context(int threads = 1);

  // Adds no threads: blocks are run through the caller's own pool, `threads` of them at a time.
  Context(int threads, ParallelFor parallel_for);

  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  int threads() const;

  // Bytes held now, from the largest product on: scratch, and panels packed for one call.
  size_t scratch_bytes() const;

  // For the engine: runs task(0 .. count-1) on the context's threads. Throws, when all are done,
  // what a task threw; std::bad_alloc also where there is no memory for the threads.
  void Run(int count, const std::function<void(int)>& task);
  // For the engine: 64-byte aligned scratch of block `index`, which keeps its content only during
  // one product; null where memory is short.
  void* Scratch(int index, size_t bytes);
  // For the engine: the panels of a product neither side of which was packed before.
  Panels& CallPanels();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_CONTEXT_H_
