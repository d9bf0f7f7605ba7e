// Lets one caller at a time into a model, whatever threads and processes there are.
#ifndef INTAGLIO_BINDINGS_PYTHON_SRC_CALLER_LOCK_H_
#define INTAGLIO_BINDINGS_PYTHON_SRC_CALLER_LOCK_H_

#include <atomic>
#include <cstdint>

namespace intaglio::python {

// A mutex that fork() cannot leave locked for ever: the child knows that the holder is a thread of
// its parent.
class CallerLock {
 public:
  // Needs the GIL, which it releases only while it waits. Raises BusyError if the holder was left
  // behind by fork().
  void Lock();
  void Unlock();

  // Whether a thread of the parent was inside when fork() copied this process.
  bool LostInFork() const;

 private:
  // 0 if free, else the number of forks before the holder came, times two, plus one.
  std::atomic<uint32_t> holder_{0};
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
