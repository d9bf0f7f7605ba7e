// LineRoutines::quantize of every row of the table, against divisions.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "intaglio/test/kernels/every_kernel.h"

namespace intaglio::test {
namespace {

class EveryKernelQuantize : public EveryKernel {
 protected:
  void SetUp() override {
    EveryKernel::SetUp();
    if (kernel().lines == nullptr || kernel().lines->quantize == nullptr) {
      GTEST_SKIP() << "divides";
    }
  }

  void ExpectQuotients(const std::vector<float>& in, float scale) {
    for (const bool is_signed : {false, true}) {
      for (const int32_t zero_point : {0, 3, 127}) {
        const LineOutput output = {is_signed, zero_point - (is_signed ? 128 : 0)};
        std::vector<uint8_t> out(in.size() + 1, 0x55);
        kernel().lines->quantize(in.data(), scale, output, out.data(),
                                 static_cast<ptrdiff_t>(in.size()));
        EXPECT_EQ(out.back(), 0x55);
        for (size_t i = 0; i < in.size(); ++i) {
          ASSERT_EQ(out[i], Expected(in[i], scale, output)) << in[i] << " by " << scale;
        }
      }
    }
  }

  std::mt19937 random_{1};

 private:
  static uint8_t Expected(float x, float scale, const LineOutput& output) {
    const float limited = std::clamp(std::round(x / scale), -1000.0f, 1000.0f);
    const int32_t rounded = std::isnan(x) ? 0 : static_cast<int32_t>(limited);
    const int32_t low = output.is_signed ? -128 : 0;
    return static_cast<uint8_t>(std::clamp(rounded + output.zero_point, low, low + 255));
  }
};
INTAGLIO_INSTANTIATE_EVERY_KERNEL(EveryKernelQuantize);

TEST_P(EveryKernelQuantize, WhatIsHardToDivide) {
  using Limits = std::numeric_limits<float>;
  const std::vector<float> in = {0.0f,
                                 -0.0f,
                                 Limits::quiet_NaN(),
                                 Limits::infinity(),
                                 -Limits::infinity(),
                                 Limits::max(),
                                 Limits::lowest(),
                                 Limits::min(),
                                 Limits::denorm_min(),
                                 1.0f,
                                 -Limits::min(),
                                 0x1p-61f,
                                 0x1p61f,
                                 -0x1.fffffep60f,
                                 0.5f};
  for (const float scale : {0x1p-60f, 0x1p60f, 1.0f, 0.05f, 0x1.fffffep0f, 1e-9f, 1 / 255.0f}) {
    ExpectQuotients(in, scale);
  }
}

// Quotients just below, at and above ties.
TEST_P(EveryKernelQuantize, Ties) {
  std::vector<float> scales = {0.05f, 0x1.fffffep-3f, 0x1.fffffcp-3f, 0x1.000002p-3f, 1 / 127.5f};
  for (int i = 0; i < 500; ++i) {
    scales.push_back(std::ldexp(static_cast<float>(random_() >> 9 | 1u << 23), -30));
  }
  for (const float scale : scales) {
    std::vector<float> in;
    for (int tie = -300; tie < 300; ++tie) {
      float x = (static_cast<float>(tie) + 0.5f) * scale;
      for (int i = 0; i < 2; ++i) x = std::nextafter(x, -1e9f);
      for (int i = 0; i < 5; ++i, x = std::nextafter(x, 1e9f)) in.push_back(x);
    }
    ExpectQuotients(in, scale);
  }
}

TEST_P(EveryKernelQuantize, OfEveryCount) {
  for (size_t count = 0; count <= 130; ++count) {
    std::vector<float> in(count);
    for (float& x : in) x = static_cast<float>(random_() >> 16) / 2048 - 16;
    ExpectQuotients(in, 0.1f);
  }
}

}  // namespace
}  // namespace intaglio::test
