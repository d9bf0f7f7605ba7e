// Depthwise convolution against the naive sum.
#include "intaglio/gemm/depthwise.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "intaglio/pipeline/pipeline.h"
#include "intaglio/pipeline/stages.h"
#include "intaglio/test/gemm/image.h"

namespace intaglio::test {
namespace {

std::vector<int64_t> DepthwiseSums(TestImage& image, const TestMatrix& filters, int multiplier) {
  const Im2col& v = image.view();
  const ConstMatrix f = filters.view();
  std::vector<int64_t> sums;
  for (int b = 0; b < v.batch; ++b) {
    for (int oy = 0; oy < v.out_height; ++oy) {
      for (int ox = 0; ox < v.out_width; ++ox) {
        for (int o = 0; o < f.cols; ++o) {
          int64_t sum = 0;
          for (int t = 0; t < f.rows; ++t) {
            const int y = oy * v.stride_height - v.pad_top + t / v.kernel_width * v.dilation_height;
            const int x = ox * v.stride_width - v.pad_left + t % v.kernel_width * v.dilation_width;
            sum += int64_t{image.Quantized(b, y, x, o / multiplier) - v.zero_point} *
                   (filters.Quantized(t, o) - f.zero_point);
          }
          sums.push_back(sum);
        }
      }
    }
  }
  return sums;
}

int Rows(TestImage& image) {
  return image.view().batch * image.view().out_height * image.view().out_width;
}

// Convolves by filters, a pipeline and a kernel of any kind.
void RunDepthwise(Random& random, TestImage& image, int multiplier, Values values,
                  Context& context) {
  const Im2col& v = image.view();
  const Type type = v.type;
  const int channels = v.channels;
  const int taps = v.kernel_height * v.kernel_width;
  const Type filter_type = random() % 2 == 0 ? Type::kInt8 : Type::kUInt8;
  const TestMatrix filters(random, filter_type, taps, channels * multiplier,
                           random() % 4 == 0 ? Order::kColMajor : Order::kRowMajor,
                           Uniform(random, 0, 3), RandomZeroPoint(random, filter_type), values);
  const Scaling scalings[] = {Scaling::kDoubleRounding, Scaling::kSingleRounding,
                              Scaling::kFloatHalfEven,  Scaling::kReal64,
                              Scaling::kNone,           Scaling::kToFloat};
  const Scaling scaling = scalings[random() % 6];
  const Type outputs[] = {Type::kInt8, Type::kUInt8, Type::kInt16, Type::kInt32};
  const Type output = scaling == Scaling::kToFloat ? Type::kFloat32 : outputs[random() % 4];
  TestPipeline pipeline;
  pipeline.Randomize(random, scaling, output, channels * multiplier, Axis::kCols,
                     0.01 / std::sqrt(taps));
  const auto names = KernelNames();
  const std::string kernel = random() % 4 == 0 ? "" : OneOf(random, names);
  SCOPED_TRACE(image.Text() + ", multiplier " + std::to_string(multiplier) + ", " + NameOf(output) +
               ", " + kernel);

  const auto packed = PackedDepthwise::Pack(filters.view(), v.kernel_width, multiplier, kernel);
  ASSERT_TRUE(packed.ok()) << packed.status().message();
  EXPECT_EQ(packed->taps(), taps);
  EXPECT_EQ(packed->channels(), channels * multiplier);
  EXPECT_EQ(packed->multiplier(), multiplier);
  EXPECT_EQ(packed->kernel_name(), kernel.empty() ? KernelNames()[0] : kernel);
  const int gap = random() % 2 == 0 ? 0 : Uniform(random, 1, 40);  // behind each pixel
  const ptrdiff_t stride = channels * multiplier + gap;
  TestResult dst(output, Rows(image), channels * multiplier, Order::kRowMajor, gap);
  const std::vector<int64_t> sums = DepthwiseSums(image, filters, multiplier);
  dst.Want(pipeline.standard, sums);
  const Status status = Depthwise(context, v, *packed, dst.view().data, pipeline.standard, stride);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_TRUE(dst.Same()) << dst.Difference();

  // The same with the pipeline bound before.
  const auto bound = BoundPipeline::Bind(*packed, pipeline.standard, type, v.zero_point);
  ASSERT_TRUE(bound.ok()) << bound.status().message();
  TestResult again(output, Rows(image), channels * multiplier, Order::kRowMajor, gap);
  again.Want(pipeline.standard, sums);
  ASSERT_TRUE(Depthwise(context, v, *packed, again.view().data, *bound, stride).ok());
  ASSERT_TRUE(again.Same()) << again.Difference();

  // The same through tiles.
  TestResult tiled(output, Rows(image), channels * multiplier, Order::kRowMajor, gap);
  tiled.Want(pipeline.standard, sums);
  ASSERT_TRUE(
      Depthwise(context, v, *packed, tiled.view().data, AsTilePipeline(pipeline.standard), stride)
          .ok());
  ASSERT_TRUE(tiled.Same()) << tiled.Difference();
}

TEST(Depthwise, EqualsNaiveSums) {
  std::vector<std::unique_ptr<Context>> contexts;
  for (int t = 1; t <= 8; ++t) contexts.push_back(std::make_unique<Context>(t));
  const std::vector<int> some_channels = {1,  2,  3,  4,  5,  7,  8,  9,  15, 16, 17,
                                          24, 31, 32, 33, 48, 63, 64, 65, 96, 100};
  for (unsigned seed = 0; seed < 1500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Type type = random() % 2 == 0 ? Type::kInt8 : Type::kUInt8;
    const int multiplier = random() % 3 == 0 ? Uniform(random, 2, 5) : 1;
    const Values values = random() % 3 == 0 ? Values::kExtremes : Values::kUniform;
    TestImage image(random, type, Uniform(random, 1, 2), Uniform(random, 1, 7),
                    Uniform(random, 1, 7), OneOf(random, some_channels),
                    RandomZeroPoint(random, type), values);
    if (random() % 6 != 0) image.RandomWindow(random);
    RunDepthwise(random, image, multiplier, values, *contexts[seed % 10 < 8 ? 0 : seed % 8]);
    if (HasFatalFailure()) return;
  }
}

// Filters of one row have no dilation to look at, however large.
TEST(Depthwise, DilationOfOneRow) {
  Random random(9);
  const TestMatrix filters(random, Type::kInt8, 3, 64, Order::kRowMajor, 0, 0);
  const auto packed = PackedDepthwise::Pack(filters.view(), 3, 1);
  ASSERT_TRUE(packed.ok()) << packed.status().message();
  TestPipeline pipeline;
  pipeline.Randomize(random, Scaling::kFloatHalfEven, Type::kInt8, 64, Axis::kCols, 0.01);
  TestImage image(random, Type::kInt8, 1, 5, 7, 64, 3);
  Im2col view = image.view();
  view.kernel_width = 3;
  view.out_width = 5;
  std::vector<int8_t> results[2];
  for (const bool far : {false, true}) {
    view.dilation_height = far ? 1 << 30 : 1;
    std::vector<int8_t>& result = results[far];
    result.resize(5 * 5 * 64);
    Context context;
    const Status status =
        Depthwise(context, view, *packed, result.data(), pipeline.standard, /*dst_stride=*/64);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  EXPECT_EQ(results[0], results[1]);
}

// Lines of more columns than are interleaved at once.
TEST(Depthwise, LongLines) {
  Context context;
  const std::vector<int> some_channels = {40, 64, 100};
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    TestImage image(random, Type::kInt8, 1, Uniform(random, 1, 5), Uniform(random, 130, 300),
                    OneOf(random, some_channels), 3, Values::kUniform);
    image.RandomWindow(random);
    if (seed % 2 == 0) image.view().stride_height = image.view().dilation_height = 1;
    RunDepthwise(random, image, 1, Values::kUniform, context);
    if (HasFatalFailure()) return;
  }
}

// Lines of few channels, neighbouring pixels of which may share a panel.
TEST(Depthwise, FewChannels) {
  std::vector<std::unique_ptr<Context>> contexts;
  for (int t = 1; t <= 3; ++t) contexts.push_back(std::make_unique<Context>(t));
  const std::vector<int> some_channels = {1, 4, 8, 16, 32};
  for (unsigned seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Type type = random() % 2 == 0 ? Type::kInt8 : Type::kUInt8;
    const int channels = OneOf(random, some_channels);
    const int pixels = std::max(1, 64 / channels);  // of the widest panel
    const Values values = random() % 3 == 0 ? Values::kExtremes : Values::kUniform;
    TestImage image(random, type, Uniform(random, 1, 2), Uniform(random, 1, 12),
                    random() % 2 == 0 ? pixels * Uniform(random, 1, 3) : Uniform(random, 1, 100),
                    channels, RandomZeroPoint(random, type), values);
    image.RandomWindow(random);
    Im2col& v = image.view();
    if (seed % 5 > 0) v.stride_width = v.dilation_width = 1;
    if (seed % 3 > 0) v.stride_height = v.dilation_height = 1;
    if (random() % 3 == 0) v.out_width = pixels * Uniform(random, 1, 2);
    if (seed % 2 > 0) {
      v.kernel_height = v.kernel_width = 3;
      v.pad_top = v.pad_left = Uniform(random, 0, 1);
      v.out_height = std::max(1, v.height + 2 * v.pad_top - 2);
      v.out_width = std::max(1, v.width + 2 * v.pad_left - 2);
    }
    RunDepthwise(random, image, 1, values, *contexts[seed % 6 < 4 ? 0 : seed % 3]);
    if (HasFatalFailure()) return;
  }
}

// Filters of 3 x 3 and 5 x 5 taps over several panels, which share what was found out of their
// columns: panels of different widths, with and without a form of scaling of their own, of weights
// within int8 and beyond, lines of one run and more.
TEST(Depthwise, PanelsThatShareColumns) {
  Context context;
  const std::vector<int> some_channels = {88, 96, 120, 192, 200};
  for (unsigned seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const int channels = OneOf(random, some_channels);
    const int side = seed < 200 ? 3 : 5;
    TestImage image(random, Type::kUInt8, Uniform(random, 1, 2), Uniform(random, 1, 11),
                    seed % 8 == 0 ? 100 : Uniform(random, 1, 4 * side), channels, 3);
    Im2col& v = image.view();
    v.kernel_height = v.kernel_width = side;
    v.pad_top = v.pad_left = side / 2;
    v.stride_height = v.stride_width = Uniform(random, 1, 2);
    v.out_height = (v.height - 1) / v.stride_height + 1;
    v.out_width = (v.width - 1) / v.stride_width + 1;
    const Type filter_type = seed % 4 < 2 ? Type::kInt8 : Type::kUInt8;
    // Of uint8 weights one in sixteen leaves int8 by a little, or all do by as much as there is.
    const int zero_point = filter_type == Type::kInt8 ? 0 : seed % 8 < 4 ? 112 : 255;
    const TestMatrix filters(random, filter_type, side * side, channels, Order::kRowMajor, 0,
                             zero_point);
    std::vector<int32_t> bias, mantissa, exponent;
    for (int c = 0; c < channels; ++c) {
      bias.push_back(Uniform(random, -9999, 9999));
      mantissa.push_back((1 << 30) + Uniform(random, 0, (1 << 30) - 1));
      exponent.push_back(Uniform(random, -9, -6));
    }
    // Of one panel multipliers of one and more, which have no form that slides.
    if (seed % 2 == 0) exponent[static_cast<size_t>(Uniform(random, 0, channels - 1))] = 1;
    StandardPipeline pipeline;
    pipeline.scaling = Scaling::kDoubleRounding;
    pipeline.per_channel = true;
    pipeline.bias = bias.data();
    pipeline.mantissa = mantissa.data();
    pipeline.exponent = exponent.data();
    pipeline.output = Type::kInt8;
    const std::vector<int64_t> sums = DepthwiseSums(image, filters, 1);
    for (const std::string& kernel : KernelNames()) {
      SCOPED_TRACE(image.Text() + ", " + kernel);
      const auto packed = PackedDepthwise::Pack(filters.view(), side, 1, kernel);
      ASSERT_TRUE(packed.ok());
      TestResult dst(Type::kInt8, Rows(image), channels, Order::kRowMajor, 0);
      dst.Want(pipeline, sums);
      ASSERT_TRUE(Depthwise(context, v, *packed, dst.view().data, pipeline).ok());
      ASSERT_TRUE(dst.Same()) << dst.Difference();
    }
  }
}

struct Negate {
  template <class R>
  typename R::I32 Apply(typename R::I32 x, const Place&) const {
    return R::Sub(R::Set(0), x);
  }
};

TEST(Depthwise, CustomPipeline) {
  Random random(1);
  Context context(2);
  TestImage image(random, Type::kUInt8, 1, 6, 5, 19, 100);
  image.view().kernel_height = image.view().kernel_width = 3;
  image.view().pad_top = image.view().pad_left = 1;
  const TestMatrix filters(random, Type::kInt8, 9, 38, Order::kRowMajor, 0, 0);
  const auto packed = PackedDepthwise::Pack(filters.view(), 3, 2);
  ASSERT_TRUE(packed.ok());
  std::vector<int32_t> bias;
  for (int c = 0; c < 38; ++c) bias.push_back(1000 * c);
  const Pipeline pipeline(AddBias{bias.data()}, Negate{}, CastTo<int32_t>{});
  TestResult dst(Type::kInt32, 30, 38, Order::kRowMajor, 0);
  std::vector<int64_t> sums = DepthwiseSums(image, filters, 2);
  for (size_t i = 0; i < sums.size(); ++i) sums[i] = -(sums[i] + bias[i % 38]);
  dst.Want(StandardPipeline{}, sums);
  ASSERT_TRUE(Depthwise(context, image.view(), *packed, dst.view().data,
                        AsTilePipeline<NativeRegisters>(pipeline))
                  .ok());
  EXPECT_TRUE(dst.Same()) << dst.Difference();
}

TEST(Depthwise, NothingToDo) {
  Random random(2);
  Context context;
  TestImage image(random, Type::kInt8, 1, 3, 3, 8, 0);
  const TestMatrix filters(random, Type::kInt8, 1, 8, Order::kRowMajor, 0, 0);
  const auto packed = PackedDepthwise::Pack(filters.view(), 1, 1);
  ASSERT_TRUE(packed.ok());
  image.view().out_height = 0;
  EXPECT_TRUE(Depthwise(context, image.view(), *packed, nullptr, StandardPipeline{}).ok());
  image.view().out_height = 3;
  image.view().batch = 0;
  EXPECT_TRUE(Depthwise(context, image.view(), *packed, nullptr, StandardPipeline{}).ok());
}

TEST(Depthwise, CopiesShareStorage) {
  Random random(3);
  const TestMatrix filters(random, Type::kInt8, 9, 40, Order::kRowMajor, 0, 0);
  const auto packed = PackedDepthwise::Pack(filters.view(), 3, 1);
  ASSERT_TRUE(packed.ok());
  const PackedDepthwise copy = *packed;  // NOLINT: what is tested
  EXPECT_EQ(copy.storage(), packed->storage());
  EXPECT_GE(copy.bytes(), size_t{9 * 40});
}

// Each refusal names what is wrong and leaves dst alone.
class DepthwiseErrors : public testing::Test {
 protected:
  DepthwiseErrors()
      : random_(4),
        image_(random_, Type::kInt8, 1, 4, 4, 6, 0),
        filters_(random_, Type::kInt8, 1, 12, Order::kRowMajor, 0, 0),
        packed_(*PackedDepthwise::Pack(filters_.view(), 1, 2)),
        dst_(Type::kInt8, 16, 12, Order::kRowMajor, 0) {
    pipeline_.output = Type::kInt8;
  }
  void Refused(const Im2col& view, const char* message) {
    const Status status = Depthwise(context_, view, packed_, dst_.view().data, pipeline_);
    EXPECT_FALSE(status.ok()) << "expected: " << message;
    EXPECT_NE(status.message().find(message), std::string::npos) << status.message();
    EXPECT_TRUE(dst_.Untouched());
  }

  Random random_;
  Context context_;
  TestImage image_;
  TestMatrix filters_;
  PackedDepthwise packed_;
  TestResult dst_;
  StandardPipeline pipeline_;
};

TEST_F(DepthwiseErrors, Shapes) {
  Im2col view = image_.view();
  view.kernel_width = 2;
  Refused(view, "1 x 2 taps");
  TestImage other(random_, Type::kInt8, 1, 4, 4, 5, 0);
  Refused(other.view(), "5 channels");
  view = image_.view();
  view.stride_width = 0;
  Refused(view, "stride width is 0");
}

// The documentation asks for first_channel = 0 and group_channels = channels.
TEST_F(DepthwiseErrors, Groups) {
  Im2col view = image_.view();
  view.first_channel = 1;
  view.group_channels = 5;
  Refused(view, "channel");
  view = image_.view();
  view.group_channels = 3;
  Refused(view, "channel");
}

TEST_F(DepthwiseErrors, NullData) {
  Im2col view = image_.view();
  view.data = nullptr;
  Refused(view, "null data");
  view.group_channels = 0;  // reads nothing, says the view
  Refused(view, "");
  EXPECT_FALSE(Depthwise(context_, image_.view(), packed_, nullptr, pipeline_).ok());
}

TEST_F(DepthwiseErrors, Aliasing) {
  const Im2col view = image_.view();
  EXPECT_NE(Depthwise(context_, view, packed_, const_cast<void*>(view.data), pipeline_)
                .message()
                .find("overlaps"),
            std::string::npos);
}

TEST_F(DepthwiseErrors, Stride) {
  for (const ptrdiff_t stride : {ptrdiff_t{-1}, ptrdiff_t{1}, PTRDIFF_MAX}) {
    EXPECT_NE(Depthwise(context_, image_.view(), packed_, dst_.view().data, pipeline_, stride)
                  .message()
                  .find("stride"),
              std::string::npos)
        << stride;
  }
}

TEST_F(DepthwiseErrors, Pipeline) {
  const std::vector<int32_t> bias(12, 1);
  pipeline_.bias = bias.data();
  pipeline_.axis = Axis::kRows;
  Refused(image_.view(), "rows");
  pipeline_ = {};
  pipeline_.output = Type::kInt8;
  pipeline_.scaling = Scaling::kFloatHalfEven;
  Refused(image_.view(), "pipeline: null ");
  const float nan = NAN;
  pipeline_.scale = &nan;
  Refused(image_.view(), "scale nan");
}

TEST_F(DepthwiseErrors, BoundPipelines) {
  const auto bound = BoundPipeline::Bind(packed_, pipeline_, Type::kInt8, 0);
  ASSERT_TRUE(bound.ok()) << bound.status().message();
  const auto refused = [&](const BoundPipeline& pipeline, const PackedDepthwise& filters,
                           const char* message) {
    const Status status = Depthwise(context_, image_.view(), filters, dst_.view().data, pipeline);
    EXPECT_NE(status.message().find(message), std::string::npos) << status.message();
    EXPECT_TRUE(dst_.Untouched());
  };
  refused(BoundPipeline(), packed_, "bound to nothing");
  refused(*bound, *PackedDepthwise::Pack(filters_.view(), 1, 2), "other filters");
  refused(*BoundPipeline::Bind(packed_, pipeline_, Type::kInt8, 1), packed_, "zero point 1");
  refused(*BoundPipeline::Bind(packed_, pipeline_, Type::kUInt8, 0), packed_, "uint8");
  EXPECT_FALSE(BoundPipeline::Bind(PackedDepthwise(), pipeline_, Type::kInt8, 0).ok());
}

TEST_F(DepthwiseErrors, TooManyTaps) {
  const int taps = 33100;
  TestImage image(random_, Type::kUInt8, 1, 1, 1, 1, 0);
  image.view().kernel_width = taps;
  const TestMatrix filters(random_, Type::kUInt8, taps, 1, Order::kRowMajor, 0, 0,
                           Values::kAllHighest);
  packed_ = *PackedDepthwise::Pack(filters.view(), taps, 1);
  Refused(image.view(), "over int32");
}

TEST_F(DepthwiseErrors, Packing) {
  const auto refused = [&](const ConstMatrix& m, int multiplier, const std::string& kernel,
                           const char* message, int width = 1) {
    const auto packed = PackedDepthwise::Pack(m, width, multiplier, kernel);
    ASSERT_FALSE(packed.ok()) << message;
    EXPECT_NE(packed.status().message().find(message), std::string::npos)
        << packed.status().message();
  };
  refused(filters_.view(), 5, "", "multiplier 5 for 12");
  refused(filters_.view(), 0, "", "multiplier 0");
  refused(filters_.view(), 1, "avx9", "avx9 is none of");
  refused(filters_.view(), 1, "", "1 taps in rows of 2", 2);
  refused(filters_.view(), 1, "", "in rows of 0", 0);
  ConstMatrix m = filters_.view();
  m.type = Type::kInt16;
  refused(m, 1, "", "int16");
  m = filters_.view();
  m.data = nullptr;
  refused(m, 1, "", "null data");
  m = filters_.view();
  m.zero_point = 200;
  refused(m, 1, "", "zero point 200");
}

}  // namespace
}  // namespace intaglio::test
