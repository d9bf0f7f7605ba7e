// Pools, resizing of images, and blocks of them.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "intaglio/nn/formats/onnx/arithmetic.h"
#include "intaglio/nn/formats/onnx/pools.h"
#include "intaglio/nn/formats/onnx/resize.h"
#include "intaglio/nn/formats/onnx/rows.h"

namespace intaglio::nn::onnx {
namespace {

std::vector<int> SpatialAxes(int rank) {
  std::vector<int> axes(static_cast<size_t>(std::max(rank - 2, 0)));
  std::iota(axes.begin(), axes.end(), 2);
  return axes;
}

template <class Op>
void GlobalPool(Translation& t) {
  t.Set(0, t.make.AddLike(IeeeReduction<Op>(SpatialAxes(t.rank(0)), true), {t.in(0)}));
}

// [N, C, H, W] to [N, C / block^2, H block, W block]. DCR takes the block from the outer part of
// the channels, CRD from the inner part.
void ReadDepthToSpace(Translation& t) {
  const Shape x = t.input(0).shape;
  if (x.size() != 4) return t.Invalid("needs 4 dimensions");
  const int b = t.IntWithin("blocksize", 0, 1, 1 << 12);
  if (x[1] % (b * b) != 0) return t.Invalid("the blocks do not divide the channels");
  const int c = x[1] / (b * b);
  const bool crd = t.String("mode", "DCR") == "CRD";
  const Shape apart = crd ? Shape{x[0], c, b, b, x[2], x[3]} : Shape{x[0], b, b, c, x[2], x[3]};
  const std::vector<int> order =
      crd ? std::vector<int>{0, 1, 4, 2, 5, 3} : std::vector<int>{0, 3, 4, 1, 5, 2};
  const TensorId moved = t.make.Transposed(t.make.Reshaped(t.in(0), apart), order);
  const std::vector<int> shape =
      ToInts(t, {x[0], c, int64_t{x[2]} * b, int64_t{x[3]} * b}, "a dimension");
  t.Set(0, t.make.Reshaped(moved, shape));
}

void ReadSpaceToDepth(Translation& t) {
  const Shape x = t.input(0).shape;
  if (x.size() != 4) return t.Invalid("needs 4 dimensions");
  const int b = t.IntWithin("blocksize", 0, 1, 1 << 12);
  if (x[2] % b != 0 || x[3] % b != 0) return t.Invalid("the blocks do not divide the image");
  const Shape apart = {x[0], x[1], x[2] / b, b, x[3] / b, b};
  const bool crd = t.String("mode", "DCR") == "CRD";
  const std::vector<int> order =
      crd ? std::vector<int>{0, 1, 3, 5, 2, 4} : std::vector<int>{0, 3, 5, 1, 2, 4};
  const TensorId moved = t.make.Transposed(t.make.Reshaped(t.in(0), apart), order);
  const std::vector<int> shape =
      ToInts(t, {x[0], int64_t{x[1]} * b * b, x[2] / b, x[3] / b}, "a dimension");
  t.Set(0, t.make.Reshaped(moved, shape));
}

constexpr OnnxRow kRows[] = {
    {"AveragePool", ReadAveragePool, "float32"},
    {"DepthToSpace", ReadDepthToSpace, "any"},
    {"GlobalAveragePool", GlobalPool<Mean>, "float32"},
    {"GlobalMaxPool", GlobalPool<ReduceMax>, "float32"},
    {"LpPool", ReadLpPool, "float32"},
    {"MaxPool", ReadMaxPool, "float32, int8, uint8"},
    {"Resize", ReadResize, "float32; nearest: any", 10},
    {"SpaceToDepth", ReadSpaceToDepth, "any"},
    {"Upsample", ReadResize, "float32; nearest: any", 7, 9},
};

}  // namespace

std::span<const OnnxRow> WindowRows() { return kRows; }

}  // namespace intaglio::nn::onnx
