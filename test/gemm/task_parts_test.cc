// Tasks in parts: each once, one's own first.
#include "intaglio/gemm/run/task_parts.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <thread>
#include <vector>

#include "intaglio/gemm/context.h"

namespace intaglio::test {
namespace {

TEST(TaskParts, ContainEachTaskOnceWhoeverAsks) {
  for (const int workers : {0, 1, 2, 3, 7, 64, 100}) {
    for (const int tasks : {0, 1, 2, 5, 8, 63, 64, 65, 130}) {
      TaskParts parts(tasks, workers);
      std::vector<int> taken(static_cast<size_t>(tasks), 0);
      for (int i = 0; i < tasks; ++i) {
        const int task = parts.Take(i * 5 % std::max(1, workers));
        ASSERT_GE(task, 0) << i << " of " << tasks << " tasks, " << workers << " workers";
        ASSERT_LT(task, tasks);
        EXPECT_EQ(taken[static_cast<size_t>(task)]++, 0);
      }
      for (int worker = 0; worker < workers; ++worker) EXPECT_EQ(parts.Take(worker), -1);
    }
  }
}

TEST(TaskParts, RunEachTaskOnce) {
  for (const int workers : {1, 2, 3, 7, 64, 100}) {
    for (const int tasks : {0, 1, 2, 3, 8, 63, 64, 65, 130}) {
      TaskParts parts(tasks, workers);
      std::vector<int> taken(static_cast<size_t>(tasks), 0);
      for (int worker = workers - 1; worker >= 0; --worker) {
        parts.Run(worker, [&](int task) {
          ASSERT_GE(task, 0);
          ASSERT_LT(task, tasks) << workers << " workers";
          ++taken[static_cast<size_t>(task)];
        });
      }
      for (const int times : taken) EXPECT_EQ(times, 1) << tasks << " tasks, " << workers;
    }
  }
}

TEST(TaskParts, GiveAWorkerItsOwnInOrderBeforeThoseOfOthers) {
  TaskParts parts(10, 3);  // 0-2, 3-5, 6-9
  for (const int own : {3, 4, 5}) EXPECT_EQ(parts.Take(1), own);
  for (const int next : {6, 7, 8, 9, 0}) EXPECT_EQ(parts.Take(1), next);
  EXPECT_EQ(parts.Take(0), 1);
  TaskParts two(2, 2);
  EXPECT_EQ(two.Take(1), 1);
  EXPECT_EQ(two.Take(1), 0);
  EXPECT_EQ(two.Take(1), -1);
}

TEST(TaskParts, AreSharedOutOnceAmongThreads) {
  constexpr int kTasks = 20000;
  constexpr int kWorkers = 3;
  TaskParts parts(kTasks, kWorkers);
  std::vector<std::atomic<int>> taken(kTasks);
  std::vector<std::thread> threads;
  for (int worker = 0; worker < kWorkers; ++worker) {
    threads.emplace_back([&, worker] {
      for (int task = parts.Take(worker); task >= 0; task = parts.Take(worker)) {
        taken[static_cast<size_t>(task)].fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& times : taken) ASSERT_EQ(times.load(), 1);
}

// Between looking at a part and stepping into it, another thread may take its last task. Here every
// task is the last one of its part and all threads want the same task, so a thread that is stopped
// in between is overtaken.
TEST(TaskParts, GiveTheLastTaskOfAPartToOneThread) {
  constexpr int kTasks = 64;
  constexpr int kObjects = 500;
  for (int round = 0; round < 100; ++round) {
    std::deque<TaskParts> objects;
    for (int i = 0; i < kObjects; ++i) objects.emplace_back(kTasks, kTasks);
    std::atomic<int> taken{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        for (TaskParts& parts : objects) {
          int mine = 0;
          while (parts.Take(0) >= 0) ++mine;
          taken.fetch_add(mine);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(taken.load(), kTasks * kObjects) << round;
  }
}

// What one operator leaves in a core's cache is there for the next.
TEST(TaskParts, OfAContextGoToTheSameThreadsEveryTime) {
  Context context(2);
  const std::thread::id caller = std::this_thread::get_id();
  for (int round = 0; round < 100; ++round) {
    // Each waits for the other, so that two threads take one task each.
    std::atomic<int> started{0};
    std::atomic<bool> first_is_callers{false};
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    context.Run(2, [&](int task) {
      if (task == 0) first_is_callers = std::this_thread::get_id() == caller;
      started.fetch_add(1);
      while (started.load() < 2 && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::yield();
      }
    });
    ASSERT_TRUE(first_is_callers.load());
  }
}

}  // namespace
}  // namespace intaglio::test
