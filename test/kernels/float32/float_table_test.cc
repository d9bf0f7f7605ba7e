// The table of loops over float32, and which row a kernel's name stands for.
#include "intaglio/kernels/float_table.h"

#include <gtest/gtest.h>

#include <cstddef>

#include "intaglio/gemm/float_loops.h"
#include "intaglio/kernels/kernel_table.h"

namespace intaglio::test {
namespace {

TEST(FloatTable, TheLastRowNeedsNothing) {
  EXPECT_EQ(FloatTable().back()->needs, 0u);
  EXPECT_EQ(FloatTable().back()->sums, FloatSums::kUnfused);
}

// Rows are found because no row in front of them takes their place.
TEST(FloatTable, EveryRowIsFoundByWhatItNeeds) {
  for (const FloatLoops* row : FloatTable()) {
    EXPECT_EQ(&FloatLoopsFor(row->needs, row->sums), row) << row->lanes;
  }
}

TEST(FloatTable, EveryKernelHasItsLoops) {
  for (const Kernel* kernel : KernelTable()) {
    for (const FloatSums sums : {FloatSums::kFused, FloatSums::kUnfused}) {
      const FloatLoops& loops = FloatLoopsOf(kernel->name, sums);
      EXPECT_EQ(loops.needs & ~kernel->needs, 0u) << kernel->name;
      EXPECT_TRUE(sums == FloatSums::kFused || loops.sums == sums) << kernel->name;
    }
  }
}

#if defined(__x86_64__)
int LanesOf(const char* kernel) { return FloatLoopsOf(kernel, FloatSums::kFused).lanes; }

TEST(FloatTable, VectorsAreThoseOfTheKernel) {
  EXPECT_EQ(LanesOf(""), 4);
  EXPECT_EQ(LanesOf("scalar"), 4);
  EXPECT_EQ(LanesOf("sse4.1"), 4);
  for (const char* const kernel : {"avx2", "avx2-safe-pairs", "avx-vnni"}) {
    EXPECT_EQ(LanesOf(kernel), 8) << kernel;
  }
  for (const char* const kernel : {"avx512bw", "avx512-vnni", "amx-int8"}) {
    EXPECT_EQ(LanesOf(kernel), 16) << kernel;
  }
}
#endif

TEST(FloatTable, FusesWhereAllCpusOfTheKernelDo) {
#if defined(__x86_64__)
  EXPECT_EQ(FloatLoopsOf("", FloatSums::kFused).sums, FloatSums::kUnfused);
  EXPECT_EQ(FloatLoopsOf("sse4.1", FloatSums::kFused).sums, FloatSums::kUnfused);
  for (const char* const kernel : {"avx2", "avx2-safe-pairs", "avx-vnni", "avx512bw", "amx-int8"}) {
    EXPECT_EQ(FloatLoopsOf(kernel, FloatSums::kFused).sums, FloatSums::kFused) << kernel;
    EXPECT_EQ(FloatLoopsOf(kernel, FloatSums::kUnfused).sums, FloatSums::kUnfused) << kernel;
  }
#elif defined(__aarch64__)
  EXPECT_EQ(FloatLoopsOf("", FloatSums::kFused).sums, FloatSums::kFused);
  EXPECT_EQ(FloatLoopsOf("neon", FloatSums::kUnfused).sums, FloatSums::kUnfused);
#endif
}

}  // namespace
}  // namespace intaglio::test
