// Gemm with a convolution's input on the left-hand side.
#include <gtest/gtest.h>

#include "intaglio/gemm/bound_pipeline.h"
#include "intaglio/gemm/run/tasks.h"
#include "intaglio/kernels/kernel_table.h"
#include "intaglio/test/gemm/image.h"

namespace intaglio::test {
namespace {

void RunConvolution(unsigned seed, Context& context) {
  Random random(seed);
  const Type types[] = {Type::kInt8, Type::kUInt8};
  const Type type = types[random() % 2];
  const Type filter_type = types[random() % 2];
  const int channels = Uniform(random, 1, 20);
  TestImage image(random, type, Uniform(random, 1, 3), Uniform(random, 1, 9), Uniform(random, 1, 9),
                  channels, RandomZeroPoint(random, type));
  if (random() % 6 != 0) image.RandomWindow(random);
  if (random() % 2 == 0) {
    const int first = Uniform(random, 0, channels - 1);
    image.Group(first, Uniform(random, 1, channels - first));
  }
  const Im2col& v = image.view();
  const Integers lhs = image.ToIntegers();
  const int n = Uniform(random, 1, 70);
  const TestMatrix filters(random, filter_type, lhs.cols, n, Order::kColMajor,
                           Uniform(random, 0, 3), RandomZeroPoint(random, filter_type));
  SCOPED_TRACE("seed " + std::to_string(seed) + ": " + image.Text() + " -> " + std::to_string(n));

  const Scaling scalings[] = {Scaling::kDoubleRounding, Scaling::kSingleRounding, Scaling::kReal64,
                              Scaling::kNone};
  const Scaling scaling = scalings[random() % 4];
  TestPipeline pipeline;
  const Axis axis = random() % 4 == 0 ? Axis::kRows : Axis::kCols;
  pipeline.Randomize(random, scaling, scaling == Scaling::kNone ? Type::kInt32 : Type::kInt8,
                     axis == Axis::kCols ? n : lhs.rows, axis, 0.01 / std::sqrt(lhs.cols));
  TestResult dst(pipeline.standard.output, lhs.rows, n,
                 random() % 4 == 0 ? Order::kColMajor : Order::kRowMajor, Uniform(random, 0, 2));
  dst.Want(pipeline.standard, Sums(lhs, filters.ToIntegers()));

  if (random() % 2 == 0) {
    ASSERT_TRUE(Gemm(context, v, filters.view(), dst.view(), pipeline.standard).ok());
  } else {
    PackOptions options;
    const auto names = KernelNames();
    options.kernel = OneOf(random, names);
    SCOPED_TRACE(options.kernel);
    const auto packed = Prepack(Side::kRhs, filters.view(), options);
    ASSERT_TRUE(packed.ok());
    ASSERT_TRUE(Gemm(context, v, *packed, dst.view(), pipeline.standard).ok());
  }
  ASSERT_TRUE(dst.Same()) << dst.Difference();
}

TEST(Convolution, EqualsNaiveIm2col) {
  std::vector<std::unique_ptr<Context>> contexts;
  for (int t = 1; t <= 4; ++t) contexts.push_back(std::make_unique<Context>(t));
  for (unsigned seed = 0; seed < 1500; ++seed) {
    RunConvolution(seed, *contexts[seed % 10 < 8 ? 0 : seed % 4]);
    if (HasFatalFailure()) return;
  }
}

// A convolution as networks have them: by filters that are packed, and a pipeline bound to these.
struct BoundConvolution {
  TestImage image;
  int outputs;
  TestMatrix filters;
  TestPipeline pipeline;
  PackOptions options;
  TestResult dst{Type::kInt8, 0, 0, Order::kRowMajor, 0};

  // `view` gives all but the data.
  BoundConvolution(Random& random, const Im2col& view, int outputs, Type type = Type::kInt8,
                   int32_t zero_point = 0)
      : image(random, view.type, view.batch, view.height, view.width, view.channels,
              view.zero_point),
        outputs(outputs),
        filters(random, type, Cols(view), outputs, Order::kColMajor, Uniform(random, 0, 3),
                zero_point) {
    image.view() = view;
  }

  void Randomize(Random& random, Scaling scaling, Type output, double gain, Order order,
                 int extra_stride) {
    const Integers lhs = image.ToIntegers();
    pipeline.Randomize(random, scaling, output, outputs, Axis::kCols, gain);
    dst = TestResult(output, lhs.rows, outputs, order, extra_stride);
    dst.Want(pipeline.standard, Sums(lhs, filters.ToIntegers()));
  }

  // Runs it in every context. `how` is of the last one.
  void Check(const std::vector<std::unique_ptr<Context>>& contexts, GemmDescription& how,
             const BindOptions& bind = {}) {
    const auto packed = Prepack(Side::kRhs, filters.view(), options);
    ASSERT_TRUE(packed.ok()) << packed.status().message();
    const Im2col& v = image.view();
    const auto bound = BoundPipeline::Bind(*packed, pipeline.standard, v.type, v.zero_point, bind);
    ASSERT_TRUE(bound.ok()) << bound.status().message();
    for (const auto& context : contexts) {
      const auto described = DescribeGemm(*context, v, *packed, dst.view(), *bound);
      ASSERT_TRUE(described.ok()) << described.status().message();
      how = *described;
      dst.Reset();
      ASSERT_TRUE(Gemm(*context, v, *packed, dst.view(), *bound).ok());
      ASSERT_TRUE(dst.Same()) << how.text << ": " << image.Text() << ": " << dst.Difference();
    }
    // The pipeline that is not bound finds no bounded form, and rows are gathered.
    if (packed->panels().runs == 1) return;
    ASSERT_TRUE(how.rows_in_lines) << how.text;
    dst.Reset();
    ASSERT_TRUE(Gemm(*contexts[0], v, *packed, dst.view(), pipeline.standard).ok());
    ASSERT_TRUE(dst.Same()) << "not bound: " << image.Text() << ": " << dst.Difference();
  }
};

std::vector<std::unique_ptr<Context>> ContextsOfUpTo(int threads) {
  std::vector<std::unique_ptr<Context>> contexts;
  for (int t = 1; t <= threads; ++t) contexts.push_back(std::make_unique<Context>(t));
  return contexts;
}

// A square window with as much padding as keeps the image's size at stride 1.
Im2col Square(int batch, int height, int width, int channels, int window, int stride = 1) {
  Im2col v;
  v.type = Type::kInt8;
  v.zero_point = -3;
  v.batch = batch;
  v.height = height;
  v.width = width;
  v.channels = v.group_channels = channels;
  v.kernel_height = v.kernel_width = window;
  v.stride_height = v.stride_width = stride;
  v.pad_top = v.pad_left = window / 2;
  v.out_height = (height + stride - 1) / stride;
  v.out_width = (width + stride - 1) / stride;
  return v;
}

bool TakesWindows(const std::string& kernel) { return (*KernelNamed(kernel))->takes_windows; }

// The same of the kernel that computes a layer by this one's panels, bound for any number of rows.
bool LayerTakesWindows(const std::string& kernel, const Im2col& view, int outputs) {
  const Kernel& named = **KernelNamed(kernel);
  const int groups = (Cols(view) + named.panel.depth_step - 1) / named.panel.depth_step;
  const Kernel* const bound =
      ForProduct(view.type, {INT64_MAX, outputs, groups}, CandidatesOf(named));
  return ForProduct(view.type, {Rows(view), outputs, groups, true}, CandidatesOf(*bound))
      ->takes_windows;
}

// Layers whose rows leave tasks, and parts of them, with fewer rows than a tile; results that go by
// way of scratch, and straight to dst; all of them by lines wherever kernels take windows.
TEST(Convolution, ByLines) {
  Random random(3);
  const auto contexts = ContextsOfUpTo(4);
  const Im2col views[] = {
      Square(1, 8, 8, 16, 3),      // one task
      Square(3, 8, 8, 16, 3, 2),   // rows of several images
      Square(1, 61, 1, 16, 3),     // a row more than a part of a task by way of scratch,
      Square(1, 2, 31, 16, 3),     // two,
      Square(1, 5, 13, 16, 5),     // five
      Square(1, 11, 11, 4, 3),     // twice and a row
      Square(2, 1, 3, 16, 3),      // a tile
      Square(1, 13, 1, 128, 3),    // a tile a task, and a row
      Square(1, 40, 37, 16, 3),    // several tasks
      Square(6, 17, 19, 64, 3, 2)  // of several images
  };
  int short_tasks = 0;
  for (const std::string& kernel : KernelNames()) {
    for (const Im2col& view : views) {
      for (const int outputs : {64, 61, 16, 7}) {
        BoundConvolution c(random, view, outputs);
        c.options = {{}, kernel, outputs % 2 == 0 ? 1 : view.kernel_height};
        const Scaling scaling = outputs < 61 ? Scaling::kSingleRounding : Scaling::kDoubleRounding;
        const bool row_major = outputs != 16;
        c.Randomize(random, scaling, outputs == 61 ? Type::kUInt8 : Type::kInt8,
                    0.01 / std::sqrt(Cols(view)), row_major ? Order::kRowMajor : Order::kColMajor,
                    Uniform(random, 0, 2));
        GemmDescription how;
        ASSERT_NO_FATAL_FAILURE(c.Check(contexts, how,
                                        {.fit = outputs != 16,
                                         .weights_from_memory = outputs % 2 == 0,
                                         .keep_rows_per_thread = outputs >= 61}));
        EXPECT_EQ(how.rows_in_lines,
                  how.kernel == kernel && LayerTakesWindows(kernel, view, outputs))
            << kernel << ": " << how.text;
        const int tile = (*KernelNamed(kernel))->max_rows;
        const int rows = Rows(view);
        short_tasks +=
            how.rows_in_lines && rows % tile != 0 && how.row_tasks == (rows + tile - 1) / tile ? 1
                                                                                               : 0;
      }
    }
  }
  for (const std::string& kernel : KernelNames()) {
    if (TakesWindows(kernel)) {
      EXPECT_GE(short_tasks, 1);
    }
  }
}

// What is not finished by a bounded form, or not to bytes, goes by lines only where kernel rows
// were padded, and is gathered from them.
TEST(Convolution, PaddedKernelRowsOfAnyPipeline) {
  Random random(4);
  const auto contexts = ContextsOfUpTo(4);
  for (const std::string& kernel : KernelNames()) {
    for (const int channels : {1, 3, 16}) {
      for (const Im2col& view : {Square(1, 8, 8, channels, 3), Square(2, 9, 7, channels, 5, 2),
                                 Square(1, 30, 33, channels, 3), Square(1, 1, 2, channels, 3)}) {
        for (const int outputs : {64, 21}) {
          const std::tuple<Scaling, Type, double> finishes[] = {
              {Scaling::kNone, Type::kInt32, 1.0},
              {Scaling::kDoubleRounding, Type::kInt8, 8.0},
              {Scaling::kSingleRounding, Type::kUInt8, 8.0},
              {Scaling::kDoubleRounding, Type::kInt16, 0.01},
              {Scaling::kReal64, Type::kInt8, 0.001}};
          for (const auto& [scaling, output, gain] : finishes) {
            BoundConvolution c(random, view, outputs);
            c.options = {{}, kernel, view.kernel_height};
            c.Randomize(random, scaling, output, gain, Order::kRowMajor, outputs % 2);
            GemmDescription how;
            ASSERT_NO_FATAL_FAILURE(c.Check(contexts, how));
            const Kernel& k = **KernelNamed(kernel);
            const bool padded = view.kernel_width * channels % k.panel.depth_step != 0;
            EXPECT_EQ(how.rows_in_lines, k.takes_windows && padded) << kernel << ": " << how.text;
          }
        }
      }
    }
  }
}

// Every third round makes rows go by lines, if there is a kernel that takes them.
TEST(Convolution, BoundPipelinesEqualNaiveIm2col) {
  Random random(5);
  const auto contexts = ContextsOfUpTo(4);
  const auto names = KernelNames();
  std::vector<std::string> takers;
  std::copy_if(names.begin(), names.end(), std::back_inserter(takers), TakesWindows);
  const Scaling scalings[] = {Scaling::kDoubleRounding, Scaling::kSingleRounding,
                              Scaling::kFloatHalfEven};
  for (int round = 0; round < 600; ++round) {
    const Type type = random() % 2 == 0 ? Type::kInt8 : Type::kUInt8;
    const int channels = Uniform(random, 1, 20);
    TestImage image(random, type, Uniform(random, 1, 3), Uniform(random, 1, 14),
                    Uniform(random, 1, 14), channels, RandomZeroPoint(random, type));
    image.RandomWindow(random);
    const bool by_lines = !takers.empty() && round % 3 == 0;
    if (by_lines || random() % 4 != 0) image.view().dilation_width = 1;
    if (by_lines) image.view().kernel_height = Uniform(random, 2, 4);
    if (random() % 4 == 0) {
      const int first = Uniform(random, 0, channels - 1);
      image.Group(first, Uniform(random, 1, channels - first));
    }
    const Type filter_type = !by_lines && random() % 8 == 0 ? Type::kUInt8 : Type::kInt8;
    BoundConvolution c(random, image.view(), Uniform(random, 1, 140), filter_type,
                       !by_lines && random() % 4 == 0 ? RandomZeroPoint(random, filter_type) : 0);
    const Im2col& v = c.image.view();
    c.options.kernel = OneOf(random, by_lines ? takers : names);
    if (by_lines || (HasWindows(v) && random() % 2 == 0)) {
      c.options.kernel_height = v.kernel_height;
    }
    SCOPED_TRACE("round " + std::to_string(round) + ", " + c.options.kernel);
    const double gain = random() % 4 == 0 ? 2.0 : 0.01 / std::sqrt(Cols(v));
    c.Randomize(random, scalings[random() % 3], random() % 2 == 0 ? Type::kInt8 : Type::kUInt8,
                gain, random() % 4 == 0 ? Order::kColMajor : Order::kRowMajor,
                Uniform(random, 0, 2));
    GemmDescription how;
    ASSERT_NO_FATAL_FAILURE(c.Check(contexts, how, {.fit = random() % 2 == 0}));
    const int step = (*KernelNamed(c.options.kernel))->panel.depth_step;
    if (by_lines && v.kernel_width * v.group_channels % step != 0) {
      EXPECT_TRUE(how.rows_in_lines) << how.text;
    }
  }
}

// Filters whose kernel rows are not padded, whatever the reason, serve any operand.
TEST(Convolution, KernelHeightsThatPadNothing) {
  Random random(6);
  Context context;
  for (const std::string& kernel : KernelNames()) {
    const auto check = [&](Type type, int channels, Order order, int height,
                           std::vector<int32_t> zero_points, int32_t zero_point = 0) {
      TestImage image(random, Type::kUInt8, 1, 6, 7, channels, 5);
      image.view().kernel_height = image.view().kernel_width = 3;
      image.view().pad_top = image.view().pad_left = 1;
      const Integers lhs = image.ToIntegers();
      const TestMatrix filters(random, type, lhs.cols, 20, order, 1, zero_point);
      const auto packed = Prepack(Side::kRhs, filters.view(), {zero_points, kernel, height});
      ASSERT_TRUE(packed.ok());
      EXPECT_EQ(packed->panels().runs, 1);
      TestResult dst(Type::kInt32, lhs.rows, 20, Order::kRowMajor, 0);
      dst.Want({}, Sums(lhs, filters.ToIntegers(zero_points, Axis::kCols)));
      ASSERT_TRUE(Gemm(context, image.view(), *packed, dst.view(), StandardPipeline{}).ok());
      ASSERT_TRUE(dst.Same()) << kernel << ": " << dst.Difference();
      const TestMatrix plain(random, Type::kInt8, 9, lhs.cols, Order::kRowMajor, 0, 1);
      TestResult product(Type::kInt32, 9, 20, Order::kRowMajor, 0);
      product.Want({}, Sums(plain.ToIntegers(), filters.ToIntegers(zero_points, Axis::kCols)));
      ASSERT_TRUE(Gemm(context, plain.view(), *packed, product.view(), StandardPipeline{}).ok());
      ASSERT_TRUE(product.Same()) << kernel << ": " << product.Difference();
    };
    std::vector<int32_t> one_is_not_zero(20, 0);
    one_is_not_zero[13] = -2;
    ASSERT_NO_FATAL_FAILURE(check(Type::kInt8, 3, Order::kColMajor, 5, {}));
    ASSERT_NO_FATAL_FAILURE(check(Type::kInt8, 3, Order::kColMajor, 28, {}));
    ASSERT_NO_FATAL_FAILURE(check(Type::kInt8, 3, Order::kColMajor, 0, {}));
    ASSERT_NO_FATAL_FAILURE(check(Type::kInt8, 3, Order::kColMajor, -3, {}));
    ASSERT_NO_FATAL_FAILURE(check(Type::kInt8, 3, Order::kRowMajor, 3, {}));
    ASSERT_NO_FATAL_FAILURE(check(Type::kInt8, 3, Order::kColMajor, 3, {}, -1));
    ASSERT_NO_FATAL_FAILURE(check(Type::kInt8, 3, Order::kColMajor, 3, one_is_not_zero));
    ASSERT_NO_FATAL_FAILURE(check(Type::kUInt8, 3, Order::kColMajor, 3, {}, 128));
    ASSERT_NO_FATAL_FAILURE(check(Type::kUInt8, 3, Order::kColMajor, 3, {}));
    ASSERT_NO_FATAL_FAILURE(check(Type::kInt8, 4, Order::kColMajor, 3, {}));
  }
}

// A 1x1 convolution is a plain matrix, and of uint8 with whole depth groups it is read where it
// lies.
TEST(Convolution, OneByOneIsReadInPlaceWhereItCanBe) {
  Random random(1);
  Context context;
  TestImage image(random, Type::kUInt8, 2, 5, 6, 16, 7);
  const TestMatrix filters(random, Type::kInt8, 16, 24, Order::kColMajor, 0, 0);
  TestResult dst(Type::kInt32, 60, 24, Order::kRowMajor, 0);
  const auto how =
      DescribeGemm(context, image.view(), filters.view(), dst.view(), StandardPipeline{});
  ASSERT_TRUE(how.ok());
  const bool reads_bytes =
      how->kernel == "amx-int8" || how->kernel == "avx512-vnni" || how->kernel == "avx-vnni";
  EXPECT_EQ(how->rows_in_place, reads_bytes) << how->text;
  image.view().pad_top = 1;
  EXPECT_FALSE(DescribeGemm(context, image.view(), filters.view(), dst.view(), StandardPipeline{})
                   ->rows_in_place);
}

TEST(Convolution, WhollyOutsideTheImageIsTheZeroPoint) {
  Random random(2);
  Context context;
  TestImage image(random, Type::kInt8, 1, 2, 2, 3, -128);
  image.view().pad_top = 50;
  const TestMatrix filters(random, Type::kInt8, 3, 10, Order::kColMajor, 0, 0);
  TestResult dst(Type::kInt32, 4, 10, Order::kRowMajor, 0);
  ASSERT_TRUE(Gemm(context, image.view(), filters.view(), dst.view(), StandardPipeline{}).ok());
  dst.Want(StandardPipeline{}, std::vector<int64_t>(40, 0));
  EXPECT_TRUE(dst.Same()) << dst.Difference();
}

}  // namespace
}  // namespace intaglio::test
