// A value that a process makes on first use and never destroys.
#ifndef INTAGLIO_FIXEDPOINT_MAKE_ONCE_H_
#define INTAGLIO_FIXEDPOINT_MAKE_ONCE_H_

#include <atomic>
#include <memory>

namespace intaglio {

// The first use of MakeOnce. It is not inlined, so that later uses are a load and a branch.
template <class T, class Make>
[[gnu::noinline, gnu::cold]] T& MakeNow(std::atomic<T*>& made, const Make& make) {
  T* value = nullptr;
  std::unique_ptr<T> mine = make();
  if (made.compare_exchange_strong(value, mine.get(), std::memory_order_acq_rel)) {
    value = mine.release();
  }
  return *value;
}

// Returns the value that `made` points to. `made` is null before the first use. make() returns a
// std::unique_ptr to such a value, the same each time. Nothing destroys the value: threads may
// still read it while the process exits. If several threads meet in the first use, each makes a
// value, and the first one stays. So none of them waits for another thread, which a forked child
// may not have.
template <class T, class Make>
T& MakeOnce(std::atomic<T*>& made, const Make& make) {
  T* const value = made.load(std::memory_order_acquire);
  return value != nullptr ? *value : MakeNow(made, make);
}

}  // namespace intaglio

#endif  // INTAGLIO_FIXEDPOINT_MAKE_ONCE_H_
