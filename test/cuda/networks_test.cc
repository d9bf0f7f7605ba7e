// The networks that the device is verified with, on the CPU; and nn's backend where there is no
// GPU.
#include "intaglio/bench/cuda/networks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "intaglio/nn/cuda/backend.h"
#include "intaglio/nn/runtime/model.h"

namespace intaglio::nn {
namespace {

TEST(CudaNetworks, ResultsTakeManyValues) {
  for (const bool resnet : {true, false}) {
    auto graph = resnet ? bench::ResNet50(1, 64, 8) : bench::MobileNetV1(1, 64, 8);
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    auto model = Model::Prepare(std::move(*graph));
    ASSERT_TRUE(model.ok()) << model.status().message();
    std::vector<int8_t> in(*CountBytes(model->input(0).shape, Type::kInt8));
    for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int8_t>(i * 37 % 251);
    std::vector<int8_t> out(*CountBytes(model->output(0).shape, Type::kInt8));
    const InputBuffer from = MakeInput<int8_t>(in);
    const OutputBuffer to = MakeOutput<int8_t>(out);
    ASSERT_TRUE(model->Run({&from, 1}, {&to, 1}).ok());
    std::sort(out.begin(), out.end());
    const auto distinct = std::unique(out.begin(), out.end()) - out.begin();
    EXPECT_GT(distinct, 20) << (resnet ? "ResNet-50" : "MobileNet v1");
  }
}

TEST(CudaBackend, NoDeviceIsAStatus) {
  const auto backend = cuda::MakeBackend(nullptr);
  if (backend.ok()) GTEST_SKIP() << "there is a GPU";
  EXPECT_EQ(backend.status().code(), StatusCode::kUnsupported);
  EXPECT_EQ(backend.status().message().find("cuda: looking for a device: "), 0u)
      << backend.status().message();
}

}  // namespace
}  // namespace intaglio::nn
