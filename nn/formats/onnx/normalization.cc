// Nodes that bring numbers to a common mean, variance or length.
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/onnx/arithmetic.h"
#include "intaglio/nn/formats/onnx/rows.h"

namespace intaglio::nn::onnx {
namespace {

TensorId Plus(LayerMaker& make, TensorId a, TensorId b) {
  return make.AddLike(Ieee<Add>(), {a, b});
}
TensorId Minus(LayerMaker& make, TensorId a, TensorId b) {
  return make.AddLike(Ieee<Sub>(), {a, b});
}
TensorId Times(LayerMaker& make, TensorId a, TensorId b) {
  return make.AddLike(Ieee<Mul>(), {a, b});
}
TensorId Over(LayerMaker& make, TensorId a, TensorId b) {
  return make.AddLike(Ieee<Div>(), {a, b});
}

// The mean and the variance over axes, whose extents become 1.
struct Moments {
  TensorId mean = kNoTensor;
  TensorId variance = kNoTensor;

  Moments(LayerMaker& make, TensorId x, const std::vector<int>& axes)
      : mean(make.AddLike(Mean{axes, true}, {x})),
        variance(make.AddLike(Mean{axes, true}, {make.AddLike(SquaredDifference{}, {x, mean})})) {}
};

// 1 / sqrt(variance + epsilon)
TensorId InverseDeviation(LayerMaker& make, TensorId variance, float epsilon) {
  return make.AddLike(Rsqrt{}, {Plus(make, variance, make.Scalar(epsilon))});
}

std::vector<int> AxesFrom(int first, int rank) {
  std::vector<int> axes;
  for (int axis = first; axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

void ReadLayerNormalization(Translation& t) {
  LayerMaker& make = t.make;
  const int axis = Axis(make, t.Int("axis", -1), t.rank(0));
  const float epsilon = t.Float("epsilon", 1e-5f);
  t.Set(0, make.AddLike(LayerNormalization{axis, epsilon}, {t.in(0), t.in(1), t.optional(2)}));
  if (!t.wants(1) && !t.wants(2)) return;
  const Moments moments(make, t.in(0), AxesFrom(axis, t.rank(0)));
  t.Set(1, moments.mean);
  t.Set(2, InverseDeviation(make, moments.variance, epsilon));
}

void ReadRmsNormalization(Translation& t) {
  const RmsNormalization op = {Axis(t.make, t.Int("axis", -1), t.rank(0)),
                               t.Float("epsilon", 1e-5f)};
  t.Set(0, t.make.AddLike(op, {t.in(0), t.in(1)}));
}

// One number per channel, dimension 1 of `rank` ones.
TensorId PerChannel(Translation& t, TensorId values, int channels, int rank) {
  if (Count(t.make.ShapeOf(values)) != channels) {
    t.Invalid("has " + std::to_string(Count(t.make.ShapeOf(values))) + " numbers for " +
              std::to_string(channels) + " channels");
    return kNoTensor;
  }
  Shape shape(static_cast<size_t>(rank), 1);
  shape[1] = channels;
  return t.make.Reshaped(values, std::move(shape));
}

// Images as lines [N, groups, rest] that are normalized one by one.
TensorId NormalizedGroups(Translation& t, int groups, float epsilon) {
  const Shape x = t.input(0).shape;
  const int64_t lines = int64_t{x[0]} * groups;
  const int64_t line = lines == 0 ? 0 : Count(x) / lines;
  const std::vector<int> shape = ToInts(t, {x[0], groups, line}, "a dimension");
  return t.make.AddLike(LayerNormalization{2, epsilon}, {t.make.Reshaped(t.in(0), shape)});
}

void CheckChannels(Translation& t) {
  if (t.rank(0) < 2) t.Invalid("needs channels in dimension 1");
}

void ReadInstanceNormalization(Translation& t) {
  CheckChannels(t);
  LayerMaker& make = t.make;
  const Shape x = t.input(0).shape;
  const TensorId lines = NormalizedGroups(t, x[1], t.Float("epsilon", 1e-5f));
  const TensorId scaled = Times(make, lines, PerChannel(t, t.in(1), x[1], 3));
  t.Set(0, make.Reshaped(Plus(make, scaled, PerChannel(t, t.in(2), x[1], 3)), x));
}

// Before opset 21 scales and biases are those of groups, and since then of channels.
void ReadGroupNormalization(Translation& t) {
  CheckChannels(t);
  LayerMaker& make = t.make;
  const Shape x = t.input(0).shape;
  const int groups = t.IntWithin("num_groups", 0, 1, std::max(x[1], 1));
  if (x[1] % groups != 0) return t.Invalid("num_groups does not divide the channels");
  const TensorId lines = NormalizedGroups(t, groups, t.Float("epsilon", 1e-5f));
  const Shape shape = t.opset() < 21 ? make.ShapeOf(lines) : x;
  const int rank = static_cast<int>(shape.size());
  const TensorId scaled =
      Times(make, make.Reshaped(lines, shape), PerChannel(t, t.in(1), shape[1], rank));
  const TensorId moved = Plus(make, scaled, PerChannel(t, t.in(2), shape[1], rank));
  t.Set(0, make.Reshaped(moved, x));
}

// All axes but that of the channels.
std::vector<int> AllButChannels(int rank) {
  std::vector<int> axes = AxesFrom(2, rank);
  axes.insert(axes.begin(), 0);
  return axes;
}

// x k + (bias - mean k), where k = scale / sqrt(variance + epsilon). k and the sum are constants if
// these are.
TensorId Normalized(Translation& t, TensorId mean, TensorId variance) {
  LayerMaker& make = t.make;
  const int channels = t.input(0).shape[1];
  const int rank = t.rank(0);
  const auto channel = [&](TensorId values) { return PerChannel(t, values, channels, rank); };
  const TensorId inverse = InverseDeviation(make, channel(variance), t.Float("epsilon", 1e-5f));
  const TensorId k = Times(make, channel(t.in(1)), inverse);
  const TensorId offset = Minus(make, channel(t.in(2)), Times(make, channel(mean), k));
  return Plus(make, Times(make, t.in(0), k), offset);
}

// What statistics become in training: the old ones by `momentum`, and those of the batch.
TensorId Running(Translation& t, size_t i, TensorId of_batch) {
  LayerMaker& make = t.make;
  const float momentum = t.Float("momentum", 0.9f);
  const TensorId old = Times(make, t.in(i), make.Scalar(momentum));
  const TensorId flat = make.Reshaped(of_batch, t.input(i).shape);
  return Plus(make, old, Times(make, flat, make.Scalar(1 - momentum)));
}

void ReadBatchNormalization(Translation& t) {
  CheckChannels(t);
  if (!t.Flag("spatial", true)) return t.Refuse("statistics of single elements are not supported");
  if (t.opset() < 14 || !t.Flag("training_mode", false)) {
    return t.Set(0, Normalized(t, t.in(3), t.in(4)));
  }
  const Moments moments(t.make, t.in(0), AllButChannels(t.rank(0)));
  t.Set(0, Normalized(t, moments.mean, moments.variance));
  if (t.wants(1)) t.Set(1, Running(t, 3, moments.mean));
  if (t.wants(2)) t.Set(2, Running(t, 4, moments.variance));
}

void ReadMeanVarianceNormalization(Translation& t) {
  LayerMaker& make = t.make;
  std::vector<int> axes;
  for (const int64_t axis : t.Ints("axes", {0, 2, 3})) {
    axes.push_back(Axis(make, axis, t.rank(0)));
  }
  const Moments moments(make, t.in(0), axes);
  const TensorId deviation =
      Plus(make, make.AddLike(Sqrt{}, {moments.variance}), make.Scalar(1e-9f));
  t.Set(0, Over(make, Minus(make, t.in(0), moments.mean), deviation));
}

// Lines of zeros stay as they are.
void ReadLpNormalization(Translation& t) {
  LayerMaker& make = t.make;
  const int axis = Axis(make, t.Int("axis", -1), t.rank(0));
  const int p = t.IntWithin("p", 2, 1, 2);
  const TensorId x = t.in(0);
  const TensorId size = p == 1 ? make.AddLike(Abs{}, {x}) : Times(make, x, x);
  TensorId length = make.AddLike(Sum{{axis}, true}, {size});
  if (p == 2) length = make.AddLike(Sqrt{}, {length});
  const TensorId is_zero = make.Add(Equal{}, {length, make.Scalar(0.0f)}, Type::kBool);
  const TensorId divisor =
      make.Add(SelectV2{}, {is_zero, make.Scalar(1.0f), length}, Type::kFloat32);
  t.Set(0, Over(make, x, divisor));
}

// x / (bias + alpha mean of x^2)^beta; the mean is over `size` channels, zeros beyond the ends.
// Images are seen as [N, C, rest, 1], in which a pool slides over the channels.
void ReadLrn(Translation& t) {
  CheckChannels(t);
  LayerMaker& make = t.make;
  const Shape x = t.input(0).shape;
  const int size = t.IntWithin("size", 0, 1, 1 << 16);
  const int64_t image = int64_t{x[0]} * x[1];
  const std::vector<int> shape =
      ToInts(t, {x[0], x[1], image == 0 ? 0 : Count(x) / image, 1}, "a dimension");
  const TensorId squares = make.Reshaped(Times(make, t.in(0), t.in(0)), shape);
  const int before = (size - 1) / 2;
  Pad pad;
  pad.paddings = {{0, 0}, {before, size - 1 - before}, {0, 0}, {0, 0}};
  AveragePool2D pool;
  pool.filter = {size, 1};
  const TensorId means = make.AddLike(pool, {make.AddLike(pad, {squares})});
  const TensorId sums = Plus(make, Times(make, means, make.Scalar(t.Float("alpha", 1e-4f))),
                             make.Scalar(t.Float("bias", 1)));
  const TensorId divisor = make.AddLike(Pow{}, {sums, make.Scalar(t.Float("beta", 0.75f))});
  t.Set(0, Over(make, t.in(0), make.Reshaped(divisor, x)));
}

constexpr OnnxRow kRows[] = {
    {"BatchNormalization", ReadBatchNormalization, "float32"},
    {"GroupNormalization", ReadGroupNormalization, "float32", 18},
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
