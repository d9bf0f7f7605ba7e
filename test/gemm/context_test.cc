// Contexts: threads, the caller's pool, several at once over one packed matrix. Runs under the
// thread sanitizer.
#include "intaglio/gemm/context.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <new>
#include <thread>

#include "intaglio/gemm/bound_pipeline.h"
#include "intaglio/gemm/depthwise.h"
#include "intaglio/gemm/gemm_plan.h"
#include "intaglio/test/child.h"
#include "intaglio/test/gemm/image.h"
#include "intaglio/test/rounds.h"

namespace intaglio::test {
namespace {

TEST(Context, RunsEveryTaskOnce) {
  for (int threads = 1; threads <= 8; ++threads) {
    Context context(threads);
    EXPECT_EQ(context.threads(), threads);
    for (int round = 0; round < 8; ++round) {
      for (int count = 0; count <= 2 * threads; ++count) {
        std::vector<std::atomic<int>> seen(static_cast<size_t>(count));
        context.Run(count, [&](int i) { seen[static_cast<size_t>(i)].fetch_add(1); });
        for (const auto& times : seen) ASSERT_EQ(times.load(), 1);
      }
    }
  }
}

// The caller's pool is given no more at once than there are threads.
TEST(Context, HandsOverAsManyTasksAsThreads) {
  for (int threads = 1; threads <= 4; ++threads) {
    Context context(threads, [&](int count, const std::function<void(int)>& task) {
      EXPECT_LE(count, threads);
      for (int i = 0; i < count; ++i) task(i);
    });
    for (int count = 0; count <= 3 * threads; ++count) {
      std::vector<int> seen(static_cast<size_t>(count));
      context.Run(count, [&](int i) { ++seen[static_cast<size_t>(i)]; });
      EXPECT_EQ(seen, std::vector<int>(static_cast<size_t>(count), 1));
    }
  }
}

// Products inside of tasks have a context of one thread each, which keeps its scratch.
TEST(Context, HasContextsForTasks) {
  Context context(2);
  Context* const contexts[] = {&context.ForTask(0), &context.ForTask(1)};
  Context* const third = &context.ForTask(2);
  EXPECT_NE(contexts[0], third);
  EXPECT_EQ(contexts[0], &context.ForTask(0));
  EXPECT_EQ(third, &context.ForTask(2));
  EXPECT_EQ(third->threads(), 1);
  const size_t before = context.scratch_bytes();
  context.Run(2, [&](int i) { contexts[i]->Scratch(0, 1000); });
  EXPECT_GE(context.scratch_bytes(), before + 2000);
}

TEST(Context, ThreadsBelowOneAreOne) {
  EXPECT_EQ(Context(0).threads(), 1);
  EXPECT_EQ(Context(-3).threads(), 1);
}

TEST(Context, WorkersSleepAndWakeAgain) {
  Context context(3);
  for (int round = 0; round < 5; ++round) {
    std::atomic<int> sum{0};
    context.Run(3, [&](int i) { sum += i + 1; });
    EXPECT_EQ(sum.load(), 6);
    std::this_thread::sleep_for(std::chrono::milliseconds(3));  // over the time that they spin
  }
}

TEST(Context, CallerSleepsUntilTheSlowestIsDone) {
  Context context(3);
  for (int round = 0; round < 5; ++round) {
    std::atomic<int> done{0};
    context.Run(3, [&](int i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(4 * i));  // over the time that it spins
      done.fetch_add(1);
    });
    EXPECT_EQ(done.load(), 3);
  }
}

// Of more tasks than threads, those behind one that takes long are not left to its thread.
TEST(Context, ThreadsTakeEachOthersTasks) {
  Context context(2);
  constexpr int kTasks = 8;
  for (int round = 0; round < 5; ++round) {
    std::atomic<int> done{0};
    bool in_time = true;
    context.Run(kTasks, [&](int i) {
      const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (i == 0 && done.load() < kTasks - 1 && in_time) {
        std::this_thread::yield();
        in_time = std::chrono::steady_clock::now() < until;
      }
      done.fetch_add(1);
    });
    ASSERT_TRUE(in_time);
    ASSERT_EQ(done.load(), kTasks);
  }
}

// Rounds so short that workers come late to most of them.
TEST(Context, LatecomersDoNoHarm) {
  Context context(4);
  std::atomic<int> sum{0};
  for (int round = 0; round < 20000; ++round) {
    const int count = 1 + round % 5;
    int own = 0;  // of this round: whoever comes late must not touch it
    std::atomic<int> left{count};
    context.Run(count, [&](int i) {
      sum.fetch_add(i);
      if (left.fetch_sub(1) == 1) own = round + 1;
    });
    ASSERT_EQ(own, round + 1);
  }
  EXPECT_EQ(sum.load(), 4000 * (0 + 1 + 3 + 6 + 10));
}

void InThreads(int count, const std::function<void(int)>& task) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(task, i);
  for (std::thread& t : threads) t.join();
}

// Memory may run out in a task, on any thread. The caller learns it when all other tasks are done.
TEST(Context, WhatATaskThrowsReachesTheCaller) {
  for (int threads = 1; threads <= 4; ++threads) {
    for (const bool own : {true, false}) {
      Context context(threads, own ? ParallelFor() : InThreads);
      for (const int count : {threads, 3 * threads}) {
        for (int thrower = 0; thrower < count; ++thrower) {
          std::atomic<int> others{0};
          const auto task = [&](int i) {
            if (i == thrower) throw std::bad_alloc();
            ++others;
          };
          EXPECT_THROW(context.Run(count, task), std::bad_alloc) << threads << ", " << thrower;
          if (count == threads && threads > 1) {
            EXPECT_EQ(others, count - 1);
          }
        }
        std::atomic<int> sum{0};
        context.Run(count, [&](int i) { sum += i + 1; });
        EXPECT_EQ(sum, count * (count + 1) / 2);
      }
      EXPECT_THROW(context.Run(2 * threads, [](int) { throw std::bad_alloc(); }), std::bad_alloc);
    }
  }
}

#if !defined(INTAGLIO_TEST_FOR_ADDRESSES) && !defined(INTAGLIO_TEST_FOR_RACES)
// The size of the process's address space now.
size_t AddressSpace() {
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// The limit leaves no room for the stack of a thread.
TEST(Context, RunsOnFewerThreadsWhereNoneCanBeStarted) {
  EXPECT_EQ(InChild([] {
              const size_t space = AddressSpace();
              const rlimit limit{space + (1 << 20), space + (1 << 20)};
              if (space == 0 || setrlimit(RLIMIT_AS, &limit) != 0) return false;
              Context context(16);  // more than the cached stacks of earlier threads
              std::atomic<int> sum{0};
              for (int round = 0; round < 10; ++round) {
                context.Run(16, [&](int i) { sum += i; });
                context.Run(41, [&](int i) { sum += i; });
              }
              return sum == 10 * (120 + 820);
            }),
            "exit 0");
}
#endif

TEST(Context, ScratchIsAlignedAndCounted) {
  Context context(2);
  EXPECT_EQ(context.scratch_bytes(), 0u);
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{100}, size_t{5000}}) {
    void* p = context.Scratch(1, bytes);
    ASSERT_NE(p, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % 64, 0u);
    std::memset(p, 1, bytes);
    EXPECT_GE(context.scratch_bytes(), bytes);
  }
  void* kept = context.Scratch(1, 10);
  EXPECT_EQ(context.Scratch(1, 4000), kept);  // grows only
}

// A product does not make scratch grow once it has run.
TEST(Context, SameProductTakesNoMoreMemory) {
  Random random(1);
  Context context(3);
  const TestMatrix lhs(random, Type::kInt8, 50, 60, Order::kRowMajor, 0, 3);
  const TestMatrix rhs(random, Type::kInt8, 60, 70, Order::kRowMajor, 0, 0);
  const auto packed = Prepack(Side::kRhs, rhs.view());
  ASSERT_TRUE(packed.ok());
  std::vector<int32_t> dst(50 * 70);
  const MutableMatrix out = MakeMatrix(dst.data(), 50, 70);
  ASSERT_TRUE(Gemm(context, lhs.view(), *packed, out, StandardPipeline{}).ok());
  const size_t bytes = context.scratch_bytes();
  for (int i = 0; i < 5; ++i)
    ASSERT_TRUE(Gemm(context, lhs.view(), *packed, out, StandardPipeline{}).ok());
  EXPECT_EQ(context.scratch_bytes(), bytes);
}

// Four callers, a context of three threads each, one packed matrix, one set of packed filters.
TEST(Concurrency, ContextsShareOnePackedMatrix) {
  Random random(2);
  const int m = 33;
  const int n = 150;
  const int k = 70;
  const TestMatrix lhs(random, Type::kUInt8, m, k, Order::kRowMajor, 0, 100);
  const TestMatrix rhs(random, Type::kInt8, k, n, Order::kColMajor, 0, -4);
  TestPipeline pipeline;
  pipeline.Randomize(random, Scaling::kDoubleRounding, Type::kInt8, n, Axis::kCols, 0.001);
  const std::vector<int64_t> sums = Sums(lhs.ToIntegers(), rhs.ToIntegers());
  const auto packed = Prepack(Side::kRhs, rhs.view());
  TestImage image(random, Type::kInt8, 1, 6, 6, 40, 5);
  const TestMatrix filters(random, Type::kInt8, 1, 40, Order::kRowMajor, 0, 0);
  const auto depthwise = PackedDepthwise::Pack(filters.view(), 1, 1);
  ASSERT_TRUE(packed.ok() && depthwise.ok());
  const auto bound = BoundPipeline::Bind(*packed, pipeline.standard, Type::kUInt8, 100);
  ASSERT_TRUE(bound.ok());
  const Im2col view = image.view();

  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&, caller, mine = *packed] {  // a copy shares the storage
      Context context(3);
      TestResult dst(Type::kInt8, m, n, caller % 2 == 0 ? Order::kRowMajor : Order::kColMajor, 0);
      dst.Want(pipeline.standard, sums);
      std::vector<int32_t> out(36 * 40);
      for (int round = 0; round < 12; ++round) {
        if (!Gemm(context, lhs.view(), mine, dst.view(), pipeline.standard).ok() || !dst.Same())
          ++wrong;
        if (!Gemm(context, lhs.view(), mine, dst.view(), *bound).ok() || !dst.Same()) ++wrong;
        if (!Depthwise(context, view, *depthwise, out.data(), StandardPipeline{}).ok()) ++wrong;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong.load(), 0);
}

// The first products of a process, at once: dispatch and CPU detection are made on first use.
TEST(Concurrency, CallersOwnPool) {
  Random random(3);
  const TestMatrix lhs(random, Type::kInt8, 40, 30, Order::kRowMajor, 0, 0);
  const TestMatrix rhs(random, Type::kInt8, 30, 90, Order::kRowMajor, 0, 0);
  const std::vector<int64_t> sums = Sums(lhs.ToIntegers(), rhs.ToIntegers());
  Context context(4, InThreads);
  for (int round = 0; round < 10; ++round) {
    TestResult dst(Type::kInt32, 40, 90, Order::kRowMajor, 0);
    ASSERT_TRUE(Gemm(context, lhs.view(), rhs.view(), dst.view(), StandardPipeline{}).ok());
    dst.Want(StandardPipeline{}, sums);
    ASSERT_TRUE(dst.Same()) << dst.Difference();
  }
}

// Callers that meet in the first calls of a plan, by as many threads and by others: it keeps how it
// is cut for the first of them.
TEST(Concurrency, CallersShareAPlan) {
  constexpr int kRows = 192;
  constexpr int kDepth = 64;
  constexpr int kChannels = 256;  // of which three threads are worth waking for
  Random random(7);
  const TestMatrix x(random, Type::kInt8, kRows, kDepth, Order::kRowMajor, 0, 3);
  const TestMatrix weights(random, Type::kInt8, kDepth, kChannels, Order::kColMajor, 0, 0);
  TestPipeline pipeline;
  pipeline.Randomize(random, Scaling::kDoubleRounding, Type::kInt8, kChannels, Axis::kCols, 0.002);
  const auto packed = Prepack(Side::kRhs, weights.view());
  ASSERT_TRUE(packed.ok());
  const auto bound = BoundPipeline::Bind(*packed, pipeline.standard, Type::kInt8, 3,
                                         {.keep_rows_per_thread = true});
  ASSERT_TRUE(bound.ok());
  TestResult like(Type::kInt8, kRows, kChannels, Order::kRowMajor, 0);
  like.Want(pipeline.standard, Sums(x.ToIntegers(), weights.ToIntegers()));
  for (int round = 0; round < 10; ++round) {
    const auto plan = GemmPlan::Make(x.view(), *packed, like.view(), *bound);
    ASSERT_TRUE(plan.ok());
    std::vector<TestResult> results(4, like);
    std::atomic<int> ready{0};
    std::vector<std::thread> callers;
    for (size_t i = 0; i < results.size(); ++i) {
      callers.emplace_back([&, i] {
        Context context(2 + static_cast<int>(i % 2));
        context.Run(context.threads(), [](int) {});  // makes its threads
        for (++ready; ready < static_cast<int>(results.size());) std::this_thread::yield();
        for (int call = 0; call < 3; ++call) {
          const MutableMatrix dst = results[i].view();
          EXPECT_TRUE(plan->Run(context, x.view().data, dst.data, dst.stride).ok());
        }
      });
    }
    for (std::thread& caller : callers) caller.join();
    for (const TestResult& result : results) EXPECT_TRUE(result.Same()) << result.Difference();
  }
}

}  // namespace
}  // namespace intaglio::test
