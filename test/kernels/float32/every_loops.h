// The fixture of tests that have one body for every row of the table of loops over float32.
#ifndef INTAGLIO_TEST_KERNELS_FLOAT32_EVERY_LOOPS_H_
#define INTAGLIO_TEST_KERNELS_FLOAT32_EVERY_LOOPS_H_

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "intaglio/gemm/machine/cpu.h"
#include "intaglio/kernels/float_table.h"

namespace intaglio::test {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr ptrdiff_t kMostElements = 150;  // more than four of the widest vectors, and a part

class EveryFloatLoops : public testing::TestWithParam<const FloatLoops*> {
 protected:
  void SetUp() override {
    if (!MayUse(loops_.needs)) GTEST_SKIP() << "this machine has not what these loops need";
  }

  // sum + x w, as these loops add.
  float Add(float x, float w, float sum) const {
    return loops_.sums == FloatSums::kFused ? std::fma(x, w, sum) : sum + x * w;
  }

  const FloatLoops& loops_ = *GetParam();
};

// The row that every CPU has.
inline const FloatLoops& Scalar() { return *FloatTable().back(); }

inline std::string LoopsName(const testing::TestParamInfo<const FloatLoops*>& info) {
  return "lanes" + std::to_string(info.param->lanes) +
         (info.param->sums == FloatSums::kFused ? "_fused" : "");
}

#define INTAGLIO_INSTANTIATE_EVERY_FLOAT_LOOPS(suite) \
  INSTANTIATE_TEST_SUITE_P(Table, suite,              \
                           testing::ValuesIn(FloatTable().begin(), FloatTable().end()), LoopsName)

inline std::vector<float> MakeReals(ptrdiff_t count, float most, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> real(-most, most);
  std::vector<float> x(static_cast<size_t>(count));
  for (float& value : x) value = real(random);
  return x;
}

}  // namespace intaglio::test

#endif  // INTAGLIO_TEST_KERNELS_FLOAT32_EVERY_LOOPS_H_
