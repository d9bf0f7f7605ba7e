// Every allocation of loading, preparing and running may fail: the answer is an error each time,
// and nothing is left behind that keeps the next attempt from succeeding.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "intaglio/nn/formats/tflite/reader.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/test/nn/count_allocations.h"
#include "intaglio/test/nn/formats/tflite/crafted_models.h"
#include "intaglio/test/nn/large_network.h"
#include "intaglio/test/nn/ops/golden_file.h"

namespace intaglio::nn {
namespace {

struct Io {
  std::vector<InputBuffer> inputs;
  std::vector<OutputBuffer> outputs;
};

// Buffers for a model, made where nothing fails.
class Buffers {
 public:
  explicit Buffers(const Model& model) {
    for (size_t i = 0; i < model.input_count(); ++i) {
      const Tensor& tensor = model.input(i);
      bytes_.emplace_back(*CountBytes(tensor.shape, tensor.type));
      io_.inputs.push_back({bytes_.back().data(), bytes_.back().size(), tensor.type});
    }
    for (size_t i = 0; i < model.output_count(); ++i) {
      const Tensor& tensor = model.output(i);
      bytes_.emplace_back(*CountBytes(tensor.shape, tensor.type));
      io_.outputs.push_back({bytes_.back().data(), bytes_.back().size(), tensor.type});
    }
  }
  const Io& io() const { return io_; }

 private:
  std::vector<std::vector<uint8_t>> bytes_;
  Io io_;
};

Status LoadAndRun(const std::vector<uint8_t>& bytes, const Io& io, int threads) {
  Result<Graph> graph = ImportTflite(bytes, nullptr, "model");
  if (!graph.ok()) return graph.status();
  PrepareOptions options;
  options.threads = threads;
  Result<Model> model = Model::Prepare(std::move(*graph), options);
  if (!model.ok()) return model.status();
  Result<Model> shared = model->Share();
  if (!shared.ok()) return shared.status();
  INTAGLIO_RETURN_IF_ERROR(shared->WarmUp());
  return model->Run(io.inputs, io.outputs);
}

void ExpectCleanErrors(const std::vector<uint8_t>& bytes, int threads) {
  Result<Graph> graph = ImportTflite(bytes, nullptr, "model");
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  Result<Model> model = Model::Prepare(std::move(*graph));
  ASSERT_TRUE(model.ok()) << model.status().message();
  const Buffers buffers(*model);
  constexpr int kMany = 100000;
  int failed = 0;
  for (; failed < kMany; ++failed) {
    FailAllocation(failed + 1);
    const Status status = LoadAndRun(bytes, buffers.io(), threads);
    const bool met = !FailAllocation(0);
    if (!met) {
      EXPECT_TRUE(status.ok()) << status.message();
      break;
    }
    // What only makes something faster may be done without.
    if (status.ok()) continue;
    ASSERT_EQ(status.code(), StatusCode::kOutOfMemory)
        << "allocation " << failed + 1 << ": " << status.message();
    ASSERT_EQ(status.message().find('\n'), std::string::npos);
    ASSERT_FALSE(status.message().empty());
  }
  EXPECT_GT(failed, 30);
  EXPECT_LT(failed, kMany);
}

TEST(Faults, OfANetwork) { ExpectCleanErrors(test::Build(test::SmallNetwork()), 1); }
TEST(Faults, OfANetworkOnTwoThreads) { ExpectCleanErrors(test::Build(test::SmallNetwork()), 2); }
TEST(Faults, OfStatefulLayers) { ExpectCleanErrors(test::Build(test::SmallStateful()), 1); }
TEST(Faults, OfElementwiseLayers) { ExpectCleanErrors(test::Build(test::SmallElementwise()), 1); }

// Each allocation of an instance's first run fails once, on whichever thread it is made. The
// instance then runs as if nothing had happened.
TEST(Faults, OfTheFirstRunOnSeveralThreads) {
  for (const int threads : {1, 2, 4}) {
    Result<Model> model = Model::Prepare(MakeLargeNetwork(), {.threads = threads});
    ASSERT_TRUE(model.ok()) << model.status().message();
    const std::vector<int8_t> right = RunLargeNetwork(*model);
    ASSERT_FALSE(right.empty());
    const Buffers buffers(*model);
    constexpr int kMany = 10000;
    int failed = 0;
    for (bool met = true; met && failed < kMany; ++failed) {
      Result<Model> instance = model->Share();
      ASSERT_TRUE(instance.ok());
      FailAllocation(failed + 1);
      const Status status = instance->Run(buffers.io().inputs, buffers.io().outputs);
      met = !FailAllocation(0);
      if (!status.ok()) {
        ASSERT_EQ(status.code(), StatusCode::kOutOfMemory) << status.message();
      }
      ASSERT_EQ(RunLargeNetwork(*instance), right) << "allocation " << failed + 1;
    }
    EXPECT_GT(failed, threads);
    EXPECT_LT(failed, kMany);
  }
}

// The first model of every family of operators.
TEST(Faults, OfOperators) {
  for (const std::string& path : test::GoldenFiles()) {
    SCOPED_TRACE(path);
    ExpectCleanErrors(test::ReadGoldenFile(path).at(0).model, 1);
  }
}

}  // namespace
}  // namespace intaglio::nn
