// Models in forked children, and instances that many threads make, run and destroy at once. This
// test also runs under the thread sanitizer.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "intaglio/test/child.h"
#include "intaglio/test/nn/large_network.h"
#include "intaglio/test/rounds.h"

namespace intaglio::nn {
namespace {

using test::InChild;
using test::Rounds;

constexpr int kThreads[] = {1, 2, 4, 8};

Model MakeModel(int threads, ParallelFor parallel_for = {}) {
  PrepareOptions options;
  options.threads = threads;
  options.parallel_for = std::move(parallel_for);
  Result<Model> model = Model::Prepare(MakeLargeNetwork(), options);
  EXPECT_TRUE(model.ok()) << model.status().message();
  return std::move(*model);
}

const std::vector<int8_t>& Right() {
  static const std::vector<int8_t> right = [] {
    Model model = MakeModel(1);
    return RunLargeNetwork(model);
  }();
  EXPECT_FALSE(right.empty());
  return right;
}

bool IsRight(Model& model) { return RunLargeNetwork(model) == Right(); }

bool SharesRight(const Model& model) {
  Result<Model> shared = model.Share();
  return shared.ok() && IsRight(*shared);
}

TEST(Fork, ChildDestroysItsModel) {
  for (const int threads : kThreads) {
    auto model = std::make_unique<Model>(MakeModel(threads));
    ASSERT_TRUE(IsRight(*model));
    EXPECT_EQ(InChild([&] {
                model.reset();
                return true;
              }),
              "exit 0");
    EXPECT_TRUE(IsRight(*model));
  }
}

TEST(Fork, ChildMovesAnotherModelOverIts) {
  INTAGLIO_SKIP_THREADS_OF_CHILDREN();
  for (const int threads : kThreads) {
    Model model = MakeModel(threads);
    ASSERT_TRUE(IsRight(model));
    EXPECT_EQ(InChild([&] {
                model = MakeModel(threads);
                return IsRight(model);
              }),
              "exit 0");
  }
}

TEST(Fork, ChildRunsAndSharesItsModel) {
  INTAGLIO_SKIP_THREADS_OF_CHILDREN();
  for (const int threads : kThreads) {
    for (int round = 0; round < Rounds(8); ++round) {
      auto model = std::make_unique<Model>(MakeModel(threads));
      ASSERT_TRUE(IsRight(*model));
      EXPECT_EQ(InChild([&] {
                  const bool right = SharesRight(*model) && IsRight(*model) &&
                                     model->WarmUp().ok() && IsRight(*model);
                  Result<Model> shared = model->Share();
                  model.reset();
                  return right && shared.ok() && IsRight(*shared);
                }),
                "exit 0")
          << threads;
    }
  }
}

// The model's destructor runs when the child exits, and once more when this process does.
TEST(Fork, ChildExitsWithAStaticModel) {
  INTAGLIO_SKIP_THREADS_OF_CHILDREN();
  static Model model = MakeModel(4);
  ASSERT_TRUE(IsRight(model));
  for (const bool runs : {false, true}) {
    EXPECT_EQ(InChild([&] {
                if (runs && !(IsRight(model) && SharesRight(model))) return false;
                std::exit(0);
              }),
              "exit 0");
  }
  EXPECT_TRUE(IsRight(model));
}

// Other threads run the model itself and more instances of it. The child may share the model, and
// use an instance that no thread was running.
TEST(Fork, WhileOthersRunTheModel) {
  INTAGLIO_SKIP_THREADS_OF_CHILDREN();
  Model model = MakeModel(2);
  Result<Model> idle = model.Share();
  ASSERT_TRUE(idle.ok() && IsRight(*idle));
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::thread runner([&] {
    while (!stop) wrong += IsRight(model) ? 0 : 1;
  });
  std::thread sharer([&] {
    while (!stop) wrong += SharesRight(model) ? 0 : 1;
  });
  for (int round = 0; round < Rounds(40); ++round) {
    const std::string outcome =
        InChild([&] { return SharesRight(model) && IsRight(*idle) && SharesRight(*idle); });
    EXPECT_EQ(outcome, "exit 0") << round;
    if (outcome != "exit 0") break;
  }
  stop = true;
  runner.join();
  sharer.join();
  EXPECT_EQ(wrong, 0);
}

// Many threads make and destroy instances, each of which has its own threads.
TEST(Stress, SharedInstances) {
  const Model model = MakeModel(2);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 6; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < Rounds(16); ++round) {
        Result<Model> mine = model.Share();
        if (!mine.ok() || !mine->WarmUp().ok() || !IsRight(*mine)) ++wrong;
        const Result<Model> dropped = mine->Share();
        if (!dropped.ok() || !IsRight(*mine)) ++wrong;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

// Threads of the host run the tasks in the reverse order.
void ByForeignThreads(int count, const std::function<void(int)>& task) {
  std::vector<std::thread> threads;
  for (int i = count - 1; i > 0; --i) threads.emplace_back(task, i);
  task(0);
  for (std::thread& thread : threads) thread.join();
}

TEST(Stress, InstancesThroughAHostsPool) {
  const Model model = MakeModel(3, ByForeignThreads);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      Result<Model> mine = model.Share();
      for (int round = 0; round < Rounds(12); ++round) {
        if (!mine.ok() || !IsRight(*mine)) ++wrong;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

// A process makes some tables on first use, and here many threads meet in that use.
TEST(Stress, ModelsThatArePreparedAtOnce) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 6; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < Rounds(8); ++round) {
        Model model = MakeModel(2);
        if (!IsRight(model)) ++wrong;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace intaglio::nn
