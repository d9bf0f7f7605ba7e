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

// Threads that wait for rounds of work.
//
// One word, the gate, says which round it is, whether it is open to those who come, and how many
// are in: that is all that threads hand to each other while they spin. They lock only to sleep.
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
    Open(kStop);
    for (std::thread& thread : threads_) thread.join();
  }

  // Runs task(0 .. count - 1), here and on whichever workers wake in time; returns when all are
  // done.
  void Run(int count, const std::function<void(int)>& task) {
    task_ = &task;
    tasks_.Reset(count, std::min(count, workers_ + 1));
    round_ += kRound;
    Open(round_ | kOpen);
    tasks_.Run(0, task);
    gate_.fetch_and(~kOpen);  // whoever wakes now is too late: nobody waits for a sleeper
    const auto busy = [&] { return (gate_.load() & kInside) != 0; };
    SpinWhile(busy, round_);
    if (!busy()) return;
    std::unique_lock lock(mutex_);
    caller_sleeps_.store(true);
    done_.wait(lock, [&] { return !busy(); });
    caller_sleeps_.store(false);
  }

 private:
  static constexpr uint64_t kInside = 0xffff;  // the bits that count workers
  static constexpr uint64_t kOpen = uint64_t{1} << 16;
  static constexpr uint64_t kStop = uint64_t{1} << 17;
  static constexpr uint64_t kRound = uint64_t{1} << 18;
  static constexpr uint64_t kSettledRound = 64 * kRound;
  static uint64_t RoundOf(uint64_t gate) { return gate & ~(kRound - 1); }

  // With a core for each thread none is given away: a stranger would keep it for milliseconds,
  // many times what is waited for. Threads that are new may still lie on the same core, until the
  // kernel spreads them: they give it to each other.
  template <class Condition>
  void SpinWhile(const Condition& condition, uint64_t round) const {
    const auto until = std::chrono::steady_clock::now() + (crowded_ ? kCrowdedSpin : kSpin);
    const bool yields = crowded_ || round < kSettledRound;
    do {
      // The clock takes as long to read as another thread takes to answer.
      for (int i = 0; i < 16; ++i) {
        if (!condition()) return;
        yields ? std::this_thread::yield() : Pause();
      }
    } while (std::chrono::steady_clock::now() < until);
  }

  // Sleepers count themselves before they look at the gate for the last time.
  void Open(uint64_t gate) {
    gate_.store(gate);
    if (sleepers_.load() == 0) return;
    { const std::lock_guard lock(mutex_); }
    wake_.notify_all();
  }

  void Work(int thread) {
    uint64_t seen = 0;
    while (Enter(seen)) {
      tasks_.Run(thread, *task_);
      const bool last = (gate_.fetch_sub(1) & kInside) == 1;
      if (last && caller_sleeps_.load()) {
        const std::lock_guard lock(mutex_);
        done_.notify_one();
      }
    }
  }

  // Waits for an open round other than the one seen before, and enters; false when all stop.
  bool Enter(uint64_t& seen) {
    const auto calls = [&](uint64_t gate) {
      return (gate & kStop) != 0 || ((gate & kOpen) != 0 && RoundOf(gate) != seen);
    };
    while (true) {
      SpinWhile([&] { return !calls(gate_.load()); }, seen);
      if (!calls(gate_.load())) {
        std::unique_lock lock(mutex_);
        sleepers_.fetch_add(1);
        wake_.wait(lock, [&] { return calls(gate_.load()); });
        sleepers_.fetch_sub(1);
      }
      uint64_t gate = gate_.load();
      if ((gate & kStop) != 0) return false;
      if (calls(gate) && gate_.compare_exchange_strong(gate, gate + 1)) {
        seen = RoundOf(gate);
        return true;
      }
    }
  }

  const int workers_;
  const bool crowded_;  // more threads than cores: who is waited for may need this one
  // On one cache line what every round passes on, on others what few do.
  alignas(64) std::atomic<uint64_t> gate_{0};
  const std::function<void(int)>* task_ = nullptr;  // of the round
  alignas(64) std::atomic<int> sleepers_{0};
  std::atomic<bool> caller_sleeps_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  uint64_t round_ = 0;
  TaskParts tasks_;  // of the round
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
