// What calls on the device are planned to do, decided without one.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "intaglio/gemm/cuda/plan.h"

namespace intaglio::cuda {
namespace {

const DeviceInfo kTuring{0, 75, 68};
const DeviceInfo kAda{0, 89, 128};
const DeviceInfo kHopper{0, 90, 132};
const DeviceInfo kLater{0, 100, 148};

bool All(const KernelRow&) { return true; }

// Addresses that nobody reads, in device memory for all that the planner knows.
const void* At(uintptr_t address) { return reinterpret_cast<const void*>(address); }

ConstMatrix Matrix(uintptr_t at, int rows, int cols, Order order = Order::kRowMajor,
                   Type type = Type::kInt8) {
  return {At(at), type, rows, cols, DenseStride(rows, cols, order), order, 0};
}
MutableMatrix Result8(int rows, int cols, Order order = Order::kRowMajor) {
  return {reinterpret_cast<void*>(uintptr_t{1} << (sizeof(void*) == 8 ? 40 : 30)),
          Type::kInt8,
          rows,
          cols,
          DenseStride(rows, cols, order),
          order};
}

// A product of this shape with packed weights on the right.
struct Shape {
  int rows, channels, depth;
  PackedChannels packed;
  Canonical call;

  Shape(int m, int n, int k, Type type = Type::kInt8) : rows(m), channels(n), depth(k) {
    packed.channels = n;
    packed.depth = k;
    packed.padded_depth = RoundUp(k, kDepthUnit);
    packed.magnitude = 127 * k;
    call.rows = Matrix(1 << 20, m, k, Order::kRowMajor, type);
    call.packed = &packed;
    call.dst = Result8(m, n);
  }
  Plan On(const DeviceInfo& device, const std::string& kernel = "", int splits = 0) const {
    auto plan = MakePlan(device, call, {Type::kInt8, true, true, false}, kernel, splits, All);
    EXPECT_TRUE(plan.ok()) << plan.status().message();
    return plan.ok() ? *plan : Plan{};
  }
};

TEST(CudaPlan, KernelsFitDeviceAndShape) {
  const Shape large(8192, 8192, 8192);
  EXPECT_STREQ(large.On(kHopper).kernel->name, "wgmma_128x256");
  EXPECT_STREQ(large.On(kAda).kernel->name, "mma_128x128");
  EXPECT_STREQ(large.On(kTuring).kernel->name, "dp4a_64x64");
  // Code for sm_90a runs on no later device.
  EXPECT_STREQ(large.On(kLater).kernel->name, "mma_128x128");
  EXPECT_EQ(large.On(kHopper).splits, 1);
  for (const DeviceInfo& device : {kTuring, kAda, kHopper, kLater}) {
    EXPECT_STREQ(Shape(1, 4096, 4096).On(device).kernel->name, "gemv_1");
  }
  EXPECT_STREQ(Shape(16, 4096, 4096).On(kAda).kernel->name, "mma_16x128");
}

TEST(CudaPlan, FewTilesAndMuchDepthAreSplit) {
  const Plan plan = Shape(128, 256, 1 << 14).On(kHopper);
  EXPECT_GT(plan.splits, 1);
  EXPECT_TRUE(plan.through_memory);
  EXPECT_NE(plan.partials, Plan::kNone);
  EXPECT_EQ(plan.depth_per_split % 128, 0);
  EXPECT_GE(plan.depth_per_split * plan.splits, 1 << 14);
  EXPECT_LT(plan.depth_per_split * (plan.splits - 1), 1 << 14) << "a split is empty";
}

TEST(CudaPlan, NoSplitIsEmpty) {
  for (const int depth : {1, 100, 128, 129, 1000, 4097}) {
    for (const int splits : {1, 2, 3, 7, 16, 1000}) {
      const Plan plan = Shape(5, 5, depth).On(kHopper, "dp4a_64x64", splits);
      EXPECT_GE(plan.depth_per_split * plan.splits, depth);
      EXPECT_LT(plan.depth_per_split * (plan.splits - 1), depth);
    }
  }
}

TEST(CudaPlan, RowsAreReadInPlaceWhereTheyCanBe) {
  Shape shape(40, 50, 64);
  EXPECT_EQ(shape.On(kHopper).rows, Plan::kNone);
  const ConstMatrix good = shape.call.rows;
  for (const auto& [what, change] : std::vector<std::pair<std::string, void (*)(ConstMatrix&)>>{
           {"start", [](ConstMatrix& m) { m.data = At((1 << 20) + 8); }},
           {"stride", [](ConstMatrix& m) { m.stride = 72; }},
           {"order", [](ConstMatrix& m) { m = Transposed(Matrix(1 << 20, m.cols, m.rows)); }}}) {
    shape.call.rows = good;
    change(shape.call.rows);
    const Plan plan = shape.On(kHopper);
    EXPECT_NE(plan.rows, Plan::kNone) << what;
    EXPECT_EQ(plan.row_stride % kChunk, 0) << what;
  }
}

// Parts of the workspace do not overlap and lie inside.
TEST(CudaPlan, WorkspaceHoldsItsParts) {
  Canonical call;
  call.rows = Matrix((1 << 20) + 1, 33, 100);
  call.rows.zero_point = 3;
  call.channels = Matrix(1 << 24, 70, 100, Order::kColMajor, Type::kUInt8);
  call.dst = Result8(33, 70);
  call.batch = 3;
  call.row_batch = 33 * 100;
  call.channel_batch = 70 * 100;
  call.dst_batch = 33 * 70;
  const auto plan = MakePlan(kHopper, call, {Type::kInt8, true, false, true}, "", 0, All);
  ASSERT_TRUE(plan.ok());
  std::vector<std::pair<size_t, size_t>> parts = {
      {plan->rows, 3 * 33 * 112},
      {plan->channels, 3 * 128 * 128},
      {plan->channel_sums, 3 * 70 * 4},
      {plan->row_sums, 3 * 33 * 4},
      {plan->params, 3 * 2 * sizeof(PanelParams)},
      {plan->partials, size_t{3} * 33 * 128 * 4 * static_cast<size_t>(plan->splits)},
      {plan->workspace_bytes, 0}};
  std::sort(parts.begin(), parts.end());
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    ASSERT_NE(parts[i].first, Plan::kNone);
    EXPECT_EQ(parts[i].first % 256, 0u);
    EXPECT_LE(parts[i].first + parts[i].second, parts[i + 1].first) << i;
  }
}

TEST(CudaPlan, ForcedAndMissingKernels) {
  const Shape shape(300, 300, 300);
  for (const KernelRow& row : kKernelTable) {
    if (row.max_rows > 0) continue;
    EXPECT_EQ(shape.On(kHopper, row.name).kernel, &row);
  }
  const auto none = MakePlan(kTuring, shape.call, {}, "wgmma_128x256", 0, All);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.status().code(), StatusCode::kUnsupported);
  EXPECT_NE(none.status().message().find("7.5"), std::string::npos) << none.status().message();
  // Code that was not compiled is not chosen.
  const auto other = MakePlan(kHopper, shape.call, {}, "", 0,
                              [](const KernelRow& row) { return row.id == KernelId::kDp4a64x64; });
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(other->kernel->id, KernelId::kDp4a64x64);
}

// Which of the operands becomes the channels, and how.
TEST(CudaPlan, CanonicalForm) {
  const ConstMatrix lhs = Matrix(1 << 20, 6, 32);
  const ConstMatrix rhs = Matrix(1 << 22, 32, 10);
  auto call = Canonicalize(lhs, rhs, Result8(6, 10), nullptr, {});
  ASSERT_TRUE(call.ok());
  EXPECT_EQ(call->channels_along, Axis::kCols);
  EXPECT_EQ(call->rows.data, lhs.data);
  EXPECT_EQ(call->channels.data, rhs.data);
  EXPECT_EQ(call->channels.rows, 10);
  // A column-major result, or a bias along rows: the transposed problem.
  StandardPipeline along_rows;
  const int32_t bias[6] = {};
  along_rows.bias = bias;
  along_rows.axis = Axis::kRows;
  for (const bool by_pipeline : {false, true}) {
    call = Canonicalize(lhs, rhs, Result8(6, 10, by_pipeline ? Order::kRowMajor : Order::kColMajor),
                        by_pipeline ? &along_rows : nullptr, {2, 1000, 2000, 3000});
    ASSERT_TRUE(call.ok());
    EXPECT_EQ(call->channels_along, Axis::kRows);
    EXPECT_EQ(call->rows.data, rhs.data);
    EXPECT_EQ(call->rows.rows, 10);
    EXPECT_EQ(call->rows.order, Order::kColMajor);
    EXPECT_EQ(call->channels.data, lhs.data);
    EXPECT_EQ(call->channel_count(), 6);
    EXPECT_EQ(call->row_batch, 2000);
    EXPECT_EQ(call->channel_batch, 1000);
  }
}

TEST(CudaPlan, ConvolutionsReadTheirImages) {
  Im2col view;
  view.data = At(1 << 20);
  view.batch = 2;
  view.height = view.width = view.out_height = view.out_width = 8;
  view.channels = view.group_channels = 32;
  const ConstMatrix weights = Matrix(1 << 24, 32, 10, Order::kColMajor);
  auto call = Canonicalize(view, weights, Result8(128, 10, Order::kColMajor), nullptr, {});
  ASSERT_TRUE(call.ok()) << call.status().message();
  EXPECT_EQ(call->channels_along, Axis::kCols) << "whatever the order of the result";
  auto plan = MakePlan(kHopper, *call, {}, "", 0, All);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->rows, Plan::kNone);
  EXPECT_EQ(call->rows.data, view.data);
  view.stride_height = view.stride_width = 2;
  view.out_height = view.out_width = 4;
  call = Canonicalize(view, weights, Result8(32, 10), nullptr, {});
  ASSERT_TRUE(call.ok()) << call.status().message();
  plan = MakePlan(kHopper, *call, {}, "", 0, All);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->rows, Plan::kNone) << "no matrix is made";
  EXPECT_NE(plan->kernel->images, Images::kNone);
  for (const KernelRow& row : kKernelTable) {
    const auto forced = MakePlan(kHopper, *call, {}, row.name, 0, All);
    EXPECT_EQ(forced.ok(), row.images != Images::kNone) << row.name;
  }
  // Chunks that cross pixels are for the kernels that gather bytes.
  Im2col narrow = view;
  narrow.channels = narrow.group_channels = 3;
  narrow.kernel_height = narrow.kernel_width = 7;
  call = Canonicalize(narrow, Matrix(1 << 24, 147, 10, Order::kColMajor), Result8(32, 10), nullptr,
                      {});
  ASSERT_TRUE(call.ok()) << call.status().message();
  plan = MakePlan(kHopper, *call, {}, "", 0, All);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->kernel->images, Images::kAny);
  EXPECT_EQ(plan->rows, Plan::kNone);
  EXPECT_FALSE(Canonicalize(view, weights, Result8(32, 10), nullptr, {2, 0, 0, 320}).ok());
  view.stride_width = 0;
  EXPECT_FALSE(Canonicalize(view, weights, Result8(32, 10), nullptr, {}).ok());
}

std::string Refusal(const ConstMatrix& lhs, const ConstMatrix& rhs, const MutableMatrix& dst,
                    const Batch& batch = {}) {
  const auto call = Canonicalize(lhs, rhs, dst, nullptr, batch);
  return call.ok() ? "" : call.status().message();
}

TEST(CudaPlan, WhatIsRefused) {
  const ConstMatrix lhs = Matrix(1 << 20, 6, 32);
  const ConstMatrix rhs = Matrix(1 << 22, 32, 10);
  EXPECT_EQ(Refusal(lhs, rhs, Result8(6, 10)), "");
  EXPECT_NE(Refusal(lhs, rhs, Result8(7, 10)).find("shapes"), std::string::npos);
  EXPECT_NE(Refusal(lhs, Matrix(0, 32, 10), Result8(6, 10)).find("null"), std::string::npos);
  MutableMatrix over = Result8(6, 10);
  over.data = const_cast<void*>(At((1 << 20) + 5));
  EXPECT_NE(Refusal(lhs, rhs, over).find("overlaps lhs"), std::string::npos);
  EXPECT_NE(Refusal(lhs, rhs, Result8(6, 10), {2, 0, 0, 59}).find("overlap"), std::string::npos);
  EXPECT_NE(Refusal(lhs, rhs, Result8(6, 10), {-1, 0, 0, 60}).find("batch"), std::string::npos);
  EXPECT_EQ(Refusal(lhs, rhs, Result8(6, 10), {2, 0, 0, 60}), "");
  EXPECT_NE(Refusal(Matrix(1 << 20, 1, 1 << 18), Matrix(1 << 30, 1 << 18, 1), Result8(1, 1))
                .find("over int32"),
            std::string::npos);
}

TEST(CudaPlan, PipelinesAreCheckedWithoutTheirArrays) {
  // Addresses on the device: reading one here would end the test.
  const auto* on_device = static_cast<const int32_t*>(At(64));
  StandardPipeline s;
  s.scaling = Scaling::kDoubleRounding;
  s.per_channel = true;
  s.mantissa = s.exponent = on_device;
  s.bias = on_device;
  s.output = Type::kInt8;
  EXPECT_TRUE(CheckPipeline(s).ok());
  s.exponent = nullptr;
  EXPECT_FALSE(CheckPipeline(s).ok());
  s.per_channel = false;
  const int32_t mantissa = 5;
  const int32_t exponent = 0;
  s.mantissa = &mantissa;
  s.exponent = &exponent;
  EXPECT_FALSE(CheckPipeline(s).ok()) << "a single multiplier is on the host";
}

}  // namespace
}  // namespace intaglio::cuda
