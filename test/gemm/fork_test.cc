// Contexts in forked children. A child has a copy of them but none of their threads. This test also
// runs under the thread sanitizer.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "intaglio/gemm/context.h"
#include "intaglio/test/child.h"
#include "intaglio/test/gemm/problem.h"
#include "intaglio/test/rounds.h"

namespace intaglio::test {
namespace {

constexpr int kThreads[] = {1, 2, 4, 8};

// A product for several threads, and its correct result.
class Work {
 public:
  Work()
      : random_(1),
        lhs_(random_, Type::kUInt8, 129, 96, Order::kRowMajor, 0, 7),
        rhs_(random_, Type::kInt8, 96, 140, Order::kRowMajor, 0, 0),
        packed_(*Prepack(Side::kRhs, rhs_.view())) {
    dst_.Want({}, Sums(lhs_.ToIntegers(), rhs_.ToIntegers()));
  }

  // Whether two products are correct: one with a side packed before, and one packed for this call.
  bool Right(Context& context) {
    dst_.Reset();
    bool right = Gemm(context, lhs_.view(), packed_, dst_.view(), StandardPipeline{}).ok();
    right = right && dst_.Same();
    dst_.Reset();
    right = right && Gemm(context, lhs_.view(), rhs_.view(), dst_.view(), StandardPipeline{}).ok();
    return right && dst_.Same() && RunsAll(context);
  }

 private:
  static bool RunsAll(Context& context) {
    std::atomic<int> sum{0};
    context.Run(context.threads() + 3, [&](int i) { sum += i + 1; });
    return sum == (context.threads() + 3) * (context.threads() + 4) / 2;
  }

  Random random_;
  TestMatrix lhs_;
  TestMatrix rhs_;
  PackedMatrix packed_;
  TestResult dst_{Type::kInt32, 129, 140, Order::kRowMajor, 0};
};

// Waits longer than idle threads spin.
void LetThreadsSleep() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

TEST(Fork, ChildDestroysItsCopy) {
  Work work;
  for (const int threads : kThreads) {
    for (const bool asleep : {false, true}) {
      auto context = std::make_unique<Context>(threads);
      ASSERT_TRUE(work.Right(*context));
      if (asleep) LetThreadsSleep();
      EXPECT_EQ(InChild([&] {
                  context.reset();
                  return true;
                }),
                "exit 0")
          << threads;
      EXPECT_TRUE(work.Right(*context));
    }
  }
}

TEST(Fork, ChildReplacesItsCopy) {
  INTAGLIO_SKIP_THREADS_OF_CHILDREN();
  Work work;
  for (const int threads : kThreads) {
    auto context = std::make_unique<Context>(threads);
    ASSERT_TRUE(work.Right(*context));
    EXPECT_EQ(InChild([&] {
                context = std::make_unique<Context>(threads);
                return work.Right(*context);
              }),
              "exit 0")
        << threads;
  }
}

TEST(Fork, ChildRunsItsCopyAndDestroysIt) {
  INTAGLIO_SKIP_THREADS_OF_CHILDREN();
  Work work;
  for (const int threads : kThreads) {
    for (const bool asleep : {false, true}) {
      auto context = std::make_unique<Context>(threads);
      for (int round = 0; round < Rounds(8); ++round) {
        ASSERT_TRUE(work.Right(*context));
        if (asleep) LetThreadsSleep();
        EXPECT_EQ(InChild([&] {
                    bool right = true;
                    for (int call = 0; call < 5; ++call) right = right && work.Right(*context);
                    LetThreadsSleep();
                    right = right && work.Right(*context);
                    context.reset();
                    return right;
                  }),
                  "exit 0")
            << threads;
      }
    }
  }
}

TEST(Fork, ContextThatHasNotRunYet) {
  INTAGLIO_SKIP_THREADS_OF_CHILDREN();
  Work work;
  for (const int threads : kThreads) {
    auto context = std::make_unique<Context>(threads);
    EXPECT_EQ(InChild([&] { return work.Right(*context); }), "exit 0");
    EXPECT_TRUE(work.Right(*context));
  }
}

TEST(Fork, ChildrenOfChildren) {
  INTAGLIO_SKIP_THREADS_OF_CHILDREN();
  Work work;
  Context context(4);
  ASSERT_TRUE(work.Right(context));
  EXPECT_EQ(InChild([&] {
              if (!work.Right(context)) return false;
              const bool below = InChild([&] { return work.Right(context); }) == "exit 0";
              return below && work.Right(context);
            }),
            "exit 0");
}

// The context's destructor runs when the child exits, and once more when this process does.
TEST(Fork, ChildExitsWithAStaticContext) {
  INTAGLIO_SKIP_THREADS_OF_CHILDREN();
  Work work;
  static Context context(4);
  ASSERT_TRUE(work.Right(context));
  for (const bool runs : {false, true}) {
    EXPECT_EQ(InChild([&] {
                if (runs && !work.Right(context)) return false;
                std::exit(0);
              }),
              "exit 0");
  }
  EXPECT_TRUE(work.Right(context));
}

// When the parent forks, its other threads may be anywhere in their products.
TEST(Fork, WhileOtherContextsRun) {
  INTAGLIO_SKIP_THREADS_OF_CHILDREN();
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&, caller] {
      Work work;
      while (!stop) {
        Context context(2 + caller);
        for (int call = 0; call < 10; ++call) wrong += work.Right(context) ? 0 : 1;
      }
    });
  }
  Work work;
  Context context(3);
  for (int round = 0; round < Rounds(60); ++round) {
    ASSERT_TRUE(work.Right(context));
    const std::string outcome = InChild([&] {
      Context another(2);
      return work.Right(context) && work.Right(another);
    });
    EXPECT_EQ(outcome, "exit 0") << round;
    if (outcome != "exit 0") break;
  }
  stop = true;
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace intaglio::test
