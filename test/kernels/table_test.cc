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
    EXPECT_TRUE(names.insert(kernel->name).second) << "a second kernel of this name";
    EXPECT_NE(kernel->tile, nullptr);
    EXPECT_NE(kernel->depthwise, nullptr);
    EXPECT_GE(kernel->max_rows, 1);
    EXPECT_GT(ParamsBytes(kernel->panel.width()), 0u);
    EXPECT_TRUE(!kernel->slides_columns || kernel->panel.width() == kMaxPanelWidth)
        << "RepeatChannels";
    EXPECT_EQ(kernel->panel.vectors & (kernel->panel.vectors - 1), 0);
    EXPECT_GE(kernel->panel.depth_step, 1);
  }
}

// Kernels that read the same panels differ in what they prefer, and in nothing that a caller sees.
TEST(KernelTable, PanelFormatsNameOneKernel) {
  for (const Kernel* a : KernelTable()) {
    for (const Kernel* b : KernelTable()) {
      if (a == b || !(a->panel == b->panel)) continue;
      SCOPED_TRACE(std::string(a->name) + " and " + b->name);
      EXPECT_NE(a->needs & kPreferences, b->needs & kPreferences);
      EXPECT_EQ(a->needs & ~kPreferences, b->needs & ~kPreferences);
      EXPECT_EQ(a->row_format, b->row_format);
    }
  }
}

// An in-order form can take a task of the other's, and every kernel for in-order cores is one.
TEST(KernelTable, InOrderForms) {
  std::set<const Kernel*> forms;
  for (const Kernel* kernel : KernelTable()) {
    const Kernel* form = kernel->in_order_form;
    if (form == nullptr) continue;
    SCOPED_TRACE(kernel->name);
    forms.insert(form);
    EXPECT_EQ(form->needs, kernel->needs | kInOrder);
    EXPECT_TRUE(form->panel == kernel->panel);
    EXPECT_EQ(form->row_format, kernel->row_format);
    EXPECT_EQ(form->max_rows, kernel->max_rows);
    EXPECT_EQ(form->tap_step, kernel->tap_step);
    EXPECT_EQ(form->has_fma, kernel->has_fma);
    EXPECT_EQ(form->takes_multiply_add, kernel->takes_multiply_add);
    EXPECT_EQ(form->in_order_form, nullptr);
  }
  for (const Kernel* kernel : KernelTable()) {
    EXPECT_EQ(forms.count(kernel) == 1, (kernel->needs & kInOrder) != 0) << kernel->name;
  }
}

TEST(KernelTable, EndsWithTheKernelThatEveryCpuRuns) {
  ASSERT_FALSE(KernelTable().empty());
  EXPECT_EQ(KernelTable().back()->needs, 0u);
}

}  // namespace
}  // namespace intaglio::test
