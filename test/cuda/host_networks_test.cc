// Whole networks through the backend for GPUs, on a device that the host plays (host_device.cc).
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "intaglio/nn/cuda/backend.h"
#include "intaglio/nn/ops/builder.h"
#include "intaglio/nn/runtime/backend.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/test/cuda/verify.h"

namespace intaglio::test {
namespace {

TEST(CudaBackend, GivesTheBitsOfTheCpu) {
  const auto stream = cuda::Stream::Wrap(nullptr);
  ASSERT_TRUE(stream.ok());
  const Tally tally = VerifyNetworks(*stream);
  EXPECT_GE(tally.cases, 14);
  EXPECT_EQ(tally.failures, 0) << tally.first;
}

// A sum on the device, a transposition that only the host has, and a table on the device.
Result<nn::Graph> PartlyOnHost() {
  nn::Builder b("partly on the host");
  const nn::Quantization q = nn::PerTensor(0.05f, -3);
  const nn::Value x = b.Input("x", Type::kInt8, {5, 7}, q);
  const nn::Value sum = b.Add(x, x, {}, nn::PerTensor(0.1f, 2));
  const nn::Value turned =
      b.Layer(nn::Transpose{{1, 0}}, {sum.id}, Type::kInt8, nn::PerTensor(0.1f, 2));
  b.Output(b.Tanh(turned), "y");
  return b.Finish();
}

TEST(CudaBackend, OtherLayersRunOnTheHostIfTheyMay) {
  const Result<nn::Graph> graph = PartlyOnHost();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  std::vector<int8_t> in(35);
  std::iota(in.begin(), in.end(), int8_t{-20});
  const nn::InputBuffer from[] = {nn::MakeInput(in)};
  std::vector<int8_t> results[2] = {std::vector<int8_t>(35), std::vector<int8_t>(35)};
  for (const bool on_device : {false, true}) {
    nn::PrepareOptions options;
    if (on_device) options.backend = *nn::cuda::MakeBackend(nullptr, {.others_on_host = true});
    Result<nn::Model> model = nn::Model::Prepare(*graph, options);
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(model->layers()[0].routine, on_device ? "cuda:qint8/add" : "cpu:qint8/elementwise");
    EXPECT_EQ(model->layers()[1].routine, "cpu:qint8/copy");
    const nn::OutputBuffer to[] = {nn::MakeOutput(results[on_device ? 1 : 0])};
    ASSERT_TRUE(model->Run(from, to).ok());
  }
  EXPECT_EQ(results[1], results[0]);

  nn::PrepareOptions options;
  options.backend = *nn::cuda::MakeBackend(nullptr);
  const std::string message = nn::Model::Prepare(*graph, options).status().message();
  EXPECT_NE(message.find("no routine accepts it: there is none for this operator"), message.npos)
      << message;
}

// The same by PrepareOptions::device: the layers that are named run there, each tensor crosses
// once.
TEST(CudaBackend, ChosenLayersRunOnTheDevice) {
  const Result<nn::Graph> graph = PartlyOnHost();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  std::vector<int8_t> in(35);
  std::iota(in.begin(), in.end(), int8_t{-20});
  const nn::InputBuffer from[] = {nn::MakeInput(in)};
  std::vector<int8_t> expected;
  for (const unsigned layers : {0u, 1u, 4u, 5u}) {
    nn::PrepareOptions options;
    options.device = *nn::cuda::MakeBackend(nullptr);
    EXPECT_EQ(options.device->name(), "cuda");
    EXPECT_EQ(options.device->hardware(), "the host");
    if ((layers & 1) != 0) options.routines.push_back({"0", "cuda:qint8/add"});
    if ((layers & 4) != 0) options.routines.push_back({"2", "cuda:qint8/table"});
    Result<nn::Model> model = nn::Model::Prepare(*graph, options);
    ASSERT_TRUE(model.ok()) << model.status().message();
    std::vector<int8_t> results(35);
    const nn::OutputBuffer to[] = {nn::MakeOutput(results)};
    const Status status = model->Run(from, to);
    ASSERT_TRUE(status.ok()) << status.message();
    if (layers == 0) expected = results;
    EXPECT_EQ(results, expected) << layers;
  }
  nn::PrepareOptions options;
  options.device = *nn::cuda::MakeBackend(nullptr);
  options.routines = {{"1", "cuda:qint8/copy"}};
  EXPECT_FALSE(nn::Model::Prepare(*graph, options).ok());
}

}  // namespace
}  // namespace intaglio::test
