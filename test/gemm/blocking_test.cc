// How products are cut for threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "intaglio/gemm/machine/cpu.h"
#include "intaglio/gemm/plan/dispatch.h"
#include "intaglio/gemm/run/tasks.h"
#include "intaglio/test/gemm/problem.h"

namespace intaglio::test {
namespace {

// The work of the thread that has most of it, tasks taken in order by whoever is free, over an even
// share. Work is tiles by panels.
double LongestShare(const Product& product, const Blocking& blocking) {
  std::vector<int> work(static_cast<size_t>(blocking.threads), 0);
  for (int task = 0; task < blocking.tasks(); ++task) {
    const Range rows = RowsOf(product, blocking, blocking.row_task(task));
    const Range panels = PanelsOf(product, blocking, blocking.panel_task(task));
    const int tile = product.kernel->max_rows;
    *std::min_element(work.begin(), work.end()) +=
        (rows.last - rows.first + tile - 1) / tile * (panels.last - panels.first);
  }
  const int all = std::accumulate(work.begin(), work.end(), 0);
  return static_cast<double>(*std::max_element(work.begin(), work.end())) * blocking.threads / all;
}

// Calls f(product) with one of uint8 rows, which nobody computes.
template <class Function>
void WithProduct(const std::string& kernel, int rows, int channels, int depth, const Function& f) {
  const std::vector<int8_t> weights(static_cast<size_t>(channels) * static_cast<size_t>(depth));
  const ConstMatrix right{weights.data(), Type::kInt8, depth, channels, depth, Order::kColMajor, 0};
  const auto packed = Prepack(Side::kRhs, right, {{}, kernel});
  ASSERT_TRUE(packed.ok()) << packed.status().message();
  Product product;
  product.panels = &packed->panels();
  product.kernel = *KernelFor(product.panels->format);
  product.rows = RowSource::From(
      ConstMatrix{weights.data(), Type::kUInt8, rows, depth, depth, Order::kRowMajor, 0});
  f(product);
}

TEST(Blocking, GivesThreadsEvenShares) {
  Random random(3);
  for (const std::string& kernel : KernelNames()) {
    for (int i = 0; i < 40; ++i) {
      const int rows = Uniform(random, 100, 4000);
      const int channels = Uniform(random, 64, 1024);
      const int depth = Uniform(random, 64, 1024);
      WithProduct(kernel, rows, channels, depth, [&](const Product& product) {
        for (const int threads : {2, 3, 4, 8}) {
          const Blocking blocking = Block(product, threads);
          EXPECT_LE(LongestShare(product, blocking), 1.5)
              << kernel << " " << rows << " x " << channels << " x " << depth << ", " << threads
              << " threads, " << blocking.row_tasks << " x " << blocking.panel_tasks << " tasks";
        }
      });
    }
  }
}

TEST(Blocking, TheRowsOfATaskTakeThePartOfL2ThatIsAskedFor) {
  for (const std::string& kernel : KernelNames()) {
    WithProduct(kernel, 100000, 64, 512, [&](Product product) {
      const auto rows_by = [&](int part) {
        product.cutting.rows_part_of_l2 = part;
        return Block(product, 1).rows;
      };
      EXPECT_GE(rows_by(4), rows_by(16)) << kernel;
      EXPECT_GT(rows_by(8), rows_by(1 << 20)) << kernel;
      EXPECT_EQ(rows_by(1 << 20), product.kernel->max_rows) << kernel;
      EXPECT_EQ(rows_by(0), rows_by(product.kernel->own_terms == nullptr ? 8 : 4)) << kernel;
    });
  }
}

// Those that share what is in the cache, or packed, come one after the other.
TEST(Blocking, KeepsRowsOrPanelsFromTaskToTask) {
  const auto tasks_of = [](const std::string& kernel, int channels, int depth) {
    WithProduct(kernel, 1000, channels, depth, [&](const Product& product) {
      const Blocking b = Block(product, 4);
      const bool fit_l2 = channels * depth < static_cast<int>(Cpu().l2_bytes / 2);
      const bool rows_stay = fit_l2 || !(b.in_place || product.kernel->costs.keeps_panels);
      EXPECT_EQ(b.rows_stay, rows_stay) << kernel;
      std::vector<int> seen(static_cast<size_t>(b.tasks()), 0);
      for (int task = 0; task < b.tasks(); ++task) {
        const int kept = rows_stay ? b.row_task(task) : b.panel_task(task);
        EXPECT_EQ(kept, task / (rows_stay ? b.panel_tasks : b.row_tasks));
        ++seen[static_cast<size_t>(b.row_task(task) * b.panel_tasks + b.panel_task(task))];
      }
      for (const int times : seen) EXPECT_EQ(times, 1);
    });
  };
  for (const std::string& kernel : KernelNames()) {
    tasks_of(kernel, 64, 64);
    tasks_of(kernel, 4096, static_cast<int>(Cpu().l2_bytes / 4096));  // as large as L2
  }
}

// The rows of the tasks that `worker` takes first (gemm/run/task_parts.h), and how many panels of
// each row it takes; no panels where its rows are not adjacent.
struct PartOfWorker {
  Range rows{0, 0};
  int panels = 0;
};
PartOfWorker PartOf(const Product& product, const Blocking& b, int worker) {
  std::vector<int> taken(static_cast<size_t>(product.row_count()), 0);
  for (int task = b.tasks() * worker / b.threads; task < b.tasks() * (worker + 1) / b.threads;
       ++task) {
    const Range rows = RowsOf(product, b, b.row_task(task));
    const Range panels = PanelsOf(product, b, b.panel_task(task));
    for (int r = rows.first; r < rows.last; ++r) {
      taken[static_cast<size_t>(r)] += panels.last - panels.first;
    }
  }
  const auto some = [](int count) { return count > 0; };
  const auto first = std::find_if(taken.begin(), taken.end(), some);
  const auto last = std::find_if_not(first, taken.end(), some);
  PartOfWorker part{
      {static_cast<int>(first - taken.begin()), static_cast<int>(last - taken.begin())}};
  if (first != last && std::all_of(first, last, [&](int n) { return n == *first; })) {
    part.panels = *first;
  }
  return part;
}

// Rows that are results of the same threads stay with them, if panels do not cost more.
TEST(Blocking, GivesThreadsRowsOfTheirOwnInAChain) {
  for (const std::string& kernel : KernelNames()) {
    if (kernel == "scalar") continue;  // to which rows from elsewhere are nothing
    const auto own_rows = [&](int rows, int channels, int depth, int threads) {
      WithProduct(kernel, rows, channels, depth, [&](Product product) {
        product.keep_rows_per_thread = true;
        const Blocking b = Block(product, threads);
        ASSERT_EQ(b.threads, threads) << kernel;
        const PartOfWorker part = PartOf(product, b, threads - 1);
        EXPECT_EQ(b.row_slices, threads) << kernel;
        EXPECT_EQ(part.panels, static_cast<int>(product.panels->ranges.size())) << kernel;
        EXPECT_EQ(part.rows.last, rows) << kernel;
        EXPECT_NEAR(part.rows.last - part.rows.first, rows / threads, b.row_step) << kernel;
      });
    };
    // Multiples of the threads times any kernel's tiles; more would make up for some.
    own_rows(288, 512, 64, 2);  // as layers of MobileNet are
    own_rows(288, 512, 64, 3);
    own_rows(3168, 512, 64, 2);
    // Panels of more than half of L2: they stay while rows stream.
    own_rows(1008, 1024, static_cast<int>(Cpu().l2_bytes / 1500), 2);
    if (!(*KernelNamed(kernel))->costs.keeps_panels) continue;
    // Panels from beyond L2 would come twice, which takes tiles (AMX) longer than their products.
    WithProduct(kernel, 49, 2048, 512, [&](Product product) {
      product.keep_rows_per_thread = product.weights_from_memory = true;
      EXPECT_EQ(Block(product, 2).row_slices, 1) << kernel;
    });
  }
}

TEST(Blocking, CountsRowsUpToTheLargestInt) {
  constexpr int kMost = std::numeric_limits<int>::max();
  for (const std::string& kernel : KernelNames()) {
    for (const int rows : {kMost, kMost - 1, kMost - 100}) {
      WithProduct(kernel, rows, 16, 64, [&](const Product& product) {
        const Blocking blocking = Block(product, 2);
        int last = 0;
        for (int task = 0; task < blocking.row_tasks; ++task) {
          const Range range = RowsOf(product, blocking, task);
          ASSERT_EQ(range.first, last) << kernel;
          ASSERT_GT(range.last, range.first) << kernel;
          last = range.last;
        }
        EXPECT_EQ(last, rows) << kernel;
      });
    }
  }
}

// The weights of one row are read once, which takes as long as if it were some rows.
TEST(Blocking, SharesOutManyWeightsOfOneRow) {
  for (const std::string& kernel : KernelNames()) {
    WithProduct(kernel, 1, 1000, 2048,
                [&](const Product& product) { EXPECT_EQ(Block(product, 2).threads, 2) << kernel; });
    WithProduct(kernel, 1, 64, 64,
                [&](const Product& product) { EXPECT_EQ(Block(product, 2).threads, 1) << kernel; });
  }
}

}  // namespace
}  // namespace intaglio::test
