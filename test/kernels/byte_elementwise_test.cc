// Kernel::lines of every row of the table, called directly, against definitions in plain numbers.
#include "intaglio/gemm/byte_elementwise.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <type_traits>
#include <vector>

#include "intaglio/fixedpoint/quantize_multiplier.h"
#include "intaglio/fixedpoint/transcendental.h"
#include "intaglio/kernels/elementwise/word_divider.h"
#include "intaglio/test/kernels/every_kernel.h"

namespace intaglio::test {
namespace {

class EveryKernelLines : public EveryKernel {
 protected:
  const LineRoutines& lines() const {
    return kernel().lines == nullptr ? *KernelTable().back()->lines : *kernel().lines;
  }
};
INTAGLIO_INSTANTIATE_EVERY_KERNEL(EveryKernelLines);

using Bytes = std::vector<uint8_t>;

// Around every block and run of every kernel.
constexpr int kCounts[] = {0,  1,  3,  7,   8,   9,   15,  16,  31, 33,
                           63, 64, 65, 127, 200, 255, 256, 257, 519};

Bytes RandomBytes(std::mt19937& random, int count) {
  Bytes bytes(static_cast<size_t>(count));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random() >> 24);
  return bytes;
}

int32_t Number(uint8_t byte, bool is_signed) {
  return is_signed ? static_cast<int8_t>(byte) : static_cast<int32_t>(byte);
}

int32_t Scaled(int32_t x, const QuantizedMultiplier& m) {
  return RequantizeDoubleRounding<Scalar>(x, m.mantissa, m.left_shift(), m.right_shift());
}

LineOutput RandomOutput(std::mt19937& random, bool is_signed) {
  LineOutput output{is_signed, 0, is_signed ? -128 : 0, is_signed ? 127 : 255};
  output.zero_point = output.clamp_min + static_cast<int32_t>(random() % 256);
  if (random() % 2 == 0) output.clamp_min += static_cast<int32_t>(random() % 100);
  if (random() % 2 == 0) output.clamp_max -= static_cast<int32_t>(random() % 100);
  return output;
}

uint8_t Finished(int32_t x, const LineOutput& output) {
  return static_cast<uint8_t>(
      std::clamp(x + output.zero_point, output.clamp_min, output.clamp_max));
}

SumOfBytes RandomSum(std::mt19937& random) {
  std::uniform_real_distribution<double> below_one(1e-3, 1);
  const double a = below_one(random);
  const double b = below_one(random);
  SumOfBytes sum;
  sum.zero_a = static_cast<int32_t>(random() % 256);
  sum.zero_b = static_cast<int32_t>(random() % 256);
  sum.scale_a = *QuantizeMultiplier(a / (2 * std::max(a, b)));
  sum.scale_b = *QuantizeMultiplier(b / (2 * std::max(a, b)));
  sum.scale = *QuantizeMultiplier(2 * std::max(a, b) / (1 << 20) / below_one(random));
  sum.subtract = random() % 2 == 0;
  return sum;
}

uint8_t DefinedSum(const SumOfBytes& sum, const LineOutput& output, uint8_t a, uint8_t b) {
  const int32_t move = output.is_signed ? 128 : 0;
  const int32_t x = Number(a, output.is_signed) + move - sum.zero_a;
  const int32_t y = Number(b, output.is_signed) + move - sum.zero_b;
  const int32_t term = Scaled(y * (1 << 20), sum.scale_b);
  return Finished(
      Scaled(Scaled(x * (1 << 20), sum.scale_a) + (sum.subtract ? -term : term), sum.scale),
      output);
}

// The line of a and b, or of a and one byte, must be what element(a, b) is.
template <class Run, class Element>
void ExpectLines(std::mt19937& random, const Run& run, const Element& element) {
  for (const int count : kCounts) {
    for (const bool repeats_b : {false, true}) {
      const Bytes a = RandomBytes(random, count);
      const Bytes b = RandomBytes(random, count + 1);
      Bytes out(static_cast<size_t>(count) + 1, 0x55);
      run({a.data(), b.data(), repeats_b, out.data(), count});
      for (size_t i = 0; i < a.size(); ++i) {
        ASSERT_EQ(int{out[i]}, int{element(a[i], b[repeats_b ? 0 : i])}) << i << " of " << count;
      }
      ASSERT_EQ(out.back(), 0x55) << "behind " << count;
      Bytes in_place = a;
      run({in_place.data(), b.data(), repeats_b, in_place.data(), count});
      ASSERT_TRUE(std::equal(in_place.begin(), in_place.end(), out.begin())) << count;
    }
  }
}

TEST_P(EveryKernelLines, AddByItsDefinition) {
  std::mt19937 random(1);
  for (int i = 0; i < 20; ++i) {
    const LineOutput output = RandomOutput(random, i % 2 == 0);
    const SumOfBytes sum = RandomSum(random);
    ExpectLines(
        random, [&](const LinePair& line) { lines().add(sum, output, line); },
        [&](uint8_t a, uint8_t b) { return DefinedSum(sum, output, a, b); });
  }
}

// The same bits as the scalar linear function; and for most sums those of the definition.
template <bool kTiesAway>
void ExpectLinearSums(const LineRoutines& lines) {
  std::mt19937 random(2);
  int right = 0;
  constexpr int kSums = 20;
  for (int i = 0; i < kSums; ++i) {
    const LineOutput output = RandomOutput(random, i % 2 == 0);
    SumOfBytes sum = RandomSum(random);
    while (!(sum = WithLinear(sum, 0, kTiesAway)).linear) sum = RandomSum(random);
    const LinearSumOfBytes<Scalar, kTiesAway> linear(sum);
    const uint8_t flip = output.flip();
    bool same = true;
    ExpectLines(
        random, [&](const LinePair& line) { lines.add(sum, output, line); },
        [&](uint8_t a, uint8_t b) {
          const uint8_t y = Finished(linear(a ^ flip, b ^ flip) + sum.offset, output);
          same = same && y == DefinedSum(sum, output, a, b);
          return y;
        });
    right += same ? 1 : 0;
  }
  EXPECT_GE(right, kSums / 2);
}

TEST_P(EveryKernelLines, AddLinearly) { ExpectLinearSums<false>(lines()); }
TEST_P(EveryKernelLines, AddLinearlyWithTiesAway) { ExpectLinearSums<true>(lines()); }

// Half of the sums of operands of one scale are ties.
TEST_P(EveryKernelLines, TiesOfLinearSums) {
  SumOfBytes sum;
  sum.zero_a = 100;
  sum.zero_b = 90;
  sum.scale_a = sum.scale_b = {1 << 30, 0};
  sum.scale = {1 << 30, -19};
  sum = WithLinear(sum, 0, true);
  const LineOutput output;
  std::mt19937 random(3);
  ExpectLines(
      random, [&](const LinePair& line) { lines().add(sum, output, line); },
      [&](uint8_t a, uint8_t b) { return DefinedSum(sum, output, a, b); });
}

TEST_P(EveryKernelLines, Multiply) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> real(1e-4, 0.99);
  int fitted = 0;
  int stretched = 0;
  for (int i = 0; i < 60; ++i) {
    const LineOutput output = RandomOutput(random, i % 2 == 0);
    ProductOfBytes product{.zero_a = static_cast<int32_t>(random() % 256),
                           .zero_b = static_cast<int32_t>(random() % 256),
                           .scale = *QuantizeMultiplier(real(random))};
    if (i >= 20) {
      product.scale = *QuantizeMultiplier(std::exp2(-8 * real(random)));
      product = WithFit(product, output);
    }
    fitted += product.fitted ? 1 : 0;
    stretched += product.fitted && product.fit.stretch != 1 ? 1 : 0;
    const int32_t move = output.is_signed ? 128 : 0;
    ExpectLines(
        random, [&](const LinePair& line) { lines().multiply(product, output, line); },
        [&](uint8_t a, uint8_t b) {
          const int32_t x = Number(a, output.is_signed) + move - product.zero_a;
          const int32_t y = Number(b, output.is_signed) + move - product.zero_b;
          return Finished(Scaled(x * y, product.scale), output);
        });
  }
  EXPECT_GT(fitted, 20);
  EXPECT_GT(stretched, 0);
}

struct Windows {
  int rows, columns, step, pixels, lines;
};
constexpr Windows kWindows[] = {
    {1, 1, 1, 1, 1}, {1, 2, 1, 3, 1},  {3, 3, 1, 9, 1}, {3, 3, 1, 1, 1},   {3, 3, 2, 6, 1},
    {2, 2, 2, 5, 1}, {7, 1, 3, 4, 1},  {9, 7, 1, 2, 1}, {16, 16, 1, 1, 1}, {1, 8, 1, 5, 1},
    {1, 9, 1, 5, 1}, {5, 40, 3, 3, 1}, {3, 3, 1, 8, 2}, {3, 3, 1, 1, 3},   {3, 3, 1, 5, 5},
    {3, 3, 2, 4, 3}, {2, 3, 1, 4, 3}};

// Lines of w.pixels windows of `count` bytes, `gap` bytes apart: element(numbers of a window) is
// expected, and nothing in between.
template <class Run, class Element>
void ExpectWindows(std::mt19937& random, bool is_signed, const Windows& w, int count, int gap,
                   const Run& run, const Element& element) {
  const int width = (w.pixels - 1) * w.step + w.columns;
  const int height = (w.lines - 1) * w.step + w.rows;
  Bytes in = RandomBytes(random, (height * width + 1) * count);
  if (w.pixels == 9) std::fill(in.begin(), in.end(), uint8_t{0x80});
  const int pixel = count + gap;
  const int line = w.pixels * pixel + 1;
  Bytes out(static_cast<size_t>(w.lines * line), 0x55);
  run({in.data(), ptrdiff_t{width} * count, count, w.rows, w.columns, w.step, w.pixels, count,
       out.data(), pixel, w.lines, w.step, line});
  for (int i = 0; i < w.lines * line; ++i) {
    const int window = i % line / pixel;
    const int byte = i % line % pixel;
    if (window == w.pixels || byte >= count) {
      ASSERT_EQ(out[static_cast<size_t>(i)], 0x55) << i << ", behind " << count;
      continue;
    }
    std::vector<int32_t> taps;
    for (int y = i / line * w.step; y < i / line * w.step + w.rows; ++y) {
      for (int x = 0; x < w.columns; ++x) {
        const int at = (y * width + window * w.step + x) * count + byte;
        taps.push_back(Number(in[static_cast<size_t>(at)], is_signed));
      }
    }
    ASSERT_EQ(int{out[static_cast<size_t>(i)]}, int{element(taps)})
        << i << ", lines of " << count << ", " << w.rows << " x " << w.columns;
  }
}

// In lines of every count, dense and not.
template <class Run, class Element>
void ExpectWindows(std::mt19937& random, bool is_signed, const Run& run, const Element& element) {
  for (const Windows& w : kWindows) {
    for (const int count : kCounts) {
      if (count == 0) continue;
      for (const int gap : {0, 3}) {
        ASSERT_NO_FATAL_FAILURE(ExpectWindows(random, is_signed, w, count, gap, run, element));
      }
    }
  }
}

TEST_P(EveryKernelLines, Largest) {
  std::mt19937 random(4);
  for (const bool is_signed : {false, true}) {
    LineOutput output = RandomOutput(random, is_signed);
    output.zero_point = 0;
    ExpectWindows(
        random, is_signed, [&](const WindowRun& run) { lines().largest(run, output); },
        [&](const std::vector<int32_t>& column) {
          return Finished(*std::max_element(column.begin(), column.end()), output);
        });
  }
}

int32_t Mean(const std::vector<int32_t>& numbers) {
  int32_t sum = 0;
  for (const int32_t n : numbers) sum += n;
  const auto count = static_cast<int32_t>(numbers.size());
  return (sum < 0 ? sum - count / 2 : sum + count / 2) / count;
}

TEST_P(EveryKernelLines, Average) {
  std::mt19937 random(5);
  for (const bool is_signed : {false, true}) {
    LineOutput output = RandomOutput(random, is_signed);
    output.zero_point = 0;
    ExpectWindows(
        random, is_signed, [&](const WindowRun& run) { lines().average(run, output); },
        [&](const std::vector<int32_t>& column) { return Finished(Mean(column), output); });
  }
}

// Every sum that the most taps can have, near ties and not.
TEST_P(EveryKernelLines, AverageOfManyTaps) {
  constexpr int kCount = 256;
  for (const int taps : {3, 7, 16, 17, 49, 64, 255, 256}) {
    Bytes in(static_cast<size_t>(taps * kCount));
    std::mt19937 random(6);
    const auto tap = [&](size_t t, size_t i) -> uint8_t& { return in[t * kCount + i]; };
    const auto count = static_cast<size_t>(taps);
    for (size_t i = 0; i < kCount; ++i) {
      for (size_t t = 0; t < count; ++t) tap(t, i) = static_cast<uint8_t>(i);
      for (size_t t = 0; t < count / 2; ++t) tap(random() % count, i) ^= 1;
    }
    Bytes out(kCount);
    lines().average({in.data(), kCount, 0, taps, 1, 1, 1, kCount, out.data(), kCount},
                    {false, 0, 0, 255});
    for (size_t i = 0; i < kCount; ++i) {
      std::vector<int32_t> column;
      for (size_t t = 0; t < count; ++t) column.push_back(tap(t, i));
      ASSERT_EQ(int{out[i]}, Mean(column)) << i << ", taps " << taps;
    }
  }
}

// Every sum that nine taps can have, which are spread over windows of two lines.
TEST_P(EveryKernelLines, AverageOfNineTaps) {
  constexpr size_t kCount = 9 * 255 + 1;
  for (const bool is_signed : {false, true}) {
    Bytes in(4 * 3 * kCount);
    for (size_t i = 0; i < kCount; ++i) {
      for (size_t t = 0; t < 12; ++t) {
        const size_t unsigned_tap = (i + t * 5 % 9) / 9;
        in[t * kCount + i] = static_cast<uint8_t>(is_signed ? unsigned_tap ^ 0x80 : unsigned_tap);
      }
    }
    Bytes out(2 * kCount);
    const LineOutput output{is_signed, 0, is_signed ? -128 : 0, is_signed ? 127 : 255};
    lines().average(
        {in.data(), 3 * kCount, kCount, 3, 3, 1, 1, kCount, out.data(), kCount, 2, 1, kCount},
        output);
    for (size_t i = 0; i < out.size(); ++i) {
      std::vector<int32_t> taps;
      for (size_t t = i / kCount * 3; t < i / kCount * 3 + 9; ++t) {
        taps.push_back(Number(in[t * kCount + i % kCount], is_signed));
      }
      ASSERT_EQ(Number(out[i], is_signed), Mean(taps)) << i << (is_signed ? ", int8" : ", uint8");
    }
  }
}

TEST(WordDivider, DividesEverySumOfBytes) {
  for (int divisor = 2; divisor <= LineRoutines::kMostTaps; ++divisor) {
    const WordDivider divider(divisor);
    const auto end = std::min<uint32_t>(65535, 256 * static_cast<uint32_t>(divisor));
    for (uint32_t x = 0; x < end; ++x) {
      const uint32_t moved = x + static_cast<uint32_t>(divider.addend);
      ASSERT_EQ(moved * divider.factor >> 16 >> divider.shift, x / static_cast<uint32_t>(divisor))
          << x << " / " << divisor;
    }
  }
}

TEST_P(EveryKernelLines, AddWords) {
  std::mt19937 random(9);
  for (int i = 0; i < 20; ++i) {
    SumOfBytes sum = RandomSum(random);
    sum.zero_a = sum.zero_b = 0;
    sum.scale = *QuantizeMultiplier(std::ldexp(0.9, -1 - static_cast<int>(random() % 16)));
    const LineOutput output{true, 0, i % 2 == 0 ? -32768 : -1000, i % 2 == 0 ? 32767 : 20000};
    for (const int count : kCounts) {
      std::vector<int16_t> a;
      for (int j = 0; j < count; ++j) a.push_back(static_cast<int16_t>(random() >> 16));
      std::vector<int16_t> b(a.rbegin(), a.rend());
      b.push_back(-32768);
      if (count > 0) a[0] = b[0] = -32768;
      for (const bool repeats_b : {false, true}) {
        std::vector<int16_t> out = a;
        lines().add_words(sum, output, {out.data(), b.data(), repeats_b, out.data(), count});
        for (size_t j = 0; j < a.size(); ++j) {
          const int32_t term = Scaled(b[repeats_b ? 0 : j] * (1 << 15), sum.scale_b);
          const int32_t x = Scaled(
              Scaled(a[j] * (1 << 15), sum.scale_a) + (sum.subtract ? -term : term), sum.scale);
          ASSERT_EQ(out[j], std::clamp(x, output.clamp_min, output.clamp_max))
              << j << " of " << count;
        }
      }
    }
  }
}

TEST_P(EveryKernelLines, Requantize) {
  std::mt19937 random(7);
  for (const int count : kCounts) {
    for (const int shift : {0, 1, 7, 23, 31}) {
      const LineOutput output = RandomOutput(random, shift % 2 == 0);
      const QuantizedMultiplier scale{(1 << 30) + static_cast<int32_t>(random() >> 2), -shift};
      std::vector<int32_t> in;
      for (int i = 0; i < count; ++i) in.push_back(static_cast<int32_t>(random() >> 1 >> (i % 31)));
      Bytes out(static_cast<size_t>(count) + 1, 0x55);
      lines().requantize(in.data(), scale, output, out.data(), count);
      for (size_t i = 0; i < in.size(); ++i) {
        // Moved zero points cannot bring back what is beyond 16 bits.
        const int32_t scaled = std::clamp(Scaled(in[i], scale), -32768, 32767);
        ASSERT_EQ(int{out[i]}, int{Finished(scaled, output)}) << i << " of " << count;
      }
      ASSERT_EQ(out.back(), 0x55);
    }
  }
}

TEST_P(EveryKernelLines, Reciprocals) {
  std::mt19937 random(10);
  for (const int count : kCounts) {
    std::vector<int32_t> in;
    for (int i = 0; i < count; ++i) in.push_back(static_cast<int32_t>(random() >> 1));
    std::vector<int32_t> out(in.size() + 1, 55);
    lines().reciprocals(in.data(), out.data(), count);
    for (size_t i = 0; i < in.size(); ++i) {
      ASSERT_EQ(out[i], OneOverOnePlusX(FixedPoint<Scalar, 0>::FromRaw(in[i])).raw()) << in[i];
    }
    ASSERT_EQ(out.back(), 55);
  }
}

TEST_P(EveryKernelLines, Dequantize) {
  for (const bool is_signed : {false, true}) {
    for (const int32_t zero_point : {0, 128, 255}) {
      const LineOutput numbers = {is_signed, zero_point - (is_signed ? 128 : 0)};
      for (const float scale : {0.05f, 1 / 255.0f, 0x1p-140f, 3e38f}) {
        for (int count = 0; count <= 256; ++count) {
          Bytes in;
          for (int i = 0; i < count; ++i) in.push_back(static_cast<uint8_t>(255 - i));
          std::vector<float> out(in.size() + 1, -0.5f);
          lines().dequantize(in.data(), numbers, scale, out.data(), count);
          for (size_t i = 0; i < in.size(); ++i) {
            const int q = is_signed ? static_cast<int8_t>(in[i]) : in[i];
            ASSERT_EQ(out[i], scale * static_cast<float>(q - numbers.zero_point)) << q;
          }
          ASSERT_EQ(out.back(), -0.5f);
        }
      }
    }
  }
}

TEST_P(EveryKernelLines, AddLines) {
  std::mt19937 random(11);
  for (const bool is_signed : {false, true}) {
    for (const int count : kCounts) {
      for (const int height : {0, 1, 2, 256, 257, 258, 600}) {
        const int stride = count + height % 3;
        Bytes in = RandomBytes(random, height * stride + count);
        // The most that sums can be, where they leave 16 bits.
        if (height / 2 == 128 || height == 258)
          std::fill(in.begin(), in.end(), is_signed ? 0x7f : 0xff);
        std::vector<int32_t> sums(static_cast<size_t>(count) + 1, 1000);
        lines().add_lines(
            {in.data(), stride, height, count, static_cast<uint8_t>(is_signed ? 0x80 : 0)},
            sums.data());
        for (int i = 0; i < count; ++i) {
          int32_t sum = 1000;
          for (int l = 0; l < height; ++l) {
            sum += Number(in[static_cast<size_t>(l * stride + i)], is_signed);
          }
          ASSERT_EQ(sums[static_cast<size_t>(i)], sum) << i << " of " << count << " x " << height;
        }
        ASSERT_EQ(sums.back(), 1000);
      }
    }
  }
}

// Of random rows, and of rows that hold two different bytes only, so that most are equal.
TEST_P(EveryKernelLines, Places) {
  constexpr int kRows = 5;
  std::mt19937 random(12);
  for (const int depth : {1, 2, 15, 16, 17, 21, 31, 32, 33, 255, 256, 257, 271, 272, 273, 600}) {
    for (const int flip : {0, 0x80, 0xff, 0x7f}) {
      for (const bool equal : {false, true}) {
        Bytes in = RandomBytes(random, kRows * depth);
        if (equal) {
          for (uint8_t& byte : in) byte = random() % 100 == 0 ? 0x85 : 0x05;
        }
        std::vector<int32_t> places(kRows + 1, 55);
        lines().places({in.data(), static_cast<uint8_t>(flip), kRows, depth}, places.data());
        for (size_t r = 0; r < kRows; ++r) {
          const auto row = in.begin() + static_cast<ptrdiff_t>(r) * depth;
          const auto best = std::max_element(
              row, row + depth, [&](uint8_t a, uint8_t b) { return (a ^ flip) < (b ^ flip); });
          ASSERT_EQ(places[r], best - row) << r << ", depth " << depth << ", flip " << flip;
        }
        ASSERT_EQ(places.back(), 55);
      }
    }
  }
}

int8_t Blended(const int8_t (&x)[4], int32_t upper, int32_t lower, const Tap<int32_t>& tap) {
  const int64_t sum = int64_t{x[0] * upper + x[1] * lower} * tap.weight_low +
                      int64_t{x[2] * upper + x[3] * lower} * tap.weight_high;
  return static_cast<int8_t>((sum + (sum > 0 ? 1 << 19 : -(1 << 19))) / (1 << 20));
}

uint8_t Blended(const uint8_t (&x)[4], float upper, float lower, const Tap<float>& tap) {
  const auto f = [](uint8_t n) { return static_cast<float>(n); };
  return static_cast<uint8_t>(f(x[0]) * upper * tap.weight_low + f(x[1]) * lower * tap.weight_low +
                              f(x[2]) * upper * tap.weight_high +
                              f(x[3]) * lower * tap.weight_high + 0.5f);
}

// One line between two of random numbers, with `one` split into weights everywhere.
template <class T, class W>
void ExpectBlend(void (*blend)(const BlendLine<T, W>&), W one) {
  std::mt19937 random(8);
  const auto part = [&] {
    return std::is_integral_v<W> ? static_cast<W>(random() % 1025)
                                 : static_cast<W>(static_cast<double>(random()) / 4294967296.0);
  };
  for (const ptrdiff_t channels : {1, 3, 8, 15, 16, 17, 21, 63, 64, 65, 100, 128, 200}) {
    constexpr ptrdiff_t kColumns = 5;
    constexpr ptrdiff_t kPixels = 7;
    const ptrdiff_t elements = kColumns * channels;
    std::vector<T> upper;
    std::vector<T> lower;
    for (ptrdiff_t i = 0; i < elements; ++i) {
      upper.push_back(static_cast<T>(random() >> 24));
      lower.push_back(static_cast<T>(random() >> 24));
    }
    std::vector<Tap<W>> taps;
    for (ptrdiff_t p = 0; p < kPixels; ++p) {
      const W high = part();
      taps.push_back({static_cast<ptrdiff_t>(random() % kColumns),
                      static_cast<ptrdiff_t>(random() % kColumns), one - high, high});
    }
    const W weight = part();
    std::vector<W> scratch(static_cast<size_t>(BlendLine<T, W>::ScratchSize(kColumns, channels)));
    std::vector<T> out(static_cast<size_t>(kPixels * channels) + 1, T{55});
    blend({upper.data(), lower.data(), kColumns, one - weight, weight, taps.data(), kPixels,
           channels, out.data(), scratch.data()});
    for (size_t i = 0; i + 1 < out.size(); ++i) {
      const Tap<W>& tap = taps[i / static_cast<size_t>(channels)];
      const auto c = static_cast<ptrdiff_t>(i) % channels;
      const auto low = static_cast<size_t>(tap.low * channels + c);
      const auto high = static_cast<size_t>(tap.high * channels + c);
      const T x[] = {upper[low], lower[low], upper[high], lower[high]};
      ASSERT_EQ(int{out[i]}, int{Blended(x, one - weight, weight, tap)}) << i << ", " << channels;
    }
    ASSERT_EQ(out.back(), T{55});
  }
}

// The same by weights of few bits, of either type; neighbouring pixels share columns or do not.
TEST_P(EveryKernelLines, BlendBytes) {
  std::mt19937 random(9);
  for (const ptrdiff_t channels : {1, 3, 15, 16, 17, 21, 31, 32, 33, 63, 64, 65, 100, 128, 200}) {
    for (const bool is_signed : {false, true}) {
      for (int bits = 1; bits <= ByteBlend::kMostShift; ++bits) {
        constexpr ptrdiff_t kColumns = 5;
        constexpr ptrdiff_t kPixels = 19;
        const int least = std::max(0, bits - ByteBlend::kMostLineShift);
        const int x_bits =
            least + static_cast<int>(random() % static_cast<unsigned>(bits - least + 1));
        const int y_bits = bits - x_bits;
        const auto weight = [&](int of) {
          return static_cast<int32_t>(random() % (2u << of) >> 1);
        };
        const auto bytes = static_cast<size_t>(kColumns * channels);
        std::vector<uint8_t> upper;
        std::vector<uint8_t> lower;
        for (size_t i = 0; i < bytes; ++i) {
          upper.push_back(static_cast<uint8_t>(random() % 4 == 0 ? 0x80 : random() >> 24));
          lower.push_back(static_cast<uint8_t>(random() % 4 == 0 ? 0x7f : random() >> 24));
        }
        std::vector<Tap<int32_t>> taps;
        for (ptrdiff_t p = 0; p < kPixels; ++p) {
          const int32_t high = random() % 4 == 0 ? 1 << x_bits : weight(x_bits);
          const ptrdiff_t low = p % 3 == 0 ? static_cast<ptrdiff_t>(random() % kColumns) : p / 5;
          taps.push_back({low,
                          p % 3 == 1 ? static_cast<ptrdiff_t>(random() % kColumns)
                                     : std::min(low + 1, kColumns - 1),
                          (1 << x_bits) - high, high});
        }
        const int32_t y = weight(y_bits);
        std::vector<uint8_t> out(static_cast<size_t>(kPixels * channels) + 1, 55);
        lines().blend_bytes({upper.data(), lower.data(), kColumns, (1 << y_bits) - y, y,
                             taps.data(), kPixels, channels, bits, is_signed, out.data()});
        const auto number = [&](uint8_t b) { return is_signed ? int{static_cast<int8_t>(b)} : b; };
        for (size_t i = 0; i + 1 < out.size(); ++i) {
          const Tap<int32_t>& tap = taps[i / static_cast<size_t>(channels)];
          const auto c = static_cast<ptrdiff_t>(i) % channels;
          const auto low = static_cast<size_t>(tap.low * channels + c);
          const auto high = static_cast<size_t>(tap.high * channels + c);
          const int above =
              number(upper[low]) * tap.weight_low + number(upper[high]) * tap.weight_high;
          const int below =
              number(lower[low]) * tap.weight_low + number(lower[high]) * tap.weight_high;
          const double sum = above * ((1 << y_bits) - y) + below * y;
          ASSERT_EQ(number(out[i]), static_cast<int>(std::round(sum / (1 << bits))))
              << i << ", " << channels << ", " << bits << ", " << is_signed;
        }
        ASSERT_EQ(out.back(), 55);
      }
    }
  }
}

TEST_P(EveryKernelLines, BlendFixed) { ExpectBlend<int8_t>(lines().blend_fixed, 1024); }
TEST_P(EveryKernelLines, BlendReal) { ExpectBlend<uint8_t>(lines().blend_real, 1.0f); }

}  // namespace
}  // namespace intaglio::test
