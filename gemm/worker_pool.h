// Threads that wait for rounds of work.
#ifndef INTAGLIO_GEMM_WORKER_POOL_H_
#define INTAGLIO_GEMM_WORKER_POOL_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace intaglio {

// Each worker has a desk, one cache line on which its part of a round is offered to it: that line,
// there and back, is all that threads hand to each other while they spin. They lock only to sleep.
class WorkerPool {
 public:
  explicit WorkerPool(int workers);
  ~WorkerPool();

  // Runs task(0) here and task(1 .. count - 1) each on a worker, always the same one, or here if it
  // does not wake in time; returns when all are done. count is at most one more than the workers. A
  // task that throws ends the program.
  void Run(int count, const std::function<void(int)>& task) noexcept;

 private:
  enum class Offer : uint32_t { kNone, kOpen, kTaken, kStop };

  struct alignas(64) Desk {
    std::atomic<Offer> offer{Offer::kNone};
    int number = 0;  // of the task
    const std::function<void(int)>* task = nullptr;

    // Whoever finds it open runs the task, the worker or, where that is late, the caller.
    Offer Take(Offer to);
  };

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
  uint64_t rounds_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_WORKER_POOL_H_
