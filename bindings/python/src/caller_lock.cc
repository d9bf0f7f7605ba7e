#include "intaglio/bindings/python/src/caller_lock.h"

#include <nanobind/nanobind.h>
#include <pthread.h>

#include "intaglio/bindings/python/src/errors.h"
#include "intaglio/bindings/python/src/gil.h"

namespace intaglio::python {
namespace {

// How often this process, or one that it came from, was forked. Only the child's first thread
// writes it.
std::atomic<uint32_t> forks{0};

[[maybe_unused]] const int registered =
    pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });

uint32_t Mark() { return 2 * forks.load(std::memory_order_relaxed) + 1; }

}  // namespace

void CallerLock::Lock() {
  const uint32_t mark = Mark();
  uint32_t holder = 0;
  while (!holder_.compare_exchange_strong(holder, mark, std::memory_order_acquire)) {
    if (holder != mark) {
      Raise("BusyError",
            "another thread was running this model when the process was forked; "
            "use a model of share()");
    }
    const GilRelease release;
    holder_.wait(mark);
    holder = 0;
  }
}

void CallerLock::Unlock() {
  holder_.store(0, std::memory_order_release);
  holder_.notify_one();
}

bool CallerLock::LostInFork() const {
  const uint32_t holder = holder_.load(std::memory_order_relaxed);
  return holder != 0 && holder != Mark();
}

}  // namespace intaglio::python
