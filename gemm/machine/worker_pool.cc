#include "intaglio/gemm/machine/worker_pool.h"

#include <pthread.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <system_error>

#include "intaglio/fixedpoint/float_environment.h"

namespace intaglio {
namespace {

// Longer than most operators take one thread: who wakes too late for one is awake for the next. A
// sleeper of a virtual machine may wake late every time. ruy's threads wait as long.
constexpr std::chrono::microseconds kSpin{2000};
constexpr std::chrono::microseconds kCrowdedSpin{50};

// Threads that are new may lie on the same core, until the kernel spreads them.
constexpr uint64_t kRoundsToSettle = 64;

// How often this process and its ancestors were forked. The count starts before main, so that no
// thread can be asking for it for the first time while another thread forks.
constinit std::atomic<uint32_t> forks = 0;
[[maybe_unused]] const int counts_forks =
    pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });

uint32_t Forks() { return forks.load(std::memory_order_relaxed); }

// Leaves the resources of a core to the other thread that it may run.
void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

WorkerPool::Offer WorkerPool::Desk::Take(Offer to) {
  Offer before = Offer::kOpen;
  offer.compare_exchange_strong(before, to);
  return before;
}

WorkerPool::WorkerPool(int workers)
    : crowded_(static_cast<unsigned>(workers) >= std::thread::hardware_concurrency()),
      desks_(static_cast<size_t>(workers)) {
  threads_.reserve(desks_.size());
  Start();
}

void WorkerPool::Start() {
  forks_ = Forks();
  try {
    for (Desk& desk : desks_) {
      threads_.emplace_back([this, &desk] { Work(desk); });
    }
  } catch (const std::system_error&) {
    // The machine has no more threads to give: the caller runs what they would have run.
  } catch (const std::bad_alloc&) {  // nor memory for them
  }
}

// Destroys nothing: the destructor of a condition variable waits for the threads that sleep on it.
void WorkerPool::ForgetThreads() {
  for (std::thread& thread : threads_) std::construct_at(&thread);
  threads_.clear();
  for (Desk& desk : desks_) desk.offer.store(Offer::kNone);
  std::construct_at(&mutex_);
  std::construct_at(&wake_);
  std::construct_at(&done_);
  sleepers_ = 0;
  caller_sleeps_ = false;
  rounds_ = 0;
}

WorkerPool::~WorkerPool() {
  if (forks_ != Forks()) ForgetThreads();
  for (Desk& desk : desks_) desk.offer.store(Offer::kStop);
  WakeSleepers();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::Run(int count, const std::function<void(int)>& task) {
  if (forks_ != Forks()) {
    ForgetThreads();
    Start();
  }
  const auto others = std::span(desks_).first(static_cast<size_t>(count) - 1);
  int number = 0;
  for (Desk& desk : others) {
    desk.number = ++number;
    desk.task = &task;
    // Not to wait for the desk's line, the caller looks for sleepers too early: it may miss one who
    // is about to lie down. Then it takes the offer back, and wakes him the next time.
    desk.offer.store(Offer::kOpen, std::memory_order_release);
  }
  if (sleepers_.load(std::memory_order_relaxed) > 0) WakeSleepers();
  ++rounds_;
  exception_.Try([&] { task(0); });
  // Nobody waits for a sleeper: whoever wakes now is too late.
  for (Desk& desk : others) {
    if (desk.Take(Offer::kNone) == Offer::kOpen) exception_.Try([&] { task(desk.number); });
  }
  for (const Desk& desk : others) {
    const auto busy = [&] { return desk.offer.load() == Offer::kTaken; };
    SpinWhile(busy, rounds_ > kRoundsToSettle);
    if (!busy()) continue;
    std::unique_lock lock(mutex_);
    caller_sleeps_.store(true);
    done_.wait(lock, [&] { return !busy(); });
    caller_sleeps_.store(false);
  }
  exception_.Rethrow();
}

// With a core for each thread none is given away: a stranger would keep it for milliseconds, many
// times what is waited for. Threads that are not settled give a core to each other.
template <class Condition>
void WorkerPool::SpinWhile(const Condition& condition, bool settled) const {
  using Clock = std::chrono::steady_clock;
  const bool yields = crowded_ || !settled;
  Clock::time_point until{};
  do {
    // The clock takes as long to read as another thread takes to answer.
    for (int i = 0; i < 16; ++i) {
      if (!condition()) return;
      yields ? std::this_thread::yield() : Pause();
    }
    if (until == Clock::time_point{}) until = Clock::now() + (crowded_ ? kCrowdedSpin : kSpin);
  } while (Clock::now() < until);
}

void WorkerPool::WakeSleepers() {
  { const std::lock_guard lock(mutex_); }
  wake_.notify_all();
}

void WorkerPool::Work(Desk& desk) {
  const DefaultFloatEnvironment environment;  // a thread inherits the environment of its maker
  for (uint64_t rounds = 0; Await(desk, rounds > kRoundsToSettle); ++rounds) {
    exception_.Try([&] { (*desk.task)(desk.number); });
    desk.offer.store(Offer::kNone);
    if (caller_sleeps_.load()) {
      const std::lock_guard lock(mutex_);
      done_.notify_one();
    }
  }
}

// The desk is taken as it is looked at: its line comes once.
bool WorkerPool::Await(Desk& desk, bool settled) {
  Offer seen = Offer::kNone;
  const auto waits = [&] {
    seen = desk.Take(Offer::kTaken);
    return seen == Offer::kNone;
  };
  SpinWhile(waits, settled);
  if (seen == Offer::kNone) {
    std::unique_lock lock(mutex_);
    sleepers_.fetch_add(1);
    wake_.wait(lock, [&] { return !waits(); });
    sleepers_.fetch_sub(1);
  }
  return seen == Offer::kOpen;
}

}  // namespace intaglio
