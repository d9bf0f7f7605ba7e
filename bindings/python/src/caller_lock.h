// Lets one caller at a time into a model, whatever threads and processes there are.
#ifndef INTAGLIO_BINDINGS_PYTHON_SRC_CALLER_LOCK_H_
#define INTAGLIO_BINDINGS_PYTHON_SRC_CALLER_LOCK_H_

#include <atomic>
#include <cstdint>

namespace intaglio::python {

// A mutex whose callers get in by turns, in the order in which they came: a thread that runs a
// model again and again does not keep another one from resizing it. fork() cannot leave it locked
// for ever: the child knows that the holder is a thread of its parent.
class CallerLock {
 public:
  // Needs the GIL, which it releases only while it waits. Raises BusyError if the holder was left
  // behind by fork().
  void Lock();
  void Unlock();

  // Whether a thread of the parent was inside when fork() copied this process.
  bool LostInFork() const;

 private:
  std::atomic<uint32_t> next_{0};     // the turn of who comes next
  std::atomic<uint32_t> serving_{0};  // the turn of who is inside; it is free if both are equal
  std::atomic<uint32_t> forks_{0};    // how often the process was forked before the last one came
};

class CallerGuard {
 public:
  explicit CallerGuard(CallerLock& lock) : lock_(lock) { lock_.Lock(); }
  ~CallerGuard() { lock_.Unlock(); }
  CallerGuard(const CallerGuard&) = delete;
  CallerGuard& operator=(const CallerGuard&) = delete;

 private:
  CallerLock& lock_;
};

}  // namespace intaglio::python

#endif  // INTAGLIO_BINDINGS_PYTHON_SRC_CALLER_LOCK_H_
