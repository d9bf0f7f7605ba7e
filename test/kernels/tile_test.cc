// Kernel::tile of every row of the table, called directly on panels packed by hand.
#include "intaglio/test/kernels/tile_case.h"

namespace intaglio::test {
namespace {

class Tile : public EveryKernel {};

TEST_P(Tile, EveryRowCountPanelWidthAndDepth) {
  Random random(1);
  for (const int vectors : PanelVectors()) {
    for (int rows = 1; rows <= kernel().max_rows; ++rows) {
      for (const int depth : {0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 64, 129}) {
        for (const int lowest : {-128, -127}) {  // which kernels may treat each in its own way
          TileCase test(kernel(), vectors, rows, depth);
          test.FillRandom(random, lowest);
          for (int32_t& o : test.params.offset) o = static_cast<int32_t>(random());
          test.gap = 4 * Uniform(random, 0, 16);
          ASSERT_NO_FATAL_FAILURE(test.Check());
        }
      }
    }
  }
}

// Several tiles, of which whole ones may share the rows in many ways, with and without memory for a
// panel's operands.
TEST_P(Tile, ManyTiles) {
  Random random(4);
  const int tile = kernel().max_rows;
  for (const int vectors : PanelVectors()) {
    for (int rows = 2; rows <= 4 * tile; rows += tile > 8 ? 9 : 1) {
      for (const int depth : {0, 1, 5, 32, 67, 270, 401}) {
        for (const auto output : {Type::kInt8, Type::kUInt8, Type::kInt32}) {
          for (const bool with_operands : {false, true}) {
            TileCase test(kernel(), vectors, rows, depth);
            test.with_operands = with_operands;
            test.FillRandom(random);
            if (output != Type::kInt32) {
              test.params.form = ScalingForm::kFloatHalfEvenBounded;
              std::fill(test.params.scale.begin(), test.params.scale.end(), 0.001f);
              test.epilogue = output == Type::kInt8 ? EpilogueParams{output, 3, -128, 120}
                                                    : EpilogueParams{output, 3, 5, 255};
            }
            for (int32_t& o : test.params.offset) o = Uniform(random, -100000, 100000);
            if (with_operands == (depth == 5)) {
              for (int32_t& z : test.params.negative_zero_point) z = Uniform(random, -255, 255);
              for (int r = 0; r < rows; ++r) test.row_sums.push_back(Uniform(random, -999, 999));
            }
            ASSERT_NO_FATAL_FAILURE(test.Check());
          }
        }
      }
    }
  }
}

// Nothing beyond the panel and the rows is read, whatever the depth and the number of rows leave of
// whole steps and tiles.
TEST_P(Tile, EndsOfMemory) {
  Random random(5);
  const auto check = [&](int vectors, int rows, int depth) {
    TileCase test(kernel(), vectors, rows, depth);
    test.guarded = true;
    test.FillRandom(random);
    for (int32_t& o : test.params.offset) o = static_cast<int32_t>(random());
    test.Check();
  };
  for (const int vectors : PanelVectors()) {
    for (int depth = 1; depth <= 130; ++depth) {
      ASSERT_NO_FATAL_FAILURE(check(vectors, Uniform(random, 1, 70), depth));
    }
    for (int rows = 1; rows <= 70; ++rows) {
      ASSERT_NO_FATAL_FAILURE(check(vectors, rows, Uniform(random, 1, 200)));
    }
    // Panels that are larger than a first-level cache.
    for (const int rows : {20, 35, 64}) {
      for (const int depth : {704, 770}) ASSERT_NO_FATAL_FAILURE(check(vectors, rows, depth));
    }
  }
}

// Pairs of extremes in neighbouring depths are where an instruction that saturates would be wrong.
TEST_P(Tile, ExtremeOperands) {
  const int panel_values[] = {-128, -127, -1, 0, 1, 127};
  const int row_values[] = {0, 1, 127, 128, 254, 255, -1, -127, -128};
  for (const int vectors : PanelVectors()) {
    for (const int p0 : panel_values) {
      for (const int p1 : panel_values) {
        for (const int r0 : row_values) {
          for (const int r1 : row_values) {
            TileCase test(kernel(), vectors, kernel().max_rows, 48);
            if (std::min(r0, r1) < test.lowest_row()) continue;
            if (std::max(r0, r1) > test.highest_row()) continue;
            test.Fill([&](int c, int k) { return (c + k) % 2 == 0 ? p0 : p1; },
                      [&](int r, int k) { return (r + k / 2) % 2 == 0 ? r0 : r1; });
            ASSERT_NO_FATAL_FAILURE(test.Check());
          }
        }
      }
    }
  }
}

// Kernels for safe pairs, on pairs at the ends of what is safe.
class TileOfSafePairs : public EveryKernel {};

TEST_P(TileOfSafePairs, EveryPair) {
  const std::pair<int, int> pairs[] = {{64, 64},   {127, 1},   {1, 127},    {-128, 0},  {0, -128},
                                       {-127, -1}, {-64, -64}, {127, -128}, {-128, 127}};
  const int row_values[] = {0, 1, 127, 128, 255};
  for (const int vectors : PanelVectors()) {
    for (const std::pair<int, int>& pair : pairs) {
      for (const int r0 : row_values) {
        for (const int r1 : row_values) {
          for (const int rows : {1, 3, kernel().max_rows, 2 * kernel().max_rows + 1}) {
            TileCase test(kernel(), vectors, rows, 9);
            test.Fill(
                [&](int, int k) { return k == 8       ? -128
                                         : k % 2 == 0 ? pair.first
                                                      : pair.second; },
                [&](int, int k) { return k % 2 == 0 ? r0 : r1; });
            ASSERT_NO_FATAL_FAILURE(test.Check());
          }
        }
      }
    }
  }
}

// Sums at the ends of int32, and beyond them modulo 2^32.
TEST_P(Tile, DepthUpToTheOverflowBound) {
  for (const int depth : {33025, 65793, 65800}) {  // 255 * 255 * 33025 and 255 * 128 * 65793 < 2^31
    for (const int value : {-128, 127}) {
      TileCase test(kernel(), kernel().panel.vectors, 4, depth);
      test.Fill([&](int, int) { return value; },
                [&](int r, int) { return r % 2 == 0 ? test.highest_row() : test.lowest_row(); });
      ASSERT_NO_FATAL_FAILURE(test.Check());
    }
  }
}

TEST_P(Tile, RowSums) {
  Random random(2);
  for (const int vectors : PanelVectors()) {
    for (int rows = 1; rows <= kernel().max_rows; ++rows) {
      TileCase test(kernel(), vectors, rows, 9);
      test.FillRandom(random);
      for (int32_t& z : test.params.negative_zero_point) z = Uniform(random, -255, 255);
      for (int r = 0; r < rows; ++r) test.row_sums.push_back(Uniform(random, -8421504, 8421504));
      ASSERT_NO_FATAL_FAILURE(test.Check());
    }
  }
}

TEST_P(Tile, RowTerms) {
  Random random(3);
  for (const int vectors : PanelVectors()) {
    for (int rows = 1; rows <= kernel().max_rows; ++rows) {
      TileCase test(kernel(), vectors, rows, 9);
      test.FillRandom(random);
      for (int r = 0; r < rows; ++r) test.row_terms.push_back(static_cast<int32_t>(random()));
      ASSERT_NO_FATAL_FAILURE(test.Check());
    }
  }
}

// Accumulators at the ends of what a form takes, given by the offsets.
int32_t ExtremeAccumulator(Random& random, int64_t bound) {
  const int64_t ends[] = {-bound, -bound + 1, -1, 0, 1, bound - 2, bound - 1};
  if (Uniform(random, 0, 2) == 0) return static_cast<int32_t>(ends[Uniform(random, 0, 6)]);
  const auto bits = static_cast<int32_t>(random()) >> Uniform(random, 0, 30);
  return static_cast<int32_t>(std::clamp<int64_t>(bits, -bound, bound - 1));
}

void RandomMultipliers(Random& random, ScalingForm form, ChannelParams& p) {
  const bool single =
      form == ScalingForm::kSingleRounding || form == ScalingForm::kSingleRoundingBounded;
  for (size_t c = 0; c < p.offset.size(); ++c) {
    const int mantissas[] = {0, 1 << 30, INT32_MAX, (1 << 30) + Uniform(random, 0, (1 << 30) - 1)};
    p.mantissa[c] = mantissas[Uniform(random, 0, 3)];
    int exponent = Uniform(random, 0, 3) == 0 ? -31 : -Uniform(random, 0, 31);
    if (form == ScalingForm::kDoubleRounding || form == ScalingForm::kSingleRounding) {
      if (Uniform(random, 0, 1) == 0) exponent = Uniform(random, 0, 30);
    }
    if (form == ScalingForm::kSingleRoundingBounded) exponent = std::min(exponent, -1);
    p.left_shift[c] = std::max(exponent, 0);
    p.right_shift[c] = single ? 31 - exponent : std::max(-exponent, 0);
    p.scale[c] =
        std::ldexp(1.0f + static_cast<float>(random() % 8388608) / 8388608.0f,
                   Uniform(random, -40, form == ScalingForm::kFloatHalfEvenBounded ? -1 : 40));
  }
}

struct Range {
  int32_t zero_point, low, high;
};
std::vector<Range> RangesOf(Type type) {
  switch (type) {
    case Type::kInt8:
      return {{0, -128, 127},   {-128, -128, 127}, {127, -100, 100},
              {255, -128, 127}, {-255, 5, 5},      {3, 3, 90}};
    case Type::kUInt8:
      return {{0, 0, 255},     {255, 0, 255}, {-255, 1, 254},
              {128, 128, 200}, {7, 0, 0},     {-3, 255, 255}};
    case Type::kInt16:
      return {{0, -32768, 32767}, {-32768, -32768, 32767}, {32767, -1000, 20000}, {5, 5, 5}};
    default:
      return {{0, INT32_MIN, INT32_MAX},
              {255, INT32_MIN, INT32_MAX},
              {-255, INT32_MIN, INT32_MAX},
              {1000000, -5, 2000000},
              {-7, 9, 9}};
  }
}

TEST_P(Tile, EveryScalingFormAndOutputType) {
  Random random(3);
  for (const auto form :
       {ScalingForm::kNone, ScalingForm::kDoubleRounding, ScalingForm::kDoubleRoundingBounded,
        ScalingForm::kSingleRounding, ScalingForm::kSingleRoundingBounded,
        ScalingForm::kFloatHalfEven, ScalingForm::kFloatHalfEvenBounded, ScalingForm::kToFloat}) {
    const int64_t bound = form == ScalingForm::kDoubleRoundingBounded ? 1 << 30 : int64_t{1} << 31;
    for (const auto output :
         {Type::kInt8, Type::kUInt8, Type::kInt16, Type::kInt32, Type::kFloat32}) {
      if ((output == Type::kFloat32) != (form == ScalingForm::kToFloat)) continue;
      for (const Range& range : RangesOf(output)) {
        for (const int vectors : PanelVectors()) {
          for (int rows = 1; rows <= kernel().max_rows; ++rows) {
            TileCase test(kernel(), vectors, rows, 1);
            test.params.form = form;
            test.epilogue = {output, range.zero_point, range.low, range.high};
            RandomMultipliers(random, form, test.params);
            for (int32_t& o : test.params.offset) o = ExtremeAccumulator(random, bound);
            ASSERT_NO_FATAL_FAILURE(test.Check());
            // The same with a product that differs from row to row.
            test.Fill([&](int, int) { return Uniform(random, -128, 127); },
                      [&](int r, int) { return test.highest_row() - 15 * (r % 16); });
            for (int32_t& o : test.params.offset) o /= 2;
            ASSERT_NO_FATAL_FAILURE(test.Check());
          }
        }
      }
    }
  }
}

// Multipliers of which every result fits int16; every other scale of a power of two, for ties.
void MultipliersToInt16(Random& random, ScalingForm form, ChannelParams& p) {
  RandomMultipliers(random, form, p);
  const bool single =
      form == ScalingForm::kSingleRounding || form == ScalingForm::kSingleRoundingBounded;
  for (int32_t& shift : p.right_shift) shift = (single ? 31 : 0) + Uniform(random, 16, 31);
  for (int32_t& shift : p.left_shift) shift = 0;
  for (size_t c = 0; c < p.scale.size(); ++c) {
    p.scale[c] =
        c % 2 == 0 ? std::ldexp(1.0f, -6) : std::ldexp(p.scale[c], -7 - std::ilogb(p.scale[c]));
  }
}

// Kernels may narrow without saturation what they are told fits int16.
TEST_P(Tile, ResultsThatFitInt16) {
  Random random(4);
  for (const auto form : {ScalingForm::kDoubleRounding, ScalingForm::kDoubleRoundingBounded,
                          ScalingForm::kSingleRounding, ScalingForm::kSingleRoundingBounded,
                          ScalingForm::kFloatHalfEven, ScalingForm::kFloatHalfEvenBounded}) {
    const bool is_float =
        form == ScalingForm::kFloatHalfEven || form == ScalingForm::kFloatHalfEvenBounded;
    const int64_t bound = is_float                                      ? 1 << 20
                          : form == ScalingForm::kDoubleRoundingBounded ? 1 << 30
                                                                        : int64_t{1} << 31;
    for (const auto output : {Type::kInt8, Type::kUInt8, Type::kInt16, Type::kInt32}) {
      for (const Range& range : RangesOf(output)) {
        for (const int vectors : PanelVectors()) {
          for (const int rows : {1, 3, kernel().max_rows, 2 * kernel().max_rows + 1}) {
            for (const int depth : {1, 16, 24, 40}) {
              TileCase test(kernel(), vectors, rows, depth);
              test.params.form = form;
              test.params.fits_int16 = true;
              test.epilogue = {output, range.zero_point, range.low, range.high};
              MultipliersToInt16(random, form, test.params);
              for (int32_t& o : test.params.offset) o = ExtremeAccumulator(random, bound) / 2;
              test.FillRandom(random);
              ASSERT_NO_FATAL_FAILURE(test.Check());
            }
          }
        }
      }
    }
  }
}

// Vectors with fits, plain and stretched, beside vectors without.
TEST_P(Tile, FittedDoubleRounding) {
  if (!kernel().has_fma) GTEST_SKIP() << kernel().name << " is given no fits";
  Random random(4);
  constexpr int kBound = 1 << 20;
  for (const auto output : {Type::kInt8, Type::kUInt8}) {
    for (const Range& range : RangesOf(output)) {
      const DoubleRoundingTask like{
          0, 0, -kBound, kBound, range.low - range.zero_point, range.high - range.zero_point};
      for (const int vectors : PanelVectors()) {
        for (uint32_t fitted = 0; fitted < 1u << vectors; ++fitted) {
          const int rows = Uniform(random, 1, kernel().max_rows);
          TileCase test(kernel(), vectors, rows, 1);
          test.params.form = ScalingForm::kByVector;
          if (fitted % 2 == 0) test.params.not_fitted = ScalingForm::kDoubleRoundingBounded;
          test.epilogue = {output, range.zero_point, range.low, range.high};
          RandomMultipliers(random, ScalingForm::kDoubleRoundingBounded, test.params);
          test.params.fitted = like.lowest < like.highest ? fitted : 0;
          if (test.params.fitted != 0) {
            FindFits(random, like, fitted % 3 == 0 ? 2 : 9, false, test.params);
          }
          for (int32_t& o : test.params.offset) o = ExtremeAccumulator(random, kBound / 2);
          ASSERT_NO_FATAL_FAILURE(test.Check());
          test.Fill([&](int, int) { return Uniform(random, -128, 127); },
                    [&](int r, int) { return test.highest_row() - 17 * (r % 15); });
          ASSERT_NO_FATAL_FAILURE(test.Check());
        }
      }
    }
  }
}

// One task per channel for which there is a fit, as the oracle sees it.
void FitEveryChannel(Random& random, MultiplyAddTask task, ChannelParams& p) {
  for (size_t c = 0; c < p.multiply_add.size(); ++c) {
    std::optional<MultiplyAddFit> fit;
    while (!fit) {
      task.multiplier = {(1 << 30) + Uniform(random, 0, (1 << 30) - 1), -Uniform(random, 5, 8)};
      task.scale =
          std::ldexp(static_cast<float>(task.multiplier.mantissa), task.multiplier.exponent - 31);
      fit = FitMultiplyAdd(task);
    }
    const bool is_double = task.mode == RequantMode::kDoubleRounding;
    p.mantissa[c] = task.multiplier.mantissa;
    p.right_shift[c] = is_double ? -task.multiplier.exponent : 31 - task.multiplier.exponent;
    p.scale[c] = task.scale;
    p.multiply_add[c] = *fit;
  }
  p.form = ScalingForm::kMultiplyAdd;
  p.scaled_as = task.mode == RequantMode::kDoubleRounding   ? ScalingForm::kDoubleRounding
                : task.mode == RequantMode::kSingleRounding ? ScalingForm::kSingleRounding
                                                            : ScalingForm::kFloatHalfEven;
}

TEST_P(Tile, MultiplyAdd) {
  if (!kernel().takes_multiply_add) GTEST_SKIP() << kernel().name << " is not given this form";
  Random random(5);
  constexpr int kBound = 1 << 19;
  for (const auto mode :
       {RequantMode::kSingleRounding, RequantMode::kFloatHalfEven, RequantMode::kDoubleRounding}) {
    for (const auto output : {Type::kInt8, Type::kUInt8}) {
      for (const Range& range : RangesOf(output)) {
        // Of double rounding, results on one side of 0.
        const bool one_side = range.low == range.zero_point || range.high == range.zero_point;
        if (mode == RequantMode::kDoubleRounding && !one_side) continue;
        const MultiplyAddTask like{mode,      {},        0, -kBound, kBound, range.zero_point,
                                   range.low, range.high};
        for (const int vectors : PanelVectors()) {
          ChannelParams fitted(kernel().panel.lanes * vectors);
          FitEveryChannel(random, like, fitted);
          for (const int rows : {1, 2, 3, 5, 7, 8, 9, 16, 19}) {
            for (const int depth : {1, 8, 16, 20, 24, 40, 64}) {
              TileCase test(kernel(), vectors, rows, depth);
              test.epilogue = {output, range.zero_point, range.low, range.high};
              test.params = fitted;
              test.Fill([&](int, int) { return Uniform(random, -60, 60); },
                        [&](int, int) { return Uniform(random, 0, 60); });
              for (int32_t& o : test.params.offset) o = ExtremeAccumulator(random, kBound / 2);
              if (depth == 24) {
                for (int r = 0; r < rows; ++r) test.row_terms.push_back(Uniform(random, -99, 99));
              }
              if (depth == 40) {
                for (int32_t& z : test.params.negative_zero_point) z = Uniform(random, -9, 9);
                for (int r = 0; r < rows; ++r) test.row_sums.push_back(Uniform(random, -99, 99));
              }
              ASSERT_NO_FATAL_FAILURE(test.Check());
            }
          }
        }
      }
    }
  }
}

std::vector<const Kernel*> RowsFor(bool safe_pairs) {
  std::vector<const Kernel*> rows = EveryRowAndEmulated();
  std::erase_if(rows, [&](const Kernel* row) { return row->panel.safe_pairs != safe_pairs; });
  return rows;
}
INSTANTIATE_TEST_SUITE_P(Table, Tile, testing::ValuesIn(RowsFor(false)), KernelName);
INSTANTIATE_TEST_SUITE_P(Table, TileOfSafePairs, testing::ValuesIn(RowsFor(true)), KernelName);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TileOfSafePairs);

#if defined(__x86_64__)
// AMX: products of few rows and channels are left to AVX512-VNNI, those of int8 rows read them as
// they are.
TEST(RowsOfAmx, ServeWhatTheyAreFasterFor) {
  const auto kernel = std::find_if(KernelTable().begin(), KernelTable().end(),
                                   [](const Kernel* row) { return ServesAll(*row); });
  ASSERT_STREQ((*kernel)->name, "amx-int8");
  const KernelList rows = CandidatesOf(**kernel);
  ASSERT_EQ(rows.size(), 4u);
  for (const Type type : {Type::kInt8, Type::kUInt8}) {
    EXPECT_EQ(ForProduct(type, {16, 16, 4}, rows), rows[1]);
    EXPECT_EQ(ForProduct(type, {INT64_MAX, 256, 256}, rows), rows[type == Type::kInt8 ? 2 : 3]);
  }
}

// Panels for int32 results: where products take no longer than what they save.
TEST(RowsOfAmx, WordsPayWhereResultsTakeMostOfTheTime) {
  const Kernel* words = nullptr;
  for (const Kernel* row : KernelTable()) {
    if (row->serves_words != nullptr) words = row;
  }
  ASSERT_NE(words, nullptr);
  EXPECT_STREQ(words->name, "amx-int8-words");
  EXPECT_TRUE(words->serves_words({784, 256, 32}));
  EXPECT_TRUE(words->serves_words({64, 65, 16}));
  EXPECT_FALSE(words->serves_words({784, 256, 33}));
  EXPECT_FALSE(words->serves_words({784, 64, 32}));
  EXPECT_FALSE(words->serves_words({63, 256, 32}));
  EXPECT_FALSE(words->serves_words({784, 256, 0}));
}
#endif

}  // namespace
}  // namespace intaglio::test
