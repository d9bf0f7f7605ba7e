// The order in which kernels are preferred.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "intaglio/gemm/machine/cpu.h"
#include "intaglio/gemm/plan/dispatch.h"
#include "intaglio/kernels/kernel_table.h"

namespace intaglio {
namespace {

TEST(Ranking, IsTheTableWithUnmetPreferencesLast) {
  std::vector<const Kernel*> table(KernelTable().begin(), KernelTable().end());
  std::erase_if(table, [](const Kernel* kernel) { return !ServesAll(*kernel); });
  const auto ranked = RankedKernels();
  ASSERT_EQ(ranked.size(), table.size());
  EXPECT_TRUE(std::is_permutation(ranked.begin(), ranked.end(), table.begin()));
  EXPECT_EQ(ranked.back(), table.back());
  const auto unmet = [](const Kernel* k) {
    return (k->needs & kPreferences & ~Cpu().features) != 0;
  };
  EXPECT_TRUE(std::is_partitioned(ranked.begin(), ranked.end() - 1,
                                  [&](const Kernel* k) { return !unmet(k); }));
}

// A preference is no need: such kernels can be asked for by name on every CPU that has the rest.
TEST(Ranking, PreferencesDoNotHideAKernel) {
  for (const Kernel* kernel : RankedKernels()) {
    const bool runs = MayUse(kernel->needs & ~kPreferences);
    EXPECT_EQ(KernelNamed(kernel->name).ok(), runs) << kernel->name;
  }
}

}  // namespace
}  // namespace intaglio
