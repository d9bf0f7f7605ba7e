// Numbered tasks, shared out to the threads that run them.
#ifndef INTAGLIO_GEMM_RUN_TASK_PARTS_H_
#define INTAGLIO_GEMM_RUN_TASK_PARTS_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

namespace intaglio {

// A worker takes its own part first, in order, and then from those that are not done. Work that is
// cut alike from one operator to the next so finds its input where the worker itself has left it:
// between cores that share no cache a line takes six times as long to move.
class TaskParts {
 public:
  // Both counts are at least 0.
  TaskParts(int tasks, int workers) : tasks_(tasks), parts_(std::clamp(workers, 1, kMostParts)) {
    for (int i = 0; i < parts_; ++i) {
      Part& part = *std::construct_at(&at_[i]);
      part.next.store(Begin(tasks, i), std::memory_order_relaxed);
      part.end = Begin(tasks, i + 1);
    }
  }

  TaskParts(const TaskParts&) = delete;
  TaskParts& operator=(const TaskParts&) = delete;

  // Calls f(task) for what `worker` takes until none is left. Each worker comes here once, and does
  // not Take: where there is a task for each, nobody has to look what is left.
  template <class Function>
  void Run(int worker, const Function& f) {
    if (tasks_ == parts_) {
      if (worker < parts_) f(worker);
      return;
    }
    for (int task = Take(worker); task >= 0; task = Take(worker)) f(task);
  }

  // The next task of `worker`, each once; -1 where none is left.
  int Take(int worker) {
    for (int i = 0; i < parts_; ++i) {
      Part& part = at_[(worker + i) % parts_];
      if (part.next.load(std::memory_order_relaxed) >= part.end) continue;
      const int task = part.next.fetch_add(1, std::memory_order_relaxed);
      if (task < part.end) return task;
    }
    return -1;
  }

 private:
  static constexpr int kMostParts = 64;
  // A cache line each: who takes its own does not wait for the others.
  struct alignas(64) Part {
    std::atomic<int> next{0};
    int end = 0;
  };

  int Begin(int tasks, int part) const { return static_cast<int>(int64_t{tasks} * part / parts_); }

  int tasks_;
  int parts_;
  union {  // of which those are made that there are
    Part at_[kMostParts];
  };
};

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_RUN_TASK_PARTS_H_
