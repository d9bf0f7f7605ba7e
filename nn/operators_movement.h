// The operators that move elements, make shapes and compare nothing but places. See operators.h.
#ifndef INTAGLIO_NN_OPERATORS_MOVEMENT_H_
#define INTAGLIO_NN_OPERATORS_MOVEMENT_H_

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "intaglio/nn/tensor.h"

namespace intaglio::nn {

// Elements before and after, per dimension of x. They are filled with `value`, a quantized number,
// or with the output's zero point. Any element type.
struct Pad {
  std::vector<std::pair<int, int>> paddings = {};
  bool has_value = false;
  std::variant<double, int64_t> value = 0.0;  // must be one of the element type, exactly
};

// The same elements under a new shape, of which one dimension may be -1. Any element type.
struct Reshape {
  Shape shape = {};
};

// Drops the axes, whose extent must be 1 (none given: all of extent 1).
struct Squeeze {
  std::vector<int> axes = {};
};
// A new dimension of extent 1 before dimension `axis` (negative ones count from the new end).
struct ExpandDims {
  int axis = 0;
};

// Elements before and after, mirrored at the border; `symmetric` repeats the border element.
struct MirrorPad {
  std::vector<std::pair<int, int>> paddings = {};
  bool symmetric = false;
};

// Dimension i of the output is dimension permutation[i] of x.
struct Transpose {
  std::vector<int> permutation = {};
};

// `count` outputs of equal extent along the axis.
struct Split {
  int axis = 0;
  int count = 1;
};
// Outputs of these extents along the axis; one may be -1, which takes the rest.
struct SplitV {
  int axis = 0;
  std::vector<int> sizes = {};
};

// Inputs of one shape, along a new axis of the output.
struct Pack {
  int axis = 0;
};
// The reverse: one output per index of the axis, which disappears.
struct Unpack {
  int axis = 0;
  int count = 1;
};

// size[i] elements from begin[i] on, or all the rest where size[i] is -1.
struct Slice {
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
// makes the run fail.
struct Gather {
  int axis = 0;
  int batch_dims = 0;
};
// Inputs: x; indices, whose last dimension holds places in the first dimensions of x.
struct GatherNd {};
// Inputs: indices [N], int32; rows [R, ...]. Rows quantized with zero point 0 give float32 where
// the output is float32, with a scale per tensor or per row.
struct EmbeddingLookup {};

// The element type's copies, multiples[i] times along dimension i.
struct Tile {
  std::vector<int> multiples = {};
};
// As NumPy broadcasts.
struct BroadcastTo {
  Shape shape = {};
};

// Input: one element, which fills the output.
struct Fill {
  Shape shape = {};
};
// The dimensions of x, int32 or int64.
struct ShapeOf {};
// Inputs: start, limit, step; constants of one type. start + i step for all that lie before limit.
struct Sequence {};

// From one element type to another. Integers keep their low bits, floats are cut off and saturate
// (NaN gives the highest value).
struct Cast {};

// Inputs: indices, int32 or int64; the value of what is hot; that of the rest. A new axis of
// `depth` elements (-1: the last), of which that at the index is hot.
struct OneHot {
  int depth = 0;
  int axis = -1;
};

// Outputs: the k greatest elements of the last dimension, the greatest first, and their places
// (int16 or int32). Of equal ones the first comes first.
struct TopK {
  int k = 0;
};

// x [N, H, W, C] to the height and width `size`. align_corners maps the corners onto each other;
// half_pixel_centers counts from the middle of pixels. A bilinear resize takes at most one of the
// two.
struct ResizeBilinear {
  int height = 1;
  int width = 1;
  bool align_corners = false;
  bool half_pixel_centers = false;
};
struct ResizeNearestNeighbor {
  int height = 1;
  int width = 1;
  bool align_corners = false;
  bool half_pixel_centers = false;
};

// [N, H, W, C] to [N, H / block, W / block, C block^2], and back.
struct SpaceToDepth {
  int block = 1;
};
struct DepthToSpace {
  int block = 1;
};

// Pads the spatial dimensions 1.. with zero points and moves blocks of them into the batch, and
// back, cropping. block[i] and the i-th pair belong to dimension i + 1.
struct SpaceToBatch {
  std::vector<int> block = {};
  std::vector<std::pair<int, int>> paddings = {};
};
struct BatchToSpace {
  std::vector<int> block = {};
  std::vector<std::pair<int, int>> crops = {};
};

// Turns the axes around.
struct Reverse {
  std::vector<int> axes = {};
};

// The place of the first greatest or smallest element along the axis, int32 or int64.
struct ArgMax {
  int axis = 0;
};
struct ArgMin {
  int axis = 0;
};

// Inputs: condition, bool; what is taken where it holds; what elsewhere. SELECT_V2 broadcasts all
// three; SELECT takes a condition of the others' shape, or one per index of dimension 0.
struct Select {};
struct SelectV2 {};

// Running sums along the axis: `exclusive` ones leave out the element itself, `reverse` ones begin
// at the end. Integers wrap.
struct Cumsum {
  int axis = 0;
  bool exclusive = false;
  bool reverse = false;
};

// Inputs: x; an update of x's rank, nowhere longer; int32 or int64 indices, where in x the update's
// first element goes: one per dimension, or for the first dimensions only, then 0 in the others. A
// scalar is one index. The output is x with the update. Where it would reach past an end, it is
// moved inside as TFLite does, or else that is an error of the run.
struct DynamicUpdateSlice {
  bool clamp = true;
};

// A part of x whose place a run computes, whose extents are known. Inputs: x; int32 or int64
// begins, one for each of the first dimensions. A part that does not lie in x is an error of the
// run.
struct DynamicSlice {
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
  Shape shape = {};  // of the output
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPERATORS_MOVEMENT_H_
