// Empty products, and every refusal that the headers promise: one line that names the thing, and a
// dst that nobody touched.
#include <gtest/gtest.h>

#include <limits>

#include "intaglio/gemm/bound_pipeline.h"
#include "intaglio/test/gemm/image.h"

namespace intaglio::test {
namespace {

TEST(EmptyProducts, ZeroDepthGivesThePipelineOfZero) {
  Context context(4);
  const std::vector<int32_t> bias = {5, -6, 7};
  for (const auto type : {Type::kInt8, Type::kUInt8}) {
    for (const Order order : {Order::kRowMajor, Order::kColMajor}) {
      for (const ptrdiff_t stride : {0, 7}) {
        StandardPipeline s;
        s.bias = bias.data();
        s.zero_point = 1;
        const ConstMatrix lhs{nullptr, type, 30, 0, stride, order, 3};
        const ConstMatrix rhs{nullptr, type, 0, 3, stride, order, 9};
        TestResult dst(Type::kInt32, 30, 3, order, 2);
        dst.Want(s, std::vector<int64_t>(90, 0));
        const Status status = Gemm(context, lhs, rhs, dst.view(), s);
        ASSERT_TRUE(status.ok()) << status.message();
        EXPECT_TRUE(dst.Same()) << dst.Difference();
        const auto packed = Prepack(Side::kRhs, rhs);
        ASSERT_TRUE(packed.ok());
        TestResult again(Type::kInt32, 30, 3, order, 2);
        again.Want(s, std::vector<int64_t>(90, 0));
        ASSERT_TRUE(Gemm(context, lhs, *packed, again.view(), s).ok());
        EXPECT_TRUE(again.Same()) << again.Difference();
      }
    }
  }
}

TEST(EmptyProducts, NoRowsOrNoColumns) {
  Random random(1);
  for (const int threads : {1, 4}) {
    Context context(threads);
    for (const auto& [m, n] : {std::pair{0, 5}, std::pair{5, 0}, std::pair{0, 0}}) {
      for (const int k : {0, 4}) {
        SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k));
        const TestMatrix lhs(random, Type::kInt8, m, k, Order::kRowMajor, 0, 0);
        const TestMatrix rhs(random, Type::kInt8, k, n, Order::kRowMajor, 0, 0);
        const MutableMatrix dst{nullptr, Type::kInt32, m, n, n, Order::kRowMajor};
        EXPECT_TRUE(Gemm(context, lhs.view(), rhs.view(), dst, StandardPipeline{}).ok());
        const auto how = DescribeGemm(context, lhs.view(), rhs.view(), dst, StandardPipeline{});
        ASSERT_TRUE(how.ok());
        EXPECT_GE(how->row_tasks, 0);
        EXPECT_GE(how->panel_tasks, 0);
        EXPECT_EQ(how->text.find(" -"), std::string::npos) << how->text;  // no negative count
        const auto packed = Prepack(Side::kLhs, lhs.view());
        ASSERT_TRUE(packed.ok());
        EXPECT_TRUE(Gemm(context, *packed, rhs.view(), dst, StandardPipeline{}).ok());
      }
    }
  }
}

// A convolution of which nothing is left, by filters whose kernel rows are padded.
TEST(EmptyProducts, NoWindows) {
  Random random(2);
  Context context;
  for (const std::string& kernel : KernelNames()) {
    const TestMatrix filters(random, Type::kInt8, 27, 10, Order::kColMajor, 0, 0);
    const auto packed = Prepack(Side::kRhs, filters.view(), {{}, kernel, 3});
    ASSERT_TRUE(packed.ok());
    const std::pair<const char*, int Im2col::*> sides[] = {
        {"batch", &Im2col::batch}, {"height", &Im2col::out_height}, {"width", &Im2col::out_width}};
    for (const auto& [name, side] : sides) {
      SCOPED_TRACE(kernel + ", " + name);
      TestImage image(random, Type::kInt8, 2, 5, 5, 3, 0);
      image.view().kernel_height = image.view().kernel_width = 3;
      image.view().*side = 0;
      const MutableMatrix dst{nullptr, Type::kInt32, 0, 10, 10, Order::kRowMajor};
      EXPECT_TRUE(Gemm(context, image.view(), *packed, dst, StandardPipeline{}).ok());
      EXPECT_TRUE(DescribeGemm(context, image.view(), *packed, dst, StandardPipeline{}).ok());
    }
  }
}

// Extents at the end of int that nothing is stored for.
TEST(EmptyProducts, GiantExtents) {
  Context context(2);
  const int giant = std::numeric_limits<int>::max();
  const ConstMatrix lhs{nullptr, Type::kInt8, 0, giant, giant, Order::kRowMajor, 0};
  const auto packed = Prepack(Side::kLhs, lhs);
  if (packed.ok()) {
    EXPECT_EQ(packed->cols(), giant);
  }
  const ConstMatrix rhs{nullptr, Type::kInt8, giant, 0, giant, Order::kRowMajor, 0};
  // Padded, kernel rows of one pixel would be of more than an int counts.
  for (const std::string& kernel : KernelNames()) {
    const ConstMatrix pixels{nullptr, Type::kInt8, kMaxExtent, 0, kMaxExtent, Order::kColMajor, 0};
    const auto filters = Prepack(Side::kRhs, pixels, {{}, kernel, kMaxExtent});
    if (sizeof(void*) == 4 && !filters.ok()) {
      EXPECT_NE(filters.status().message().find("does not fit the address space"),
                std::string::npos);
      continue;
    }
    ASSERT_TRUE(filters.ok()) << kernel << ": " << filters.status().message();
    EXPECT_EQ(filters->rows(), kMaxExtent);
    EXPECT_EQ(filters->panels().groups, filters->panels().format.Groups(kMaxExtent)) << kernel;
  }
  const MutableMatrix dst{nullptr, Type::kInt32, 0, 0, 0, Order::kRowMajor};
  EXPECT_FALSE(Gemm(context, lhs, rhs, dst, StandardPipeline{}).ok());  // K is over the bound
  const ConstMatrix tall{nullptr, Type::kInt8, giant, 0, 0, Order::kRowMajor, 0};
  const ConstMatrix flat{nullptr, Type::kInt8, 0, 0, 0, Order::kRowMajor, 0};
  const MutableMatrix nothing{nullptr, Type::kInt32, giant, 0, 0, Order::kRowMajor};
  EXPECT_TRUE(Gemm(context, tall, flat, nothing, StandardPipeline{}).ok());
  EXPECT_TRUE(DescribeGemm(context, tall, flat, nothing, StandardPipeline{}).ok());
}

class GemmErrors : public testing::Test {
 protected:
  GemmErrors()
      : random_(1),
        context_(2),
        lhs_(random_, Type::kInt8, 6, 8, Order::kRowMajor, 0, 0),
        rhs_(random_, Type::kUInt8, 8, 10, Order::kRowMajor, 0, 0),
        dst_(Type::kInt8, 6, 10, Order::kRowMajor, 0) {
    standard_.output = Type::kInt8;
  }

  void Refused(const Operand& lhs, const Operand& rhs, const MutableMatrix& dst,
               const char* message, StatusCode code = StatusCode::kInvalidArgument) {
    const Status status = Gemm(context_, lhs, rhs, dst, standard_);
    EXPECT_EQ(status.code(), code) << "expected: " << message;
    EXPECT_NE(status.message().find(message), std::string::npos)
        << "\"" << status.message() << "\" has no \"" << message << "\"";
    EXPECT_EQ(status.message().find('\n'), std::string::npos);
    EXPECT_TRUE(dst_.Untouched());
    const auto how = DescribeGemm(context_, lhs, rhs, dst, standard_);
    EXPECT_FALSE(how.ok());
    EXPECT_EQ(how.status().message(), status.message());
  }

  Random random_;
  Context context_;
  TestMatrix lhs_, rhs_;
  TestResult dst_;
  StandardPipeline standard_;
};

TEST_F(GemmErrors, Shapes) {
  ConstMatrix lhs = lhs_.view();
  lhs.cols = 7;
  Refused(lhs, rhs_.view(), dst_.view(), "dst 6 x 10 = lhs 6 x 7 times rhs 8 x 10");
  MutableMatrix dst = dst_.view();
  dst.rows = 5;
  Refused(lhs_.view(), rhs_.view(), dst, "dst 5 x 10");
  dst = dst_.view();
  dst.cols = 9;
  Refused(lhs_.view(), rhs_.view(), dst, "dst 6 x 9");
  lhs = lhs_.view();
  lhs.rows = -1;
  Refused(lhs, rhs_.view(), dst_.view(), "lhs is -1 x 8");
  ConstMatrix rhs = rhs_.view();
  rhs.cols = -5;
  Refused(lhs_.view(), rhs, dst_.view(), "rhs is 8 x -5");
  dst = dst_.view();
  dst.cols = -10;
  Refused(lhs_.view(), rhs_.view(), dst, "dst");
}

TEST_F(GemmErrors, StridesAndData) {
  ConstMatrix lhs = lhs_.view();
  lhs.stride = 7;
  Refused(lhs, rhs_.view(), dst_.view(), "lhs (6 x 8) has a stride of only 7");
  lhs.stride = -8;
  Refused(lhs, rhs_.view(), dst_.view(), "lhs (6 x 8) has a stride of only -8");
  lhs.stride = std::numeric_limits<ptrdiff_t>::max() / 2;
  Refused(lhs, rhs_.view(), dst_.view(), "does not fit the address space");
  ConstMatrix rhs = rhs_.view();
  rhs.stride = 9;
  Refused(lhs_.view(), rhs, dst_.view(), "rhs (8 x 10) has a stride of only 9");
  rhs.order = Order::kColMajor;
  rhs.stride = 7;
  Refused(lhs_.view(), rhs, dst_.view(), "rhs (8 x 10) has a stride of only 7");
  MutableMatrix dst = dst_.view();
  dst.stride = 9;
  Refused(lhs_.view(), rhs_.view(), dst, "dst (6 x 10) has a stride of only 9");
  lhs = lhs_.view();
  lhs.data = nullptr;
  Refused(lhs, rhs_.view(), dst_.view(), "lhs (6 x 8) has null data");
  rhs = rhs_.view();
  rhs.data = nullptr;
  Refused(lhs_.view(), rhs, dst_.view(), "rhs (8 x 10) has null data");
  dst = dst_.view();
  dst.data = nullptr;
  Refused(lhs_.view(), rhs_.view(), dst, "dst (6 x 10) has null data");
}

TEST_F(GemmErrors, TypesAndZeroPoints) {
  ConstMatrix lhs = lhs_.view();
  lhs.type = Type::kInt16;
  Refused(lhs, rhs_.view(), dst_.view(), "lhs is int16, not int8 or uint8",
          StatusCode::kUnsupported);
  lhs = lhs_.view();
  lhs.zero_point = 128;
  Refused(lhs, rhs_.view(), dst_.view(), "zero point 128 is no int8");
  ConstMatrix rhs = rhs_.view();
  rhs.zero_point = -1;
  Refused(lhs_.view(), rhs, dst_.view(), "zero point -1 is no uint8");
  MutableMatrix dst = dst_.view();
  dst.type = Type::kUInt8;
  Refused(lhs_.view(), rhs_.view(), dst, "dst is uint8, the pipeline's output int8");
}

TEST_F(GemmErrors, Aliasing) {
  // dst over the last byte of an operand, and over its first.
  std::vector<int8_t> memory(300, 1);
  const auto matrix = [&](size_t at, int rows, int cols) {
    return MakeConstMatrix(memory.data() + at, rows, cols);
  };
  const std::vector<int8_t> before = memory;
  const MutableMatrix dst = MakeMatrix(memory.data() + 100, 6, 10);
  Refused(matrix(53, 6, 8), rhs_.view(), dst, "dst overlaps lhs");
  Refused(matrix(159, 6, 8), rhs_.view(), dst, "dst overlaps lhs");
  Refused(lhs_.view(), matrix(21, 8, 10), dst, "dst overlaps rhs");
  TestImage image(random_, Type::kInt8, 1, 2, 3, 8, 0);
  image.view().data = memory.data() + 110;
  Im2col view = image.view();
  view.data = memory.data() + 110;
  Refused(view, rhs_.view(), dst, "dst overlaps lhs");
  EXPECT_EQ(memory, before);
  // Side by side is not over each other.
  EXPECT_TRUE(Gemm(context_, matrix(52, 6, 8), matrix(160, 8, 10), dst, standard_).ok());
}

TEST_F(GemmErrors, Packed) {
  const auto left = intaglio::Prepack(Side::kLhs, lhs_.view());
  const auto right = intaglio::Prepack(Side::kRhs, rhs_.view());
  ASSERT_TRUE(left.ok() && right.ok());
  Refused(*right, rhs_.view(), dst_.view(), "lhs was packed for the other side");
  Refused(lhs_.view(), *left, dst_.view(), "rhs was packed for the other side");
  Refused(*left, *right, dst_.view(), "both packed");
}

TEST_F(GemmErrors, Im2col) {
  TestImage image(random_, Type::kInt8, 1, 2, 3, 8, 0);
  Refused(lhs_.view(), image.view(), dst_.view(), "rhs is an im2col view",
          StatusCode::kUnsupported);
  Im2col view = image.view();
  view.stride_width = 0;
  Refused(view, rhs_.view(), dst_.view(), "stride width is 0");
}

// Filters whose kernel rows are padded serve windows of as many kernel rows alone.
TEST_F(GemmErrors, PaddedKernelRows) {
  for (const std::string& kernel : KernelNames()) {
    if (!(*KernelNamed(kernel))->takes_windows) continue;
    SCOPED_TRACE(kernel);
    const TestMatrix filters(random_, Type::kInt8, 27, 10, Order::kColMajor, 0, 0);
    const auto packed = Prepack(Side::kRhs, filters.view(), {{}, kernel, 3});
    ASSERT_TRUE(packed.ok());
    EXPECT_EQ(packed->panels().runs, 3);
    EXPECT_EQ(packed->rows(), 27);
    const char* none = "rhs was packed for windows of 3 kernel rows, lhs has none";
    const TestMatrix plain(random_, Type::kInt8, 6, 27, Order::kRowMajor, 0, 0);
    Refused(plain.view(), *packed, dst_.view(), none);

    TestImage image(random_, Type::kInt8, 1, 2, 3, 27, 0);
    Refused(image.view(), *packed, dst_.view(), none);  // a matrix in the end
    image = TestImage(random_, Type::kInt8, 1, 2, 3, 3, 0);
    Im2col& v = image.view();
    v.kernel_height = 1;
    v.kernel_width = 9;
    Refused(v, *packed, dst_.view(), none);
    v.kernel_height = 9;
    v.kernel_width = 1;
    Refused(v, *packed, dst_.view(), none);
    v.kernel_height = v.kernel_width = 3;
    v.dilation_width = 2;
    Refused(v, *packed, dst_.view(), none);

    const auto bound = BoundPipeline::Bind(*packed, standard_, Type::kInt8, 0);
    ASSERT_TRUE(bound.ok());
    const Status status = Gemm(context_, v, *packed, dst_.view(), *bound);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(), none);
    EXPECT_TRUE(dst_.Untouched());

    v.dilation_width = 1;
    v.dilation_height = 1 << 28;
    Refused(v, *packed, dst_.view(), "im2col: 3 kernel rows of ", StatusCode::kUnsupported);
    v.dilation_height = 2;
    EXPECT_TRUE(Gemm(context_, v, *packed, dst_.view(), *bound).ok());
    dst_.Reset();
  }
}

// More bytes of windows than an int64 counts.
TEST_F(GemmErrors, GiantKernelRows) {
  for (const std::string& kernel : KernelNames()) {
    if (!(*KernelNamed(kernel))->takes_windows) continue;
    SCOPED_TRACE(kernel);
    const TestMatrix filters(random_, Type::kInt8, 46, 10, Order::kColMajor, 0, 0);
    TestImage image(random_, Type::kInt8, 1, 1, 1, 23, 0);
    Im2col& v = image.view();
    v.kernel_height = v.out_height = v.out_width = 2;
    v.dilation_height = v.stride_height = (1 << 29) - 1;
    v.stride_width = (1 << 30) - 1;
    dst_ = TestResult(Type::kInt8, 4, 10, Order::kRowMajor, 0);
    const auto packed = Prepack(Side::kRhs, filters.view(), {{}, kernel, 2});
    ASSERT_TRUE(packed.ok());
    Refused(v, *packed, dst_.view(), "im2col: 2 kernel rows of ", StatusCode::kUnsupported);
  }
}

TEST_F(GemmErrors, DepthOverTheBound) {
  // 33,025 * 255 * 255 = 2,147,450,625 fits int32, one more does not; of int8 it is 131,071 * 128 *
  // 128.
  struct {
    Type type;
    int32_t zero_point;
    int k;
  } const kBounds[] = {{Type::kUInt8, 0, 33025},
                       {Type::kUInt8, 255, 33025},
                       {Type::kInt8, 127, 33025},
                       {Type::kInt8, 0, 131071},
                       {Type::kUInt8, 128, 131071}};
  for (const auto& bound : kBounds) {
    for (const int over : {0, 1}) {
      const int k = bound.k + over;
      const TestMatrix lhs(random_, bound.type, 1, k, Order::kRowMajor, 0, bound.zero_point,
                           Values::kAllHighest);
      const TestMatrix rhs(random_, bound.type, k, 1, Order::kRowMajor, 0, bound.zero_point,
                           Values::kAllHighest);
      TestResult dst(Type::kInt8, 1, 1, Order::kRowMajor, 0);
      if (over == 1) {
        Refused(lhs.view(), rhs.view(), dst.view(), ("K = " + std::to_string(k)).c_str());
        EXPECT_TRUE(dst.Untouched());
        continue;
      }
      ASSERT_TRUE(Gemm(context_, lhs.view(), rhs.view(), dst.view(), standard_).ok());
      dst.Want(standard_, Sums(lhs.ToIntegers(), rhs.ToIntegers()));
      EXPECT_TRUE(dst.Same()) << dst.Difference();
    }
  }
}

// Of a packed side its own values count: zeros may be as deep as they like, the largest may not.
TEST_F(GemmErrors, DepthOfAPackedSide) {
  const int k = 40000;
  const TestMatrix lhs(random_, Type::kUInt8, 1, k, Order::kRowMajor, 0, 0, Values::kAllHighest);
  TestResult dst(Type::kInt8, 1, 1, Order::kRowMajor, 0);
  for (const Values values : {Values::kAllLowest, Values::kAllHighest}) {
    const TestMatrix rhs(random_, Type::kUInt8, k, 1, Order::kRowMajor, 0, 0, values);
    const auto packed = intaglio::Prepack(Side::kRhs, rhs.view());
    ASSERT_TRUE(packed.ok());
    if (values == Values::kAllHighest) {
      Refused(lhs.view(), *packed, dst.view(), "K = 40000");
      EXPECT_TRUE(dst.Untouched());
    } else {
      TestResult zero(Type::kInt8, 1, 1, Order::kRowMajor, 0);
      ASSERT_TRUE(Gemm(context_, lhs.view(), *packed, zero.view(), standard_).ok());
      zero.Want(standard_, {0});
      EXPECT_TRUE(zero.Same());
    }
  }
}

TEST_F(GemmErrors, PipelineParameters) {
  const std::vector<int64_t> room(60, 77);
  const auto refused = [&](const char* message, StatusCode code = StatusCode::kInvalidArgument) {
    MutableMatrix dst = dst_.view();
    dst.type = standard_.output;
    dst.data = const_cast<int64_t*>(room.data());
    Refused(lhs_.view(), rhs_.view(), dst, message, code);
    EXPECT_EQ(room, std::vector<int64_t>(60, 77));
  };
  const float scales[] = {1.0f, NAN, -1.0f, INFINITY};
  const double reals[] = {1.0, NAN, -1.0, INFINITY};
  for (int i = 1; i < 4; ++i) {
    standard_.scaling = Scaling::kFloatHalfEven;
    standard_.scale = &scales[i];
    refused("of channel 0 is negative or not a finite number");
    standard_.scaling = Scaling::kReal64;
    standard_.real = &reals[i];
    refused("of channel 0 is negative or not a finite number");
  }
  std::vector<float> channels(10, 1.0f);
  channels[9] = NAN;
  standard_.scaling = Scaling::kFloatHalfEven;
  standard_.per_channel = true;
  standard_.scale = channels.data();
  refused("scale nan of channel 9");
  standard_.per_channel = false;
  standard_.scale = nullptr;
  refused("pipeline: null ");
  for (const auto scaling : {Scaling::kDoubleRounding, Scaling::kSingleRounding}) {
    standard_.scaling = scaling;
    refused("pipeline: null ");
    for (const int32_t mantissa : {1, (1 << 30) - 1, -1, INT32_MIN, -(1 << 30)}) {
      const int32_t exponent = 0;
      standard_.mantissa = &mantissa;
      standard_.exponent = &exponent;
      refused("neither 0 nor in [2^30, 2^31)");
    }
    for (const int32_t exponent : {-32, 31, INT32_MIN, INT32_MAX}) {
      const int32_t mantissa = 1 << 30;
      standard_.mantissa = &mantissa;
      standard_.exponent = &exponent;
      refused("outside [-31, 30]");
    }
    standard_.mantissa = standard_.exponent = nullptr;
  }
  standard_ = {};
  standard_.output = Type::kInt8;
  standard_.clamp_min = 5;
  standard_.clamp_max = 4;
  refused("clamp to [5, 4]");
  standard_ = {};
  standard_.output = Type::kInt8;
  standard_.zero_point = 256;
  refused("zero point 256 for int8");
  standard_.zero_point = INT32_MIN;
  refused("zero point -2147483648 for int8");
  standard_ = {};
  standard_.output = Type::kInt64;
  refused("int64", StatusCode::kUnsupported);
  standard_.output = Type::kFloat32;
  refused("float32 output of a scaling to integers");
  standard_.output = Type::kInt8;
  standard_.scaling = Scaling::kToFloat;
  standard_.scale = &scales[0];
  refused("int8 output of a scaling to float32");
}

// Parameters are as many as the product's channels; a dst that asks for more is refused before they
// are read.
TEST_F(GemmErrors, DstWiderThanTheParameters) {
  const std::vector<int32_t> mantissa(10, 1 << 30), exponent(10, -5);
  standard_.scaling = Scaling::kDoubleRounding;
  standard_.per_channel = true;
  standard_.mantissa = mantissa.data();
  standard_.exponent = exponent.data();
  MutableMatrix dst = dst_.view();
  dst.cols = 4000;
  dst.stride = 4000;
  dst.rows = 6;
  std::vector<int8_t> room(24000);
  dst.data = room.data();
  Refused(lhs_.view(), rhs_.view(), dst, "dst 6 x 4000");
}

TEST_F(GemmErrors, BoundPipelines) {
  const auto packed = intaglio::Prepack(Side::kRhs, rhs_.view());
  const auto twin = intaglio::Prepack(Side::kRhs, rhs_.view());
  ASSERT_TRUE(packed.ok() && twin.ok());
  const auto bound = BoundPipeline::Bind(*packed, standard_, Type::kInt8, 0);
  ASSERT_TRUE(bound.ok());
  const auto refused = [&](const ConstMatrix& lhs, const Operand& rhs, const char* message) {
    const Status status = Gemm(context_, lhs, rhs, dst_.view(), *bound);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << message;
    EXPECT_NE(status.message().find(message), std::string::npos) << status.message();
    EXPECT_TRUE(dst_.Untouched());
  };
  refused(lhs_.view(), *twin, "bound to another packed matrix");
  refused(lhs_.view(), rhs_.view(), "bound to another packed matrix");
  ConstMatrix lhs = lhs_.view();
  lhs.zero_point = 1;
  refused(lhs, *packed, "bound to operands of int8 with zero point 0");
  lhs = lhs_.view();
  lhs.type = Type::kUInt8;
  refused(lhs, *packed, "bound to operands of int8 with zero point 0");
  EXPECT_TRUE(Gemm(context_, lhs_.view(), PackedMatrix(*packed), dst_.view(), *bound)
                  .ok());  // NOLINT: a copy

  const auto cannot = [&](const StandardPipeline& s, Type type, int32_t zero_point,
                          const char* message) {
    const auto none = BoundPipeline::Bind(*packed, s, type, zero_point);
    ASSERT_FALSE(none.ok()) << message;
    EXPECT_NE(none.status().message().find(message), std::string::npos) << none.status().message();
  };
  cannot(standard_, Type::kInt16, 0, "int16");
  cannot(standard_, Type::kInt8, 128, "zero point 128 is no int8");
  const std::vector<int32_t> bias(10, 1);
  StandardPipeline s = standard_;
  s.bias = bias.data();
  s.axis = Axis::kRows;
  cannot(s, Type::kInt8, 0, "its channels are not those of the packed matrix");
  s = standard_;
  s.scaling = Scaling::kFloatHalfEven;
  cannot(s, Type::kInt8, 0, "null");
}

TEST_F(GemmErrors, Prepack) {
  const auto refused = [&](const ConstMatrix& m, const PackOptions& options, const char* message) {
    const auto packed = intaglio::Prepack(Side::kRhs, m, options);
    ASSERT_FALSE(packed.ok()) << message;
    EXPECT_NE(packed.status().message().find(message), std::string::npos)
        << packed.status().message();
  };
  refused(rhs_.view(), {{}, "avx9"}, "kernel avx9 is none of");
  refused(rhs_.view(), {{1, 2, 3}, ""}, "3 zero points for 10 channels");
  std::vector<int32_t> zero_points(10, 0);
  zero_points[4] = 256;
  refused(rhs_.view(), {zero_points, ""}, "zero point 256 is no uint8");
  ConstMatrix m = rhs_.view();
  m.type = Type::kFloat32;
  refused(m, {}, "float32");
  m = rhs_.view();
  m.data = nullptr;
  refused(m, {}, "null data");
  for (const KernelInfo& info : ListKernels()) {
    if (info.why_not.rfind("this CPU", 0) == 0)
      refused(rhs_.view(), {{}, info.name}, info.why_not.c_str());
  }
}

}  // namespace
}  // namespace intaglio::test
