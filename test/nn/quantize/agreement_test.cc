#include "intaglio/nn/quantize/agreement.h"

#include <gtest/gtest.h>

#include <cmath>

#include "intaglio/nn/ops/builder.h"
#include "intaglio/test/nn/quantize/network.h"

namespace intaglio::nn::quantize {
namespace {

TEST(Similarity, ComputesByHand) {
  Similarity s;
  EXPECT_EQ(s.Cosine(), 1);
  s.Add(Reals{3, 4}, Reals{3, 4});
  EXPECT_TRUE(std::isinf(s.Sqnr()));
  EXPECT_NEAR(s.Cosine(), 1, 1e-12);
  s.Add(Reals{0, 5}, Reals{5, 0});
  EXPECT_EQ(s.count(), 4u);
  EXPECT_NEAR(s.Sqnr(), 0, 1e-12);  // 50 / 50
  EXPECT_NEAR(s.Cosine(), 0.5, 1e-12);
  Similarity none;
  none.Add(Reals{1}, Reals{0});
  EXPECT_EQ(none.Cosine(), 0);
}

TEST(Similarity, ConvertsElements) {
  Tensor tensor;
  tensor.type = Type::kInt8;
  tensor.quantization = PerTensor(0.5f, 3);
  const std::vector<std::byte> bytes = ElementsOf(tensor, Reals{-1, 0.25f, 1000});
  EXPECT_EQ(FromBytes<int8_t>(bytes), (std::vector<int8_t>{1, 4, 127}));
  EXPECT_EQ(RealsIn(tensor, bytes.data(), 3), (Reals{-1, 0.5f, 62}));
}

TEST(Similarity, ConvertsElementsOf16Bits) {
  const Reals reals = {-1e6f, -1, 0.25f, 1e6f};
  Tensor tensor;
  tensor.type = Type::kUInt16;
  tensor.quantization = PerTensor(0.5f, 3);
  EXPECT_EQ(FromBytes<uint16_t>(ElementsOf(tensor, reals)),
            (std::vector<uint16_t>{0, 1, 4, 65535}));
  tensor.type = Type::kInt16;
  EXPECT_EQ(FromBytes<int16_t>(ElementsOf(tensor, reals)),
            (std::vector<int16_t>{-32768, 1, 4, 32767}));
}

// x, and x times a constant.
Graph Scaled(float by, Type type = Type::kFloat32, int width = 2) {
  Builder b;
  const Value x = b.Input("x", type, {1, width}, PerTensor(0.5f, 0));
  if (type != Type::kFloat32) {
    b.Output(b.Relu(x, PerTensor(0.5f, 0)), "y");
  } else {
    const Constant k = b.Const<float>("k", {by}, {1});
    b.Output(b.Layer(Mul{}, {x.id, k.id}, type, {}), "y");
  }
  return *b.Finish();
}

TEST(Agreement, CountsPlacesAndNoise) {
  Result<Model> exact = Model::Prepare(Scaled(1));
  Result<Model> actual = Model::Prepare(Scaled(-1));
  ASSERT_TRUE(exact.ok() && actual.ok());
  const std::vector<InputBytes> samples = {
      {ToBytes(Reals{1, 2})}, {ToBytes(Reals{3, 3})}, {ToBytes(Reals{9, 9})}};
  const Result<Agreement> a = Compare(*exact, *actual, From(samples), 2);
  ASSERT_TRUE(a.ok()) << a.status().message();
  EXPECT_EQ(a->samples, 2u);
  ASSERT_EQ(a->outputs.size(), 1u);
  EXPECT_EQ(a->outputs[0].same_place, 1u);
  EXPECT_NEAR(a->outputs[0].similarity.Sqnr(), 10 * std::log10(0.25), 1e-9);
  EXPECT_NEAR(a->outputs[0].similarity.Cosine(), -1, 1e-12);
}

TEST(Agreement, ConvertsInputsAndOutputs) {
  Result<Model> exact = Model::Prepare(Scaled(1));
  Result<Model> actual = Model::Prepare(Scaled(1, Type::kInt8));
  ASSERT_TRUE(exact.ok() && actual.ok());
  const std::vector<InputBytes> samples = {{ToBytes(Reals{1, 2.5f})}};
  const Result<Agreement> a = Compare(*exact, *actual, From(samples), 9);
  ASSERT_TRUE(a.ok()) << a.status().message();
  EXPECT_TRUE(std::isinf(a->outputs[0].similarity.Sqnr()));
  Result<Model> wide = Model::Prepare(Scaled(1, Type::kFloat32, 3));
  ASSERT_TRUE(wide.ok());
  EXPECT_EQ(Compare(*exact, *wide, From(samples), 9).status().message(),
            "the two networks have other inputs or outputs");
}

}  // namespace
}  // namespace intaglio::nn::quantize
