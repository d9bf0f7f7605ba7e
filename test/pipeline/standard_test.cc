// Which compositions are the standard pipeline, and what its checks refuse.
#include "intaglio/pipeline/standard.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "intaglio/pipeline/pipeline.h"
#include "intaglio/pipeline/stages.h"

namespace intaglio::test {
namespace {

const int32_t kBias[] = {1, 2, 3};
const int32_t kMantissa[] = {1 << 30, 1 << 30, 1 << 30};
const int32_t kExponent[] = {-1, -2, -3};
const float kScales[] = {1, 2, 3};
const QuantizedMultiplier kHalf{1 << 30, 0};

struct Identity {
  template <class R>
  typename R::I32 Apply(typename R::I32 x, const Place&) const {
    return x;
  }
};

TEST(Standard, FullComposition) {
  const Pipeline pipeline(AddBias{kBias}, RequantizeChannels{kMantissa, kExponent},
                          AddZeroPoint{-7}, Clamp{-5, 100}, CastTo<int8_t>{});
  const auto s = pipeline.Standard();
  ASSERT_TRUE(s.has_value());
  EXPECT_EQ(s->bias, kBias);
  EXPECT_EQ(s->axis, Axis::kCols);
  EXPECT_EQ(s->scaling, Scaling::kDoubleRounding);
  EXPECT_TRUE(s->per_channel);
  EXPECT_EQ(s->mantissa, kMantissa);
  EXPECT_EQ(s->exponent, kExponent);
  EXPECT_EQ(s->zero_point, -7);
  EXPECT_EQ(s->clamp_min, -5);
  EXPECT_EQ(s->clamp_max, 100);
  EXPECT_EQ(s->output, Type::kInt8);
}

TEST(Standard, EveryScaling) {
  const Pipeline single(Requantize{kHalf, Rounding::kSingle}, CastTo<uint8_t>{});
  EXPECT_EQ(single.Standard()->scaling, Scaling::kSingleRounding);
  EXPECT_EQ(*single.Standard()->mantissa, 1 << 30);
  EXPECT_EQ(*single.Standard()->exponent, 0);
  EXPECT_FALSE(single.Standard()->per_channel);
  EXPECT_EQ(single.Standard()->bias, nullptr);
  EXPECT_EQ(single.Standard()->output, Type::kUInt8);

  const Pipeline even(RequantizeFloat{0.5f}, CastTo<int16_t>{});
  EXPECT_EQ(even.Standard()->scaling, Scaling::kFloatHalfEven);
  EXPECT_EQ(*even.Standard()->scale, 0.5f);
  const Pipeline each(RequantizeFloatChannels{kScales, Axis::kRows}, CastTo<int16_t>{});
  EXPECT_EQ(each.Standard()->scale, kScales);
  EXPECT_TRUE(each.Standard()->per_channel);
  EXPECT_EQ(each.Standard()->axis, Axis::kRows);

  const Pipeline to_float(AddBias{kBias}, ScaleToFloat{0.5f}, CastTo<float>{});
  EXPECT_EQ(to_float.Standard()->scaling, Scaling::kToFloat);
  EXPECT_EQ(to_float.Standard()->output, Type::kFloat32);
  const Pipeline floats(ScaleToFloatChannels{kScales}, CastTo<float>{});
  EXPECT_TRUE(floats.Standard()->per_channel);

  const Pipeline plain(CastTo<int32_t>{});
  EXPECT_EQ(plain.Standard()->scaling, Scaling::kNone);
  EXPECT_EQ(plain.Standard()->clamp_min, INT32_MIN);
  EXPECT_EQ(plain.Standard()->clamp_max, INT32_MAX);
}

TEST(Standard, OtherOrdersAndStagesAreNot) {
  EXPECT_FALSE(
      Pipeline(Requantize{kHalf}, AddBias{kBias}, CastTo<int8_t>{}).Standard().has_value());
  EXPECT_FALSE(Pipeline(Clamp{0, 5}, AddZeroPoint{1}, CastTo<int8_t>{}).Standard().has_value());
  EXPECT_FALSE(Pipeline(Clamp{0, 5}, Clamp{1, 4}, CastTo<int8_t>{}).Standard().has_value());
  EXPECT_FALSE(
      Pipeline(Requantize{kHalf}, Requantize{kHalf}, CastTo<int8_t>{}).Standard().has_value());
  EXPECT_FALSE(Pipeline(AddBias{kBias}, Identity{}, CastTo<int8_t>{}).Standard().has_value());
  EXPECT_FALSE(Pipeline(RoundingShift{3}, CastTo<int8_t>{}).Standard().has_value());
  EXPECT_FALSE(Pipeline(AddResidual<int8_t>{nullptr, 0, 0, 0, kHalf}, CastTo<int8_t>{})
                   .Standard()
                   .has_value());
}

TEST(Standard, AxesMustAgree) {
  EXPECT_FALSE(Pipeline(AddBias{kBias, Axis::kCols},
                        RequantizeChannels{kMantissa, kExponent, Axis::kRows}, CastTo<int8_t>{})
                   .Standard()
                   .has_value());
  EXPECT_FALSE(Pipeline(AddBias{kBias, Axis::kRows}, RequantizeFloatChannels{kScales, Axis::kCols},
                        CastTo<int8_t>{})
                   .Standard()
                   .has_value());
  EXPECT_TRUE(Pipeline(AddBias{kBias, Axis::kRows},
                       RequantizeChannels{kMantissa, kExponent, Axis::kRows}, CastTo<int8_t>{})
                  .Standard()
                  .has_value());
}

// Parameters that the kernels would not take leave the composition to the tiles, which take them.
TEST(Standard, ParametersThatDoNotFit) {
  EXPECT_FALSE(Pipeline(AddZeroPoint{256}, CastTo<int8_t>{}).Standard().has_value());
  EXPECT_FALSE(Pipeline(AddZeroPoint{-256}, CastTo<int8_t>{}).Standard().has_value());
  EXPECT_TRUE(Pipeline(AddZeroPoint{255}, CastTo<int8_t>{}).Standard().has_value());
  EXPECT_FALSE(Pipeline(Clamp{5, 4}, CastTo<int8_t>{}).Standard().has_value());
}

TEST(Standard, ValidateReadsEveryChannel) {
  std::vector<int32_t> mantissa(5, 1 << 30), exponent(5, 0);
  StandardPipeline s;
  s.scaling = Scaling::kDoubleRounding;
  s.per_channel = true;
  s.mantissa = mantissa.data();
  s.exponent = exponent.data();
  EXPECT_TRUE(Validate(s, 2, 5).ok());
  exponent[4] = 31;
  EXPECT_FALSE(Validate(s, 2, 5).ok());
  EXPECT_TRUE(Validate(s, 2, 4).ok());
  s.axis = Axis::kRows;
  EXPECT_TRUE(Validate(s, 4, 5).ok());
  EXPECT_FALSE(Validate(s, 5, 1).ok());
  s.per_channel = false;
  EXPECT_TRUE(Validate(s, 5, 1).ok());
  mantissa[0] = 0;  // a multiplier of zero
  EXPECT_TRUE(Validate(s, 5, 1).ok());
  mantissa[0] = 5;
  EXPECT_EQ(Validate(s, 5, 1).code(), StatusCode::kInvalidArgument);
}

// The standard pipeline over a tile, transposed in memory, of either direction.
TEST(Standard, AsTilePipeline) {
  const int32_t acc[] = {10, 20, 30, 40, 50, 60};
  StandardPipeline s;
  s.bias = kBias;
  s.output = Type::kInt16;
  s.zero_point = 100;
  const TilePipeline tile = AsTilePipeline(s);
  EXPECT_EQ(tile.output, Type::kInt16);
  std::vector<int16_t> dst(6);
  tile.run(tile.pipeline, {acc, 3, 2, 3, Axis::kCols, 7, 0, dst.data(), 3, 1});
  EXPECT_EQ(dst, (std::vector<int16_t>{111, 122, 133, 141, 152, 163}));
  tile.run(tile.pipeline, {acc, 3, 2, 3, Axis::kRows, 1, 0, dst.data(), 1, 2});
  EXPECT_EQ(dst, (std::vector<int16_t>{112, 143, 122, 153, 132, 163}));
}

}  // namespace
}  // namespace intaglio::test
