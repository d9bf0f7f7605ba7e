// Threads that wait for rounds of work.
#ifndef INTAGLIO_GEMM_MACHINE_WORKER_POOL_H_
#define INTAGLIO_GEMM_MACHINE_WORKER_POOL_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace intaglio {

// Keeps the first exception that concurrent tasks throw, for the caller of the tasks.
class FirstException {
 public:
  template <class Function>
  void Try(const Function& f) noexcept {
    try {
      f();
    } catch (...) {
      if (!thrown_.exchange(true)) first_ = std::current_exception();
    }
  }
  // May be called only when all tasks have returned.
  void Rethrow() {
    if (!thrown_.load(std::memory_order_relaxed)) return;
    thrown_ = false;
    std::rethrow_exception(std::exchange(first_, nullptr));
  }

 private:
  std::atomic<bool> thrown_{false};
  std::exception_ptr first_;
};

// Each worker has a desk, one cache line on which its part of a round is offered to it: that line,
// there and back, is all that threads hand to each other while they spin. They lock only to sleep.
//
// A forked child has none of the threads, and the objects that they slept on may be in any state.
// The child's pool starts new threads when it first runs, and waits for none when it is destroyed.
class WorkerPool {
 public:
  explicit WorkerPool(int workers);
  ~WorkerPool();

  // Runs task(0) here and each of task(1 .. count - 1) on a worker, always the same one, or here if
  // the worker does not wake in time. Returns when all are done, and throws what the first of them
  // threw. `count` is at most one more than the number of workers.
  void Run(int count, const std::function<void(int)>& task);

 private:
  enum class Offer : uint32_t { kNone, kOpen, kTaken, kStop };

  struct alignas(64) Desk {
    std::atomic<Offer> offer{Offer::kNone};
    int number = 0;  // of the task
    const std::function<void(int)>* task = nullptr;

    // Whoever finds it open runs the task, the worker or, where that is late, the caller.
    Offer Take(Offer to);
  };

  void Start();
  // For a forked child: makes anew what the parent's threads may have held, and forgets the
  // threads.
  void ForgetThreads();
  void Work(Desk& desk);
  // Takes the offer when it is open; false when all stop.
  bool Await(Desk& desk, bool settled);
  template <class Condition>
  void SpinWhile(const Condition& condition, bool settled) const;
  void WakeSleepers();

  const bool crowded_;  // more threads than cores: who is waited for may need this one
  std::vector<Desk> desks_;
  alignas(64) std::atomic<int> sleepers_{0};
  std::atomic<bool> caller_sleeps_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  FirstException exception_;
  uint64_t rounds_ = 0;
  uint32_t forks_;  // the count of forks in the process that has the threads
  std::vector<std::thread> threads_;
};

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_MACHINE_WORKER_POOL_H_
