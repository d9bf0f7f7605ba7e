// Kernel::depthwise of every row of the table, called directly.
#include "intaglio/kernels/depthwise/depthwise_args.h"
#include "intaglio/pack/depthwise_filters.h"
#include "intaglio/test/kernels/every_kernel.h"
#include "intaglio/test/kernels/panel_oracle.h"

namespace intaglio::test {
namespace {

struct DepthwiseCase {
  const Kernel& kernel;
  int vectors;
  int kernel_height;
  int kernel_width;
  int pixels;
  bool is_signed;
  int lines = 1;
  int bands = 1;
  int repeated = 0;  // lines of the last but one band that the last one writes again
  int first_channel = 0;
  bool calls_before = false;
  int first_column = 0;
  int before = 0;  // columns outside the image on its left side, and on its right
  int after = 0;
  int pixel_step = 1;
  int tap_step = 1;
  int pixel_bytes = 0;  // as DepthwiseArgs has it
  int zero_point = 0;   // of the weights
  ChannelParams params;
  EpilogueParams epilogue{Type::kInt32, 0, INT32_MIN, INT32_MAX};
  std::vector<int8_t> weights;              // [ky][kx][channel]
  std::vector<std::vector<uint8_t>> input;  // [band][ky][column], first_channel + width bytes each
  std::vector<uint8_t> outside;

  DepthwiseCase(const Kernel& k, int vectors, int height, int width, int pixels, bool is_signed)
      : kernel(k),
        vectors(vectors),
        kernel_height(height),
        kernel_width(width),
        pixels(pixels),
        is_signed(is_signed),
        params(k.panel.lanes * vectors) {
    Resize();
  }

  void Resize() {
    weights.assign(static_cast<size_t>(kernel_height * kernel_width * width()), 0);
    input.assign(static_cast<size_t>(bands * band_height()), {});
    // Of folded pixels no byte beyond the columns within the image may be read.
    const int read = pixel_bytes > 0 ? all_columns() - before - after : columns();
    for (auto& row : input) row.resize(static_cast<size_t>((first_column + read) * pitch()));
    outside.resize(static_cast<size_t>(std::max(pitch(), width())));
  }
  int band_height() const { return kernel_height + lines - 1; }
  // Bytes of a column.
  int pitch() const { return pixel_bytes > 0 ? pixel_bytes : first_channel + width(); }
  int columns() const { return (pixels - 1) * pixel_step + (kernel_width - 1) * tap_step + 1; }
  // And those of the last panel's other pixels.
  int all_columns() const { return columns() + (pixel_bytes > 0 ? pixel_step - 1 : 0); }
  int width() const { return kernel.panel.lanes * vectors; }
  int Input(int column, int row, int channel) const {
    if (pixel_bytes > 0) {
      column += channel / pixel_bytes;
      channel %= pixel_bytes;
    }
    const bool inside = column >= before && column < all_columns() - after;
    const int at = inside ? (first_column + column - before) * pitch() : 0;
    const uint8_t byte = (inside ? input[static_cast<size_t>(row)]
                                 : outside)[static_cast<size_t>(at + first_channel + channel)];
    return (is_signed ? static_cast<int8_t>(byte) : byte) + Move();
  }
  // What the kernel moves the input by, into its own 8-bit type.
  int Move() const {
    if (TakesSignedTaps(kernel)) return is_signed ? 0 : -128;
    return is_signed ? 128 : 0;
  }
  int Weight(int ky, int kx, int channel) const {
    const auto at = static_cast<size_t>((ky * kernel_width + kx) * width() + channel);
    return weights[at] - zero_point;
  }
  int32_t Accumulator(int band, int line, int pixel, int channel) const {
    int64_t sum = params.offset[static_cast<size_t>(channel)];
    for (int ky = 0; ky < kernel_height; ++ky) {
      for (int kx = 0; kx < kernel_width; ++kx) {
        sum += int64_t{Weight(ky, kx, channel)} *
               Input(pixel * pixel_step + kx * tap_step, band * band_height() + line + ky, channel);
      }
    }
    return Wrap(sum);
  }
  void FillRandom(Random& random) {
    for (int8_t& w : weights) w = static_cast<int8_t>(random());
    for (auto& row : input) {
      for (uint8_t& byte : row) byte = static_cast<uint8_t>(random());
    }
    for (uint8_t& byte : outside) byte = static_cast<uint8_t>(random());
  }
  // Each array is all of one value, or two that take turns, along a line or from row to row.
  void FillExtremes(Random& random) {
    const auto fill = [&](auto& bytes, size_t row) {
      using Byte = std::remove_cvref_t<decltype(bytes[0])>;
      const int values[] = {-128, 127, 0, -127, -1, 1};
      const int a = values[random() % 6];
      const int b = random() % 2 == 0 ? a : values[random() % 6];
      for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<Byte>((i + row) % 2 ? a : b);
    };
    fill(weights, 0);
    for (size_t i = 0; i < input.size(); ++i) fill(input[i], i);
    fill(outside, 0);
  }
  // How many lines the kernel can compute at once.
  int MostLines() const {
    const int step = kernel.tap_step;
    return (kernel_height + step - 1) / step * step - kernel_height + 1;
  }
  // Bounded scalings, one of three by `round`, to bytes of either type that are clamped by turns.
  void RandomBytes(Random& random, int round) {
    params.form = round % 5 < 2   ? ScalingForm::kFloatHalfEvenBounded
                  : round % 5 < 4 ? ScalingForm::kDoubleRoundingBounded
                                  : ScalingForm::kSingleRoundingBounded;
    for (size_t c = 0; c < params.offset.size(); ++c) {
      params.offset[c] = Uniform(random, -9999, 9999);
      params.mantissa[c] = (1 << 30) + Uniform(random, 0, (1 << 30) - 1);
      params.right_shift[c] = round % 5 < 4 ? Uniform(random, 6, 9) : Uniform(random, 37, 40);
      params.scale[c] = 0.0001f * static_cast<float>(Uniform(random, 1, 100));
    }
    const bool clamps = round % 7 == 0;
    const bool to_signed = round % 3 == 0;
    epilogue = {to_signed ? Type::kInt8 : Type::kUInt8, to_signed ? 3 : 120,
                (to_signed ? -128 : 0) + (clamps ? 5 : 0), to_signed ? 127 : 255};
  }

  // Of a band's results: the last band may write some of those before it again.
  int FirstLine(int band) const {
    return band * lines - (band > 0 && band == bands - 1 ? repeated : 0);
  }

  void Check() const {
    const ConstMatrix matrix = MakeConstMatrix(weights.data(), kernel_height * kernel_width,
                                               width(), Order::kRowMajor, zero_point);
    const auto packed =
        PackDepthwiseFilters(matrix, kernel_width, 1, kernel.panel.lanes, vectors, kernel.tap_step);
    ASSERT_TRUE(packed.ok()) << packed.status().message();
    ASSERT_LE(lines, packed->lines());
    std::vector<DepthwiseRow> rows;
    for (int b = 0; b < bands; ++b) {
      for (int ky = 0; ky < packed->padded_height(); ++ky) {
        const auto row = static_cast<size_t>(b * band_height() + ky);
        const bool read = ky < band_height();
        rows.push_back(read ? DepthwiseRow{input[row].data(), pitch()}
                            : DepthwiseRow{outside.data(), 0});
      }
    }
    PanelParams lanes = params.InLanes(kernel.panel.lanes, vectors);
    DepthwiseArgs args;
    args.epilogue = epilogue;
    JoinForms(vectors, lanes, args.epilogue);
    const ParamsList list(kernel.panel.width(), {lanes});
    GuardedRows out(epilogue.output, (FirstLine(bands - 1) + lines) * pixels, width(), 8);
    const AlignedBuffer scratch = AlignedBuffer::Allocate(
        DepthwiseScratchBytes(columns(), vectors, kernel.panel.lanes, packed->groups()));
    args.weights = packed->Panel(0);
    args.line_weights = static_cast<ptrdiff_t>(packed->LineBytes(0));
    args.packed_lines = packed->lines();
    args.lines = lines;
    args.bands = bands;
    args.terms = packed->weights[0].terms;
    args.second_vectors = packed->weights[0].second_vectors;
    args.vectors = vectors;
    args.rows = rows.data();
    args.first_channel = first_channel;
    args.first_column = first_column;
    args.outside = outside.data();
    args.columns_before = before;
    args.columns_inside = all_columns() - before - after;
    args.columns = columns();
    args.groups = packed->groups();
    args.kernel_width = kernel_width;
    args.pixel_step = pixel_step;
    args.pixel_bytes = pixel_bytes;
    args.tap_step = tap_step;
    args.pixels = pixels;
    args.flip = Move() == 0 ? 0 : 0x80;
    args.params = list.At(0);
    args.dst = out.dst();
    args.dst_stride = out.stride();
    args.dst_line = pixels * out.stride();
    args.dst_band = lines * args.dst_line;
    args.dst_last = bands == 1 ? 0 : (FirstLine(bands - 1) - FirstLine(bands - 2)) * args.dst_line;
    args.scratch = scratch.data();
    bool has_columns = false;
    args.has_columns = &has_columns;
    if (calls_before) {  // of the same columns, another panel's channels
      args.first_channel = 0;
      kernel.depthwise(args);
      args.first_channel = first_channel;
    }
    kernel.depthwise(args);
    for (int p = 0; p < bands * lines * pixels; ++p) {
      const int band = p / pixels / lines;
      const int line = p / pixels % lines;
      const int at = (FirstLine(band) + line) * pixels + p % pixels;
      for (int c = 0; c < width(); ++c) {
        params.Finish(epilogue, Accumulator(band, line, p % pixels, c), c, out.want(at), c);
      }
    }
    ASSERT_TRUE(out.Same()) << kernel.name << ", " << vectors << " vectors, " << kernel_height
                            << " x " << kernel_width << " taps, " << bands << " bands of " << lines
                            << " lines of " << pixels << " pixels, " << before << " and " << after
                            << " columns outside, " << NameOf(epilogue.output) << ": "
                            << out.Difference();
  }
};

class DepthwiseTile : public EveryKernel {};

TEST_P(DepthwiseTile, EveryWidthFilterAndSign) {
  Random random(1);
  for (const int vectors : PanelVectors()) {
    for (const int height : {1, 2, 3, 4, 5, 9}) {
      for (const int width : {1, 2, 3, 5}) {
        DepthwiseCase test(kernel(), vectors, height, width, Uniform(random, 1, 20),
                           random() % 2 == 0);
        test.lines = Uniform(random, 1, test.MostLines());
        test.bands = Uniform(random, 1, kMaxBands);
        test.repeated = Uniform(random, 0, test.lines - 1);
        test.first_channel = Uniform(random, 0, 65);
        test.first_column = Uniform(random, 0, 3);
        test.pixel_step = Uniform(random, 1, 3);
        test.tap_step = Uniform(random, 1, 3);
        test.before = Uniform(random, 0, std::min(4, test.columns()));
        test.after = Uniform(random, 0, std::min(4, test.columns() - test.before));
        test.Resize();
        test.FillRandom(random);
        for (int32_t& o : test.params.offset) o = static_cast<int32_t>(random());
        ASSERT_NO_FATAL_FAILURE(test.Check());
      }
    }
  }
}

TEST_P(DepthwiseTile, EveryNumberOfPixels) {
  Random random(3);
  for (const int vectors : PanelVectors()) {
    for (int pixels = 1; pixels <= 3 * kernel().max_rows + 1; ++pixels) {
      DepthwiseCase test(kernel(), vectors, 3, 3, pixels, true);
      test.FillRandom(random);
      ASSERT_NO_FATAL_FAILURE(test.Check());
    }
  }
}

// Filters of three and five columns, which kernels may have a way of their own for.
TEST_P(DepthwiseTile, SmallFiltersInEveryPlace) {
  Random random(4);
  for (const int vectors : PanelVectors()) {
    for (const int pixels : {1, 2, 3, 4, 7, 8, 9, 12}) {
      for (int round = 0; round < 48; ++round) {
        const int width = round < 24 ? 3 : 5;
        const int height = width == 3 ? Uniform(random, 2, 4) : Uniform(random, 4, 6);
        DepthwiseCase test(kernel(), vectors, height, width, pixels, round % 2 == 0);
        test.pixel_step = round / 2 % 2 + 1;
        const bool lines = test.pixel_step == 1 && test.MostLines() > 1;
        test.lines = lines && round % 3 > 0 ? 2 : 1;
        test.bands = round / 3 % kMaxBands + 1;
        test.repeated = round / 2 % test.lines;
        test.first_channel = Uniform(random, 0, 1) * 64;
        test.calls_before = round % 2 == 0;
        test.before = Uniform(random, 0, std::min(width, test.columns()));
        test.after = Uniform(random, 0, std::min(width, test.columns() - test.before));
        test.Resize();
        test.FillRandom(random);
        test.RandomBytes(random, round);
        ASSERT_NO_FATAL_FAILURE(test.Check());
      }
    }
  }
}

// The same of numbers whose products and sums are as large as they can be, with weights that leave
// int8 once their zero point is taken off.
TEST_P(DepthwiseTile, SmallFiltersOfExtremes) {
  Random random(8);
  for (const int vectors : PanelVectors()) {
    for (int round = 0; round < 480; ++round) {
      const int side = round < 240 ? 3 : 5;
      const int pixels = Uniform(random, 1, 3 * side);
      DepthwiseCase test(kernel(), vectors, side, side, pixels, round % 2 == 0);
      test.pixel_step = round / 2 % 2 + 1;
      test.lines = test.pixel_step == 1 && test.MostLines() > 1 ? Uniform(random, 1, 2) : 1;
      test.bands = Uniform(random, 1, 3);
      test.before = Uniform(random, 0, 1);
      test.after = Uniform(random, 0, 1);
      test.zero_point = round % 3 == 0 ? 127 : round % 3 == 1 ? -128 : 0;
      test.Resize();
      test.FillExtremes(random);
      test.RandomBytes(random, round % 5 == 4 ? round - 1 : round);
      // Small enough that results differ, and within what the forms are bounded by.
      for (float& scale : test.params.scale) scale *= 0.01f;
      ASSERT_NO_FATAL_FAILURE(test.Check());
    }
  }
}

// Panels of several neighbouring pixels.
TEST_P(DepthwiseTile, FoldedPixels) {
  if (!kernel().folds_pixels) GTEST_SKIP() << kernel().name << " folds no pixels";
  Random random(7);
  const int vectors = kernel().panel.vectors;
  for (int round = 0; round < 400; ++round) {
    const int channels = kernel().panel.lanes / 2 << Uniform(random, 0, 2);
    ASSERT_TRUE(FoldsPixels(3, 3, channels, kernel().panel.lanes));
    DepthwiseCase test(kernel(), vectors, 3, 3, Uniform(random, 1, 7), round % 2 == 0);
    test.pixel_bytes = channels;
    test.pixel_step = test.width() / channels;
    test.lines = Uniform(random, 1, 2);
    test.bands = Uniform(random, 1, kMaxBands);
    test.repeated = Uniform(random, 0, test.lines - 1);
    test.first_column = Uniform(random, 0, 3);
    test.before = Uniform(random, 0, round % 4 == 0 ? std::min(9, test.all_columns()) : 1);
    const int most = test.all_columns() - test.before;
    test.after = round % 4 == 1 ? Uniform(random, 0, most) : Uniform(random, 0, std::min(1, most));
    test.Resize();
    test.FillRandom(random);
    test.RandomBytes(random, round % 5 == 4 ? round - 1 : round);
    if (2 * channels == test.width()) test.params.form = ScalingForm::kFloatHalfEvenBounded;
    std::fill(test.outside.begin(), test.outside.end(), static_cast<uint8_t>(random()));
    ASSERT_NO_FATAL_FAILURE(test.Check());
  }
}

// Pixels that share no columns of the input.
TEST_P(DepthwiseTile, PixelsApart) {
  Random random(6);
  for (const int vectors : PanelVectors()) {
    for (int round = 0; round < 60; ++round) {
      DepthwiseCase test(kernel(), vectors, Uniform(random, 2, 4), 3, Uniform(random, 1, 9),
                         round % 2 == 0);
      test.pixel_step = Uniform(random, 3, 8);
      test.lines = test.MostLines() > 1 && round % 4 > 0 ? 2 : 1;
      test.bands = Uniform(random, 1, kMaxBands);
      test.repeated = Uniform(random, 0, test.lines - 1);
      test.first_channel = Uniform(random, 0, 1) * 64;
      test.first_column = Uniform(random, 0, 3);
      if (round % 8 == 0) test.before = test.after = 1;
      test.Resize();
      test.FillRandom(random);
      test.RandomBytes(random, round);
      ASSERT_NO_FATAL_FAILURE(test.Check());
    }
  }
}

// Vectors with fits, plain and stretched, beside vectors without, and panels all of whose are
// alike.
TEST_P(DepthwiseTile, FittedDoubleRounding) {
  if (!kernel().has_fma) GTEST_SKIP() << kernel().name << " is given no fits";
  Random random(5);
  const DoubleRoundingTask like{0, 0, -(1 << 20), 1 << 20, -131, 124};
  for (const int vectors : PanelVectors()) {
    for (uint32_t fitted = 0; fitted < 1u << vectors; ++fitted) {
      for (const int least_shift : {2, 9, 11, 2, 9, 11}) {
        DepthwiseCase test(kernel(), vectors, 3, 3, Uniform(random, 3, 9), random() % 2 == 0);
        test.pixel_step = Uniform(random, 1, 2);
        test.lines = test.pixel_step == 1 && test.MostLines() > 1 ? 2 : 1;
        test.bands = Uniform(random, 1, kMaxBands);
        test.repeated = Uniform(random, 0, test.lines - 1);
        if (kernel().folds_pixels && vectors == kernel().panel.vectors && random() % 2 == 0) {
          const bool alike = fitted == (1u << vectors) - 1 && least_shift == 11;  // plain
          test.pixel_bytes = alike ? 32 : 8 << Uniform(random, 0, 1);
          test.pixel_step = test.width() / test.pixel_bytes;
          test.lines = 2;
        }
        test.Resize();
        test.FillRandom(random);
        test.params.form = ScalingForm::kByVector;
        test.params.not_fitted = ScalingForm::kDoubleRoundingBounded;
        test.params.fitted = fitted;
        FindFits(random, like, least_shift, least_shift == 11, test.params);
        for (int32_t& o : test.params.offset) o = Uniform(random, -500000, 500000);
        test.epilogue = {Type::kInt8, 3, -128, 127};
        ASSERT_NO_FATAL_FAILURE(test.Check());
      }
    }
  }
}

TEST_P(DepthwiseTile, ExtremeOperands) {
  for (const int vectors : PanelVectors()) {
    for (const bool is_signed : {false, true}) {
      for (const int weight : {-128, -1, 0, 1, 127}) {
        for (const int byte : {0, 1, 127, 128, 129, 255}) {
          const bool longest =
              (weight < -1 || weight > 1) && byte % 255 == 0;  // 65793 * 128 * 255 fits int32
          DepthwiseCase test(kernel(), vectors, longest && vectors == 1 ? 65793 : 9, 1, 1,
                             is_signed);
          std::fill(test.weights.begin(), test.weights.end(), static_cast<int8_t>(weight));
          for (auto& row : test.input)
            std::fill(row.begin(), row.end(), static_cast<uint8_t>(byte));
          ASSERT_NO_FATAL_FAILURE(test.Check());
        }
      }
    }
  }
}

TEST_P(DepthwiseTile, OutputTypesAndScaling) {
  Random random(2);
  for (const auto output :
       {Type::kInt8, Type::kUInt8, Type::kInt16, Type::kInt32, Type::kFloat32}) {
    for (const int vectors : PanelVectors()) {
      for (int round = 0; round < 8; ++round) {
        DepthwiseCase test(kernel(), vectors, 3, 3, round % 4 < 2 ? 7 : 13, round % 2 == 0);
        test.lines = kernel().tap_step > 1 ? 2 : 1;
        test.Resize();
        test.FillRandom(random);
        test.params.form = output == Type::kFloat32 ? ScalingForm::kToFloat
                           : round < 2              ? ScalingForm::kSingleRounding
                           : round < 4              ? ScalingForm::kFloatHalfEven
                           : round < 6              ? ScalingForm::kNone
                                                    : ScalingForm::kDoubleRoundingBounded;
        for (size_t c = 0; c < test.params.offset.size(); ++c) {
          test.params.mantissa[c] = (1 << 30) + Uniform(random, 0, (1 << 30) - 1);
          test.params.right_shift[c] = round < 2 ? Uniform(random, 36, 44) : Uniform(random, 6, 13);
          test.params.scale[c] = 0.001f * static_cast<float>(Uniform(random, 1, 1000));
        }
        const bool byte = SizeOf(output) == 1;
        test.epilogue = {output, 3, static_cast<int32_t>(byte ? 2 : Lowest(output)),
                         static_cast<int32_t>(byte ? 120 : Highest(output))};
        ASSERT_NO_FATAL_FAILURE(test.Check());
      }
    }
  }
}

INTAGLIO_INSTANTIATE_EVERY_KERNEL(DepthwiseTile);

}  // namespace
}  // namespace intaglio::test
