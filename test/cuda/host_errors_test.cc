// What a caller sees when calls of the CUDA runtime fail, on a device that the host plays.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "intaglio/gemm/cuda/gemm.h"
#include "intaglio/gemm/cuda/memory.h"
#include "intaglio/test/cuda/host_runtime.cuh"

namespace intaglio::cuda {
namespace {

constexpr int kRows = 5;
constexpr int kDepth = 200;
constexpr int kChannels = 7;

// One product in memory that is the host's and the device's.
struct Product {
  std::vector<uint8_t> rows = std::vector<uint8_t>(kRows * kDepth, 3);
  std::vector<int8_t> weights = std::vector<int8_t>(kDepth * kChannels, -2);
  std::vector<int32_t> bias = std::vector<int32_t>(kChannels, 11);
  std::vector<int32_t> dst = std::vector<int32_t>(kRows * kChannels);

  ConstMatrix lhs() const {
    return MakeConstMatrix(rows.data(), kRows, kDepth, Order::kRowMajor, /*zero_point=*/1);
  }
  ConstMatrix rhs() const {
    return MakeConstMatrix(weights.data(), kDepth, kChannels, Order::kRowMajor, /*zero_point=*/-1);
  }
  MutableMatrix result() { return MakeMatrix(dst.data(), kRows, kChannels); }
  StandardPipeline pipeline() const {
    StandardPipeline p;
    p.bias = bias.data();
    return p;
  }
  bool IsRight() const {
    return std::all_of(dst.begin(), dst.end(), [](int32_t y) { return y == 2 * -1 * kDepth + 11; });
  }
};

Status Unpacked(Product& p) {
  auto stream = Stream::Wrap(nullptr);
  if (!stream.ok()) return stream.status();
  INTAGLIO_RETURN_IF_ERROR(stream->Force("", 2));
  INTAGLIO_RETURN_IF_ERROR(stream->Reserve(1 << 20));
  return Gemm(*stream, p.lhs(), p.rhs(), p.result(), p.pipeline());
}

Status Packed(Product& p) {
  auto stream = Stream::Wrap(nullptr);
  if (!stream.ok()) return stream.status();
  INTAGLIO_RETURN_IF_ERROR(stream->Reserve(1 << 20));
  auto packed = PackedMatrix::Pack(*stream, Side::kRhs, p.rhs());
  if (!packed.ok()) return packed.status();
  auto bound = BoundPipeline::Bind(*stream, *packed, p.pipeline(), Type::kUInt8, 1);
  if (!bound.ok()) return bound.status();
  return Gemm(*stream, p.lhs(), *packed, p.result(), *bound);
}

Status Copied(Product& p) {
  auto stream = Stream::Wrap(nullptr);
  if (!stream.ok()) return stream.status();
  const size_t bytes = p.dst.size() * sizeof(int32_t);
  auto memory = Allocate(bytes);
  if (!memory.ok()) return memory.status();
  INTAGLIO_RETURN_IF_ERROR(Fill(*stream, memory->get(), 0, bytes));
  INTAGLIO_RETURN_IF_ERROR(Copy(*stream, p.dst.data(), memory->get(), bytes));
  INTAGLIO_RETURN_IF_ERROR(Wait(*stream));
  for (int32_t& y : p.dst) y += 2 * -1 * kDepth + 11;
  return {};
}

class CudaErrorsOnHost : public testing::Test {
 protected:
  ~CudaErrorsOnHost() override {
    test::FailCall(-1);
    test::SetCapability(90);
  }
};

class CudaCallsOnHost : public CudaErrorsOnHost,
                        public testing::WithParamInterface<Status (*)(Product&)> {};

TEST_P(CudaCallsOnHost, EveryCallIsChecked) {
  Product right;
  test::FailCall(-1);
  ASSERT_TRUE(GetParam()(right).ok());
  ASSERT_TRUE(right.IsRight());
  const int calls = test::CallsMade();
  ASSERT_GT(calls, 6);
  for (int n = 0; n < calls; ++n) {
    Product p;
    test::FailCall(n);
    const Status status = GetParam()(p);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << "call " << n << " of " << calls;
    EXPECT_EQ(status.message().find("cuda: "), 0u) << status.message();
    EXPECT_NE(status.message().find("an error of the host's (an error's name)"), std::string::npos)
        << status.message();
    EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "left behind by call " << n;
  }
  test::FailCall(-1);
  Product again;
  EXPECT_TRUE(GetParam()(again).ok());
  EXPECT_TRUE(again.IsRight());
}

INSTANTIATE_TEST_SUITE_P(Calls, CudaCallsOnHost, testing::Values(Unpacked, Packed, Copied));

TEST_F(CudaErrorsOnHost, AnOldDeviceIsAStatus) {
  test::SetCapability(70);
  const auto stream = Stream::Wrap(nullptr);
  EXPECT_EQ(stream.status().code(), StatusCode::kUnsupported);
  EXPECT_EQ(stream.status().message(),
            "cuda: device 0 has compute capability 7.0; 7.5 is the least");
  test::SetCapability(75);
  EXPECT_TRUE(Stream::Wrap(nullptr).ok());
}

TEST_F(CudaErrorsOnHost, ADriverThatDoesNotFitIsUnsupported) {
  test::FailCall(0, cudaErrorInsufficientDriver);
  EXPECT_EQ(Stream::Wrap(nullptr).status().code(), StatusCode::kUnsupported);
}

TEST_F(CudaErrorsOnHost, NoMemoryIsOutOfMemory) {
  auto stream = Stream::Wrap(nullptr);
  ASSERT_TRUE(stream.ok());
  test::FailCall(1, cudaErrorMemoryAllocation);  // after the wait
  EXPECT_EQ(stream->Reserve(1 << 20).code(), StatusCode::kOutOfMemory);
  EXPECT_TRUE(stream->Reserve(1 << 20).ok());
}

}  // namespace
}  // namespace intaglio::cuda
