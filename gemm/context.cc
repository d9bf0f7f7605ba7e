#include "intaglio/gemm/context.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "intaglio/gemm/task_parts.h"
#include "intaglio/pack/aligned_buffer.h"
#include "intaglio/pack/panels.h"

namespace intaglio {
namespace {

// Longer than most operators take one thread: who wakes too late for one is awake for the next. A
// sleeper of a virtual machine may wake late every time. ruy's threads wait as long.
constexpr std::chrono::microseconds kSpin{2000};
constexpr std::chrono::microseconds kCrowdedSpin{50};

// Leaves the resources of a core to the other thread that it may run.
void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Threads that wait for numbered rounds of work.
class WorkerPool {
 public:
  explicit WorkerPool(int workers)
      : workers_(workers),
        crowded_(static_cast<unsigned>(workers) >= std::thread::hardware_concurrency()) {
    try {
      for (int i = 0; i < workers; ++i) {
        threads_.emplace_back([this, i] { Work(i + 1); });
      }
    } catch (const std::system_error&) {
      // The machine has no more threads to give: the caller runs what they would have run.
    }
  }

  ~WorkerPool() {
    {
      const std::lock_guard lock(mutex_);
      stop_.store(true);
      round_.fetch_add(1);
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  // Runs task(0 .. count - 1), here and on whichever workers wake in time; returns when all are
  // done.
  void Run(int count, const std::function<void(int)>& task) {
    {
      const std::lock_guard lock(mutex_);
      task_ = &task;
      tasks_.Reset(count, workers_ + 1);
      round_.fetch_add(1);
    }
    wake_.notify_all();
    tasks_.Run(0, task);
    {
      const std::lock_guard lock(mutex_);
      task_ = nullptr;  // whoever wakes now is too late: nobody waits for a sleeper
    }
    SpinWhile([&] { return active_.load() != 0; });
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return active_.load() == 0; });
  }

 private:
  // With a core for each thread none is given away: a stranger would keep it for milliseconds,
  // many times what is waited for.
  template <class Condition>
  void SpinWhile(const Condition& condition) const {
    const auto until = std::chrono::steady_clock::now() + (crowded_ ? kCrowdedSpin : kSpin);
    while (condition() && std::chrono::steady_clock::now() < until) {
      if (crowded_) {
        std::this_thread::yield();
      } else {
        Pause();
      }
    }
  }

  void Work(int thread) {
    for (uint64_t seen = 0;;) {
      SpinWhile([&] { return round_.load() == seen; });
      const std::function<void(int)>* task = nullptr;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return round_.load() != seen; });
        seen = round_.load();
        task = task_;
        if (task != nullptr) active_.fetch_add(1);
      }
      if (stop_.load()) return;
      if (task == nullptr) continue;
      tasks_.Run(thread, *task);
      if (active_.fetch_sub(1) == 1) {
        const std::lock_guard lock(mutex_);
        done_.notify_one();
      }
    }
  }

  const int workers_;
  const bool crowded_;  // more threads than cores: who is waited for may need this one
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  // A cache line each: who spins on one is not held up by who writes another.
  alignas(64) std::atomic<uint64_t> round_{0};
  alignas(64) std::atomic<int> active_{0};  // workers with a part in it
  alignas(64) std::atomic<bool> stop_{false};
  const std::function<void(int)>* task_ = nullptr;  // of the round; null between rounds
  TaskParts tasks_;                                 // of the round
  std::vector<std::thread> threads_;
};

}  // namespace

struct Context::Impl {
  int threads;
  ParallelFor parallel_for;
  std::unique_ptr<WorkerPool> pool;
  std::vector<AlignedBuffer> scratch;
  Panels call_panels;
};

Context::Context(int threads) : Context(threads, nullptr) {}

Context::Context(int threads, ParallelFor parallel_for)
    : impl_(std::make_unique<Impl>(
          Impl{std::max(1, threads), std::move(parallel_for), nullptr, {}, {}})) {}

Context::~Context() = default;

int Context::threads() const { return impl_->threads; }

size_t Context::scratch_bytes() const {
  size_t bytes = impl_->call_panels.bytes();
  for (const AlignedBuffer& buffer : impl_->scratch) bytes += buffer.bytes();
  return bytes;
}

void Context::Run(int count, const std::function<void(int)>& task) {
  if (count <= 1) {
    for (int i = 0; i < count; ++i) task(i);
  } else if (impl_->parallel_for) {
    impl_->parallel_for(count, task);
  } else {
    if (!impl_->pool) impl_->pool = std::make_unique<WorkerPool>(impl_->threads - 1);
    impl_->pool->Run(count, task);
  }
}

void* Context::Scratch(int index, size_t bytes) {
  const auto at = static_cast<size_t>(index);
  if (impl_->scratch.size() <= at) impl_->scratch.resize(at + 1);
  AlignedBuffer& buffer = impl_->scratch[at];
  if (buffer.bytes() < bytes || buffer.data() == nullptr) {
    buffer = AlignedBuffer::Allocate(std::max<size_t>(bytes, AlignedBuffer::kAlignment));
  }
  return buffer.data();
}

Panels& Context::CallPanels() { return impl_->call_panels; }

}  // namespace intaglio
