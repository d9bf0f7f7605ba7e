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

uint32_t Forks() { return forks.load(std::memory_order_relaxed); }

}  // namespace

void CallerLock::Lock() {
  if (LostInFork()) {
    Raise("BusyError",
          "another thread was running this model when the process was forked; "
          "use a model of share()");
  }
  forks_.store(Forks(), std::memory_order_relaxed);
  const uint32_t turn = next_.fetch_add(1, std::memory_order_relaxed);
  uint32_t serving = serving_.load(std::memory_order_acquire);
  if (serving == turn) return;
  const GilRelease release;
  for (; serving != turn; serving = serving_.load(std::memory_order_acquire)) {
    serving_.wait(serving, std::memory_order_acquire);
  }
}

void CallerLock::Unlock() {
  serving_.fetch_add(1, std::memory_order_release);
  serving_.notify_all();
}

bool CallerLock::LostInFork() const {
  const bool is_free =
      next_.load(std::memory_order_relaxed) == serving_.load(std::memory_order_relaxed);
  return !is_free && forks_.load(std::memory_order_relaxed) != Forks();
}

}  // namespace intaglio::python
