// What every row of the kernel table promises about itself.
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>

#include "intaglio/kernels/kernel_table.h"
#include "intaglio/kernels/params_list.h"

namespace intaglio::test {
namespace {

TEST(KernelTable, RowsAreWellFormed) {
  std::set<std::string> names;
  for (const Kernel* kernel : KernelTable()) {
    SCOPED_TRACE(kernel->name);
    EXPECT_NE(kernel->tile, nullptr);
    EXPECT_GE(kernel->max_rows, 1);
    EXPECT_GT(ParamsBytes(kernel->panel.width()), 0u);
    EXPECT_EQ(kernel->panel.vectors & (kernel->panel.vectors - 1), 0);
    EXPECT_GE(kernel->panel.depth_step, 1);
    if (!ServesAll(*kernel)) continue;
    EXPECT_TRUE(names.insert(kernel->name).second) << "a second kernel of this name";
    EXPECT_NE(kernel->depthwise, nullptr);
    EXPECT_TRUE(!kernel->folds_pixels || kernel->panel.width() == kMaxPanelWidth)
        << "RepeatChannels";
  }
}

// Kernels that read the same panels differ in what they prefer, and in nothing that a caller sees.
TEST(KernelTable, PanelFormatsNameOneKernel) {
  for (const Kernel* a : KernelTable()) {
    for (const Kernel* b : KernelTable()) {
      if (a == b || !(a->panel == b->panel) || !ServesAll(*a) || !ServesAll(*b)) continue;
      SCOPED_TRACE(std::string(a->name) + " and " + b->name);
      EXPECT_NE(a->needs & kPreferences, b->needs & kPreferences);
      EXPECT_EQ(a->needs & ~kPreferences, b->needs & ~kPreferences);
      EXPECT_EQ(a->row_format, b->row_format);
    }
  }
}

// A row that serves some operands stands in front of one that serves the others wherever it runs
// itself. What is packed and bound for products of that one serves it, too.
TEST(KernelTable, RowsThatServeSomeOperands) {
  for (const Kernel* kernel : KernelTable()) {
    const KernelList rows = CandidatesOf(*kernel);
    ASSERT_EQ(rows.back(), kernel);
    if (!ServesAll(*kernel)) {
      EXPECT_NE(kernel, KernelTable().back());
      EXPECT_EQ(rows.size(), 1u);
      continue;
    }
    for (const Kernel* row : rows.first(rows.size() - 1)) {
      SCOPED_TRACE(std::string(row->name) + " in front of " + kernel->name);
      EXPECT_FALSE(ServesAll(*row));
      EXPECT_EQ(row->needs, kernel->needs);
      EXPECT_EQ(row->panel == kernel->panel, row->serves_product != nullptr);
      if (row->serves_product == nullptr) continue;
      EXPECT_EQ(row->has_fma, kernel->has_fma);
      EXPECT_EQ(row->takes_multiply_add, kernel->takes_multiply_add);
    }
  }
}

TEST(KernelTable, TheFirstRowThatServesAProductTakesIt) {
  const auto any = [](Type, const ProductSize&) { return true; };
  const auto int8 = [](Type rows, const ProductSize&) { return rows == Type::kInt8; };
  Kernel all = *KernelTable().back();
  Kernel safe_pairs = all;
  safe_pairs.serves_constant = [](const ConstMatrix&, bool) { return true; };
  Kernel some = all;
  some.serves_product = int8;
  const Kernel* rows[] = {&safe_pairs, &some, &all};
  EXPECT_EQ(ForProduct(Type::kInt8, {16, 16, 4}, rows), &some);
  EXPECT_EQ(ForProduct(Type::kUInt8, {16, 16, 4}, rows), &all);
  Kernel first = all;
  first.serves_product = any;
  rows[0] = &first;
  EXPECT_EQ(ForProduct(Type::kInt8, {16, 16, 4}, rows), &first);
}

// A kernel for in-order cores can take a task of the one whose place it takes there.
TEST(KernelTable, InOrderForms) {
  for (const Kernel* form : KernelTable()) {
    if ((form->needs & kInOrder) == 0) continue;
    SCOPED_TRACE(form->name);
    EXPECT_TRUE(ServesAll(*form));
    int kernels = 0;
    for (const Kernel* kernel : KernelTable()) {
      if (kernel == form || (kernel->needs | kInOrder) != form->needs) continue;
      ++kernels;
      EXPECT_TRUE(form->panel == kernel->panel);
      EXPECT_EQ(form->row_format, kernel->row_format);
      EXPECT_EQ(form->max_rows, kernel->max_rows);
      EXPECT_EQ(form->tap_step, kernel->tap_step);
      EXPECT_EQ(form->has_fma, kernel->has_fma);
      EXPECT_EQ(form->takes_multiply_add, kernel->takes_multiply_add);
    }
    EXPECT_EQ(kernels, 1);
  }
}

TEST(KernelTable, EndsWithTheKernelThatEveryCpuRuns) {
  ASSERT_FALSE(KernelTable().empty());
  EXPECT_EQ(KernelTable().back()->needs, 0u);
}

}  // namespace
}  // namespace intaglio::test
