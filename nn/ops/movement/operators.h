// The operators that move elements, make shapes and compare nothing but places.
#ifndef INTAGLIO_NN_OPS_MOVEMENT_OPERATORS_H_
#define INTAGLIO_NN_OPS_MOVEMENT_OPERATORS_H_

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "intaglio/nn/graph/operator_row.h"
#include "intaglio/nn/graph/tensor.h"
#include "intaglio/nn/ops/support/activation.h"

namespace intaglio::nn {

// Any number >= 1 of inputs along one axis (negative ones count from the end).
struct Concatenation {
  static const OperatorRow kRow;
  int axis = 0;
  Activation activation = Activation::kNone;
};

// Elements before and after, per dimension of x. They are filled with `value`, a quantized number,
// or with the output's zero point. Any element type.
struct Pad {
  static const OperatorRow kRow;
  std::vector<std::pair<int, int>> paddings = {};
  bool has_value = false;
  std::variant<double, int64_t> value = 0.0;  // must be one of the element type, exactly
};

// The same elements under a new shape, of which one dimension may be -1. Any element type.
struct Reshape {
  static const OperatorRow kRow;
  Shape shape = {};
};

// Drops the axes, whose extent must be 1 (none given: all of extent 1).
struct Squeeze {
  static const OperatorRow kRow;
  std::vector<int> axes = {};
};
// A new dimension of extent 1 before dimension `axis` (negative ones count from the new end).
struct ExpandDims {
  static const OperatorRow kRow;
  int axis = 0;
};

// Elements before and after, mirrored at the border; `symmetric` repeats the border element.
struct MirrorPad {
  static const OperatorRow kRow;
  std::vector<std::pair<int, int>> paddings = {};
  bool symmetric = false;
};

// Dimension i of the output is dimension permutation[i] of x.
struct Transpose {
  static const OperatorRow kRow;
  std::vector<int> permutation = {};
};

// `count` outputs of equal extent along the axis.
struct Split {
  static const OperatorRow kRow;
  int axis = 0;
  int count = 1;
};
// Outputs of these extents along the axis; one may be -1, which takes the rest.
struct SplitV {
  static const OperatorRow kRow;
  int axis = 0;
  std::vector<int> sizes = {};
};

// Inputs of one shape, along a new axis of the output.
struct Pack {
  static const OperatorRow kRow;
  int axis = 0;
};
// The reverse: one output per index of the axis, which disappears.
struct Unpack {
  static const OperatorRow kRow;
  int axis = 0;
  int count = 1;
};

// size[i] elements from begin[i] on, or all the rest where size[i] is -1.
struct Slice {
  static const OperatorRow kRow;
  std::vector<int> begin = {};
  std::vector<int> size = {};
};

// NumPy's x[begin:end:stride, ...]: one triple per entry, of which bit i of a mask says
//   begin_mask, end_mask  the bound is not given;
//   shrink_axis_mask      one index, whose dimension disappears;
//   ellipsis_mask         as many whole dimensions as the others leave;
//   new_axis_mask         a new dimension of extent 1.
// With `offset`, `end` counts from `begin`.
struct StridedSlice {
  static const OperatorRow kRow;
  std::vector<int> begin = {};
  std::vector<int> end = {};
  std::vector<int> strides = {};
  uint32_t begin_mask = 0;
  uint32_t end_mask = 0;
  uint32_t ellipsis_mask = 0;
  uint32_t new_axis_mask = 0;
  uint32_t shrink_axis_mask = 0;
  bool offset = false;
};

// Inputs: x; indices, int16, int32 or int64. The slices of x along the axis that the indices name,
// in the place of that axis; batch_dims dimensions are common to both. An index that does not exist
// makes the run fail. With from_end, which .tflite files cannot say, negative ones count from the
// end.
struct Gather {
  static const OperatorRow kRow;
  int axis = 0;
  int batch_dims = 0;
  bool from_end = false;
};
// Inputs: x; indices, whose last dimension holds places in the first dimensions of x behind
// batch_dims dimensions that are common to both. .tflite files have neither these nor from_end.
struct GatherNd {
  static const OperatorRow kRow;
  int batch_dims = 0;
  bool from_end = false;
};
// Inputs: x; indices of its rank, nowhere longer but along the axis. Each names, in the place of
// its own along the axis, an element of x. Negative ones count from the end; one that does not
// exist makes the run fail. No .tflite form.
struct GatherElements {
  static const OperatorRow kRow;
  int axis = 0;
};

// What a place that updates go to becomes: the last update; or its own number and all updates in
// turn, combined. Integers wrap. NaN is the least and the greatest of numbers of which one is NaN.
enum class Scattering : uint8_t { kReplace, kAdd, kMultiply, kLeast, kGreatest };

// Inputs: x; indices of its rank, nowhere longer but along the axis; updates of the indices' shape.
// The output is x with each update where its index says, in the place of its own along the axis.
// Negative indices count from the end; one that does not exist makes the run fail. Numbers that are
// combined must not be quantized. No .tflite form.
struct ScatterElements {
  static const OperatorRow kRow;
  int axis = 0;
  Scattering scattering = Scattering::kReplace;
};
// The same with indices [..., D], which name places in the first D dimensions of x, and updates of
// the shape [..., rest of x's].
struct ScatterNdUpdate {
  static const OperatorRow kRow;
  Scattering scattering = Scattering::kReplace;
};

// x [..., rows, columns] of which column c of row r stays where c - r is at least k (`upper`), or
// at most k. The rest becomes 0. No .tflite form.
struct Trilu {
  static const OperatorRow kRow;
  bool upper = true;
  int64_t k = 0;
};
// Inputs: indices [N], int32; rows [R, ...]. Rows quantized with zero point 0 give float32 where
// the output is float32, with a scale per tensor or per row.
struct EmbeddingLookup {
  static const OperatorRow kRow;
};

// The element type's copies, multiples[i] times along dimension i.
struct Tile {
  static const OperatorRow kRow;
  std::vector<int> multiples = {};
};
// As NumPy broadcasts.
struct BroadcastTo {
  static const OperatorRow kRow;
  Shape shape = {};
};

// Input: one element, which fills the output.
struct Fill {
  static const OperatorRow kRow;
  Shape shape = {};
};
// The dimensions of x, int32 or int64.
struct ShapeOf {
  static const OperatorRow kRow;
};
// Inputs: start, limit, step; constants of one type. start + i step for all that lie before limit.
struct Sequence {
  static const OperatorRow kRow;
};

// Inputs: indices, int32 or int64; the value of what is hot; that of the rest. A new axis of
// `depth` elements (-1: the last), of which that at the index is hot; none where there is no such
// element. With from_end, which .tflite files cannot say, negative indices count from the end.
struct OneHot {
  static const OperatorRow kRow;
  int depth = 0;
  int axis = -1;
  bool from_end = false;
};

// [N, H, W, C] to [N, H / block, W / block, C block^2], and back.
struct SpaceToDepth {
  static const OperatorRow kRow;
  int block = 1;
};
struct DepthToSpace {
  static const OperatorRow kRow;
  int block = 1;
};

// Pads the spatial dimensions 1.. with zero points and moves blocks of them into the batch, and
// back, cropping. block[i] and the i-th pair belong to dimension i + 1.
struct SpaceToBatch {
  static const OperatorRow kRow;
  std::vector<int> block = {};
  std::vector<std::pair<int, int>> paddings = {};
};
struct BatchToSpace {
  static const OperatorRow kRow;
  std::vector<int> block = {};
  std::vector<std::pair<int, int>> crops = {};
};

// Turns the axes around.
struct Reverse {
  static const OperatorRow kRow;
  std::vector<int> axes = {};
};

// Inputs: x; an update of x's rank, nowhere longer; int32 or int64 indices, where in x the update's
// first element goes: one per dimension, or for the first dimensions only, then 0 in the others. A
// scalar is one index. The output is x with the update. Where it would reach past an end, it is
// moved inside as TFLite does, or else that is an error of the run.
struct DynamicUpdateSlice {
  static const OperatorRow kRow;
  bool clamp = true;
};

// A part of x whose place a run computes, whose extents are known. Inputs: x; int32 or int64
// begins, one for each of the first dimensions. A part that does not lie in x is an error of the
// run.
struct DynamicSlice {
  static const OperatorRow kRow;
  struct Dimension {
    int size = -1;           // -1: all of x's, of which the begin must be 0
    bool any_begin = false;  // all of x's, whatever the begin says
    bool vanishes = false;   // one element; negative begins count from the end
  };
  std::vector<Dimension> dimensions = {};  // as many as begins
};

// Inputs: int32 indices [..., D], which name places in the first D dimensions of the output, and
// what is added there, of the shape [..., rest of the output's]; what nothing is added to is 0.
struct ScatterNd {
  static const OperatorRow kRow;
  Shape shape = {};  // of the output
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_MOVEMENT_OPERATORS_H_
