// The fixture of tests that have one body for every row of the kernel table.
#ifndef INTAGLIO_TEST_KERNELS_EVERY_KERNEL_H_
#define INTAGLIO_TEST_KERNELS_EVERY_KERNEL_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "intaglio/gemm/machine/cpu.h"
#include "intaglio/kernels/kernel_table.h"

namespace intaglio {

extern const Kernel kEmulatedAmx;  // emulated_amx.cc
extern const Kernel kEmulatedAmxInt8Rows;
extern const Kernel kEmulatedAmxLittle;
extern const Kernel kEmulatedAmxWords;

namespace test {

// The table, and its AMX kernels with emulated registers, so that what they are made of is tested
// wherever there is AVX512-VNNI.
inline std::vector<const Kernel*> EveryRowAndEmulated() {
  std::vector<const Kernel*> kernels(KernelTable().begin(), KernelTable().end());
#if defined(__x86_64__)
  const auto emulate = [](Kernel kernel) {
    kernel.name = "amx-int8-emulated";
    kernel.needs &= ~uint32_t{kAmxInt8};
    kernel.lookups_need = kAvx512Vbmi;  // as every CPU with AMX has
    return kernel;
  };
  static const Kernel emulated[] = {emulate(kEmulatedAmxWords), emulate(kEmulatedAmxLittle),
                                    emulate(kEmulatedAmxInt8Rows), emulate(kEmulatedAmx)};
  for (const Kernel& kernel : emulated) kernels.push_back(&kernel);
#endif
  return kernels;
}

// Those that serve all operands.
inline std::vector<const Kernel*> EveryKernelAndEmulated() {
  std::vector<const Kernel*> kernels = EveryRowAndEmulated();
  std::erase_if(kernels, [](const Kernel* kernel) { return !ServesAll(*kernel); });
  return kernels;
}

class EveryKernel : public testing::TestWithParam<const Kernel*> {
 protected:
  void SetUp() override {
    if (!MayUse(GetParam()->needs & ~kPreferences)) {
      GTEST_SKIP() << "this machine has not what " << GetParam()->name << " needs";
    }
  }

  const Kernel& kernel() const { return *GetParam(); }
  int lanes() const { return kernel().panel.lanes; }

  // The vectors that a panel of this kernel may have.
  std::vector<int> PanelVectors() const {
    std::vector<int> all;
    for (int v = 1; v <= kernel().panel.vectors; v *= 2) all.push_back(v);
    return all;
  }
};

inline std::string KernelName(const testing::TestParamInfo<const Kernel*>& info) {
  std::string name = info.param->name;
  if (!ServesAll(*info.param)) name += " row " + std::to_string(info.index);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
}

#define INTAGLIO_INSTANTIATE_EVERY_KERNEL(suite) \
  INSTANTIATE_TEST_SUITE_P(Table, suite, testing::ValuesIn(EveryKernelAndEmulated()), KernelName)
// With rows that serve some operands.
#define INTAGLIO_INSTANTIATE_EVERY_ROW(suite) \
  INSTANTIATE_TEST_SUITE_P(Table, suite, testing::ValuesIn(EveryRowAndEmulated()), KernelName)

}  // namespace test
}  // namespace intaglio

#endif  // INTAGLIO_TEST_KERNELS_EVERY_KERNEL_H_
