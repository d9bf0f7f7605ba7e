// intaglio::cuda where there is no GPU: a status with CUDA's message, and the CPU goes on.
#include <gtest/gtest.h>

#include "intaglio/gemm/cuda/gemm.h"
#include "intaglio/gemm/gemm.h"

namespace intaglio::cuda {
namespace {

TEST(CudaErrors, NoDeviceIsAStatus) {
  const auto stream = Stream::Wrap(nullptr);
  if (stream.ok()) GTEST_SKIP() << "there is a GPU";
  EXPECT_EQ(stream.status().code(), StatusCode::kUnsupported);
  EXPECT_NE(stream.status().message().find("cuda: looking for a device: CUDA driver"),
            std::string::npos)
      << stream.status().message();

  const int8_t x[] = {2};
  int32_t y = 0;
  Context context;
  const Status on_cpu = intaglio::Gemm(context, MakeConstMatrix(x, 1, 1), MakeConstMatrix(x, 1, 1),
                                       MakeMatrix(&y, 1, 1), StandardPipeline{});
  EXPECT_TRUE(on_cpu.ok());
  EXPECT_EQ(y, 4);
}

TEST(CudaErrors, AGpuIsVerifiedByCudaVerify) {
  const auto stream = Stream::Wrap(nullptr);
  if (!stream.ok()) {
    GTEST_SKIP() << "no kernel was run on a GPU: " << stream.status().message();
  }
}

}  // namespace
}  // namespace intaglio::cuda
