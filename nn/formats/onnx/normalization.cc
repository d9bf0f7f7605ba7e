// Nodes that normalize.
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/onnx/images.h"
#include "intaglio/nn/formats/onnx/rows.h"

namespace intaglio::nn::onnx {
namespace {

// A line of one number per channel, so that it broadcasts to images.
TensorId PerChannel(Translation& t, TensorId id) {
  if (!t.make.ok()) return kNoTensor;
  Shape shape(static_cast<size_t>(std::max(t.rank(0) - 1, 1)), 1);
  shape[0] = static_cast<int>(Count(t.make.ShapeOf(id)));
  return t.make.Reshaped(id, std::move(shape));
}

// x * factor + offset, where both follow from constants: factor = scale / sqrt(variance + epsilon),
// offset = bias - mean * factor.
void ReadBatchNormalization(Translation& t) {
  LayerMaker& make = t.make;
  if (t.Flag("training_mode", false)) return t.Refuse("training is not supported");
  const TensorId epsilon = make.Scalar(t.Float("epsilon", 1e-5f));
  const TensorId deviation = make.AddLike(Sqrt{}, {make.AddLike(Add{}, {t.in(4), epsilon})});
  const TensorId factor = make.AddLike(Div{}, {t.in(1), deviation});
  const TensorId offset = make.AddLike(Sub{}, {t.in(2), make.AddLike(Mul{}, {t.in(3), factor})});
  const TensorId scaled = make.AddLike(Mul{}, {t.in(0), PerChannel(t, factor)});
  t.Set(0, make.AddLike(Add{}, {scaled, PerChannel(t, offset)}));
}

std::vector<int> AxesFrom(int first, int rank) {
  std::vector<int> axes(static_cast<size_t>(std::max(rank - first, 0)));
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

struct Moments {
  TensorId mean = kNoTensor;
  TensorId reciprocal = kNoTensor;  // 1 / sqrt(variance + epsilon)
  TensorId centered = kNoTensor;    // x - mean
};

Moments MomentsOf(LayerMaker& make, TensorId x, const std::vector<int>& axes, float epsilon) {
  Moments moments;
  moments.mean = make.AddLike(Mean{axes, true}, {x});
  moments.centered = make.AddLike(Sub{}, {x, moments.mean});
  const TensorId variance =
      make.AddLike(Mean{axes, true}, {make.AddLike(Square{}, {moments.centered})});
  const TensorId guarded = make.AddLike(Add{}, {variance, make.Scalar(epsilon)});
  moments.reciprocal = make.AddLike(Reciprocal{}, {make.AddLike(Sqrt{}, {guarded})});
  return moments;
}

void ReadLayerNormalization(Translation& t) {
  LayerMaker& make = t.make;
  const int axis = Axis(make, t.Int("axis", -1), t.rank(0));
  const float epsilon = t.Float("epsilon", 1e-5f);
  std::vector<TensorId> inputs = {t.in(0), t.in(1)};
  if (t.has(2)) inputs.push_back(t.in(2));
  t.Set(0, make.AddLike(LayerNormalization{axis, epsilon}, inputs));
  if (!t.wants(1) && !t.wants(2)) return;
  const Moments moments = MomentsOf(make, t.in(0), AxesFrom(axis, t.rank(0)), epsilon);
  t.Set(1, moments.mean);
  t.Set(2, moments.reciprocal);
}

void ReadRmsNormalization(Translation& t) {
  const int axis = Axis(t.make, t.Int("axis", -1), t.rank(0));
  const RmsNormalization op = {axis, t.Float("epsilon", 1e-5f)};
  t.Set(0, t.make.AddLike(op, {t.in(0), t.in(1)}));
}

// Each channel of each image by itself.
void ReadInstanceNormalization(Translation& t) {
  LayerMaker& make = t.make;
  if (make.ok() && t.rank(0) < 3) return t.Invalid("needs channels and a spatial dimension");
  const std::vector<int> axes = AxesFrom(2, t.rank(0));
  const Moments moments = MomentsOf(make, t.in(0), axes, t.Float("epsilon", 1e-5f));
  const TensorId normal = make.AddLike(Mul{}, {moments.centered, moments.reciprocal});
  const TensorId scaled = make.AddLike(Mul{}, {normal, PerChannel(t, t.in(1))});
  t.Set(0, make.AddLike(Add{}, {scaled, PerChannel(t, t.in(2))}));
}

// Groups of channels. Scale and bias have one number per channel since opset 21, per group before.
void ReadGroupNormalization(Translation& t) {
  LayerMaker& make = t.make;
  const Shape shape = t.input(0).shape;
  if (!make.ok()) return;
  if (shape.size() < 2) return t.Invalid("needs channels");
  const int groups = t.IntWithin("num_groups", 0, 1, std::max(shape[1], 1));
  if (!make.ok()) return;
  if (shape[1] % groups != 0) return t.Invalid("the groups do not divide the channels");
  const std::vector<int> rows =
      ToInts(t, {int64_t{shape[0]} * groups, Count(shape) / std::max(shape[0] * groups, 1)},
             "a dimension");
  const TensorId x = make.Reshaped(t.in(0), rows);
  const Moments moments = MomentsOf(make, x, {1}, t.Float("epsilon", 1e-5f));
  TensorId normal = make.AddLike(Mul{}, {moments.centered, moments.reciprocal});
  normal = make.Reshaped(normal, shape);
  const auto spread = [&](TensorId id) {
    if (t.opset() >= 21) return PerChannel(t, id);
    const TensorId column = make.Reshaped(id, {groups, 1});
    const TensorId wide = make.AddLike(BroadcastTo{{groups, shape[1] / groups}}, {column});
    return PerChannel(t, wide);
  };
  const TensorId scaled = make.AddLike(Mul{}, {normal, spread(t.in(1))});
  t.Set(0, make.AddLike(Add{}, {scaled, spread(t.in(2))}));
}

void ReadMeanVarianceNormalization(Translation& t) {
  LayerMaker& make = t.make;
  const std::vector<int64_t> given = t.Ints("axes", {0, 2, 3});
  std::vector<int> axes;
  for (const int64_t axis : given) axes.push_back(Axis(make, axis, t.rank(0)));
  const TensorId mean = make.AddLike(Mean{axes, true}, {t.in(0)});
  const TensorId centered = make.AddLike(Sub{}, {t.in(0), mean});
  const TensorId variance = make.AddLike(Mean{axes, true}, {make.AddLike(Square{}, {centered})});
  const TensorId deviation = make.AddLike(Sqrt{}, {variance});
  const TensorId guarded = make.AddLike(Add{}, {deviation, make.Scalar(1e-9f)});
  t.Set(0, make.AddLike(Div{}, {centered, guarded}));
}

// Lines of zeros stay zeros.
void ReadLpNormalization(Translation& t) {
  LayerMaker& make = t.make;
  const std::vector<int> axes = {Axis(make, t.Int("axis", -1), t.rank(0))};
  const int p = t.IntWithin("p", 2, 1, 2);
  const TensorId terms =
      p == 1 ? make.AddLike(Abs{}, {t.in(0)}) : make.AddLike(Square{}, {t.in(0)});
  TensorId norm = make.AddLike(Sum{axes, true}, {terms});
  if (p == 2) norm = make.AddLike(Sqrt{}, {norm});
  const TensorId zero = make.Scalar(0.0f);
  const TensorId is_zero = make.Add(Equal{}, {norm, zero}, Type::kBool);
  norm = make.Add(SelectV2{}, {is_zero, make.Scalar(1.0f), norm}, Type::kFloat32);
  t.Set(0, make.AddLike(Div{}, {t.in(0), norm}));
}

// Over the channels c - (size - 1) / 2 to c + size / 2; ours counts the same for odd sizes.
void ReadLrn(Translation& t) {
  LayerMaker& make = t.make;
  const int size = t.IntWithin("size", 0, 1, 1 << 20);
  if (size % 2 == 0) return t.Refuse("even sizes are not supported");
  const LocalResponseNormalization op = {size / 2, t.Float("bias", 1),
                                         t.Float("alpha", 1e-4f) / static_cast<float>(size),
                                         t.Float("beta", 0.75f)};
  const Images images = Images::Of(t, t.in(0));
  t.Set(0, images.Back(make, make.AddLike(op, {images.nhwc})));
}

constexpr OnnxRow kRows[] = {
    {"BatchNormalization", ReadBatchNormalization, "float32"},
    {"GroupNormalization", ReadGroupNormalization, "float32"},
    {"InstanceNormalization", ReadInstanceNormalization, "float32"},
    {"LRN", ReadLrn, "float32"},
    {"LayerNormalization", ReadLayerNormalization, "float32"},
    {"LpNormalization", ReadLpNormalization, "float32"},
    {"MeanVarianceNormalization", ReadMeanVarianceNormalization, "float32"},
    {"RMSNormalization", ReadRmsNormalization, "float32"},
};

}  // namespace

std::span<const OnnxRow> NormalizationRows() { return kRows; }

}  // namespace intaglio::nn::onnx
