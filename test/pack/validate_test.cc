// The checks of views.
#include "intaglio/pack/validate.h"

#include <gtest/gtest.h>

#include <limits>

#include "intaglio/pack/im2col.h"
#include "intaglio/test/gemm/image.h"

namespace intaglio::test {
namespace {

constexpr int kMost = std::numeric_limits<int>::max();

TEST(ValidateMatrix, Spans) {
  std::vector<int8_t> data(100);
  ConstMatrix m = MakeConstMatrix(data.data(), 3, 5);
  EXPECT_EQ(SpanBytes(m), 15u);
  m.stride = 20;
  EXPECT_EQ(SpanBytes(m), 45u);
  m.order = Order::kColMajor;
  EXPECT_EQ(SpanBytes(m), 83u);
  m.rows = 0;
  EXPECT_EQ(SpanBytes(m), 0u);
  std::vector<int32_t> wide(100);
  EXPECT_EQ(SpanBytes(MakeMatrix(wide.data(), 3, 5)), 60u);
}

TEST(ValidateMatrix, OverlapIsByBytes) {
  const std::vector<int8_t> data(100);
  EXPECT_TRUE(Overlap(&data[0], 10, &data[9], 1));
  EXPECT_FALSE(Overlap(&data[0], 10, &data[10], 5));
  EXPECT_FALSE(Overlap(&data[10], 5, &data[0], 10));
  EXPECT_TRUE(Overlap(&data[5], 1, &data[0], 100));
  EXPECT_FALSE(Overlap(&data[5], 0, &data[0], 100));
  EXPECT_FALSE(Overlap(nullptr, 0, nullptr, 0));
}

TEST(ValidateMatrix, Transposition) {
  const std::vector<int8_t> data(12);
  const ConstMatrix m = MakeConstMatrix(data.data(), 3, 4);
  const ConstMatrix t = Transposed(m);
  EXPECT_EQ(t.rows, 4);
  EXPECT_EQ(t.cols, 3);
  EXPECT_EQ(t.order, Order::kColMajor);
  EXPECT_EQ(t.stride, 4);
  EXPECT_TRUE(ValidateOperand(t, "t").ok());
  EXPECT_EQ(LargestDistance(Type::kInt8, 0), 128);
  EXPECT_EQ(LargestDistance(Type::kInt8, 127), 255);
  EXPECT_EQ(LargestDistance(Type::kUInt8, 0), 255);
  EXPECT_EQ(LargestDistance(Type::kUInt8, 128), 128);
}

class ValidateIm2col : public testing::Test {
 protected:
  ValidateIm2col() : random_(1), image_(random_, Type::kInt8, 2, 4, 5, 6, 0) {}

  template <class Change>
  void Refused(const Change& change, const char* message) {
    Im2col view = image_.view();
    change(view);
    const Status status = Validate(view);
    EXPECT_FALSE(status.ok()) << "expected: " << message;
    EXPECT_NE(status.message().find(message), std::string::npos) << status.message();
  }

  Random random_;
  TestImage image_;
};

TEST_F(ValidateIm2col, EachNumber) {
  EXPECT_TRUE(Validate(image_.view()).ok());
  struct {
    int Im2col::*member;
    int value;
    const char* message;
  } const kWrong[] = {
      {&Im2col::batch, -1, "batch is -1"},
      {&Im2col::height, -4, "height is -4"},
      {&Im2col::width, -5, "width is -5"},
      {&Im2col::channels, -6, "channels is -6"},
      {&Im2col::first_channel, -1, "first channel is -1"},
      {&Im2col::group_channels, -1, "group channels is -1"},
      {&Im2col::kernel_height, 0, "kernel height is 0"},
      {&Im2col::kernel_width, -2, "kernel width is -2"},
      {&Im2col::stride_height, 0, "stride height is 0"},
      {&Im2col::stride_width, 0, "stride width is 0"},
      {&Im2col::dilation_height, 0, "dilation height is 0"},
      {&Im2col::dilation_width, -1, "dilation width is -1"},
      {&Im2col::pad_top, -1, "padding at the top is -1"},
      {&Im2col::pad_left, -1, "padding at the left is -1"},
      {&Im2col::out_height, -1, "output height is -1"},
      {&Im2col::out_width, -1, "output width is -1"},
      {&Im2col::first_channel, 1, "channels 1 + 6 of 6"},
      {&Im2col::first_channel, kMost, "channels"},
      {&Im2col::group_channels, 7, "channels 0 + 7 of 6"},
      {&Im2col::batch, kMost, "more elements than an int counts"},
      {&Im2col::out_height, kMost, "more elements than an int counts"},
      {&Im2col::kernel_width, kMost, "more elements than an int counts"},
      {&Im2col::stride_height, kMost, "vertical coordinates overflow"},
      {&Im2col::dilation_width, kMost, "horizontal coordinates overflow"},
      {&Im2col::pad_top, kMost, "vertical coordinates overflow"},
  };
  for (const auto& [member, value, message] : kWrong) {
    Refused([&, member = member, value = value](Im2col& v) { v.*member = value; }, message);
  }
}

TEST_F(ValidateIm2col, TypeDataAndZeroPoint) {
  Refused([](Im2col& v) { v.data = nullptr; }, "null data");
  Refused([](Im2col& v) { v.type = Type::kInt16; }, "input is int16");
  Refused([](Im2col& v) { v.zero_point = 128; }, "zero point 128 is no int8");
  Im2col view = image_.view();
  view.data = nullptr;
  view.batch = 0;
  EXPECT_TRUE(Validate(view).ok());
}

// At the ends of what an int counts nothing overflows before it is refused.
TEST_F(ValidateIm2col, AllNumbersGiant) {
  Im2col view = image_.view();
  view.batch = view.height = view.width = view.channels = view.group_channels = kMost;
  view.kernel_height = view.kernel_width = view.stride_height = view.stride_width = kMost;
  view.dilation_height = view.dilation_width = view.pad_top = view.pad_left = kMost;
  view.out_height = view.out_width = view.first_channel = kMost;
  EXPECT_FALSE(Validate(view).ok());
  view.batch = 0;
  view.first_channel = 0;
  EXPECT_FALSE(Validate(view).ok());
}

}  // namespace
}  // namespace intaglio::test
