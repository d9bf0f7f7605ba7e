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
// returned. The tasks throw no exception.
using ParallelFor = std::function<void(int count, const std::function<void(int)>& task)>;

// Serves one caller at a time; several contexts may run at once, and share packed matrices. Results
// do not depend on the number of threads.
//
// fork() copies a context but not its threads. The child may use and destroy its copy, and may exit
// with a static copy, whatever the parent does with its own context. The copy starts its own
// threads when it next needs them. There is one exception: if another thread of the parent was
// using the context during fork(), the copy may be in the middle of a change. The child must then
// neither use nor destroy the copy and, if it is static, must call _exit() instead of exit(). A
// pool of the caller's own must be repaired by the caller.
//
// Two cases are not covered: children of _Fork() or clone(), which do not run the handlers of
// pthread_atfork(), and these handlers themselves. Neither may use a context.
//
// If memory or threads are short, a call returns an error or runs on fewer threads, and the context
// remains usable.
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

  // How many threads products use now.
  int threads() const;

  // For the engine: while an object of this class lives, products of the context use at most
  // `threads` threads; 0: all. Results do not depend on it.
  class Limit {
   public:
    Limit(Context& context, int threads);
    ~Limit();
    Limit(const Limit&) = delete;
    Limit& operator=(const Limit&) = delete;

   private:
    Context& context_;
    int before_;
  };

  // Bytes held now, from the largest product on: scratch, and panels packed for one call.
  size_t scratch_bytes() const;

  // For the engine: runs task(0 .. count-1) on the context's threads. When all are done, throws
  // what a task threw. Also throws std::bad_alloc if there is no memory for the threads.
  void Run(int count, const std::function<void(int)>& task);
  // For the engine: 64-byte aligned scratch of block `index`, which keeps its content only during
  // one product; null where memory is short.
  void* Scratch(int index, size_t bytes);
  // For the engine: a context of one thread for products inside of task `index` of Run. It lives as
  // long as this one. It must be asked for before Run.
  Context& ForTask(int index);
  // For the engine: the panels of a product neither side of which was packed before.
  Panels& CallPanels();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_CONTEXT_H_
