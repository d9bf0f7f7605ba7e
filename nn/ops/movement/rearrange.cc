// TRANSPOSE, TILE, BROADCAST_TO, and the operators that move blocks between space and depth or
// batch: all elements in another order.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>

#include "intaglio/nn/graph/ledger.h"
#include "intaglio/nn/ops/movement/operators.h"
#include "intaglio/nn/ops/support/broadcast.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/moves.h"
#include "intaglio/nn/ops/support/rows.h"

namespace intaglio::nn {
namespace {

Result<std::vector<size_t>> PermutationOf(const LayerView& layer) {
  const std::vector<int>& permutation = layer.op<Transpose>().permutation;
  const size_t rank = layer.input(0).shape.size();
  std::vector<bool> used(rank, false);
  std::vector<size_t> result;
  for (const int entry : permutation) {
    const Result<size_t> axis = AxisOf(layer, entry, rank);
    if (!axis.ok()) return axis.status();
    if (used[*axis]) break;
    used[*axis] = true;
    result.push_back(*axis);
  }
  if (result.size() == rank && permutation.size() == rank) return result;
  return layer.Invalid(ToString(permutation) + " is no permutation of the dimensions of " +
                       ToString(layer.input(0).shape));
}

// [N, H, W, C] with H = h b, W = w b, seen as [N, h, b, w, b, C], and [N, h, w, b, b, C]: the two
// ends of a move between space and depth.
Move BlockMove(const Shape& space, int block, bool to_depth) {
  const int n = space[0];
  const int h = space[1] / block;
  const int w = space[2] / block;
  const int c = space[3];
  const std::vector<ptrdiff_t> s = DenseStrides(space);
  const std::vector<ptrdiff_t> d = DenseStrides({n, h, w, block, block, c});
  Move move;
  const auto add = [&](int extent, ptrdiff_t in_space, ptrdiff_t in_depth) {
    if (to_depth) {
      move.loops.Add(extent, {in_space, in_depth});
    } else {
      move.loops.Add(extent, {in_depth, in_space});
    }
  };
  add(n, s[0], d[0]);
  add(h, s[1] * block, d[1]);
  if (to_depth) add(w, s[2] * block, d[2]);
  add(block, s[1], d[3]);
  if (!to_depth) add(w, s[2] * block, d[2]);
  add(block, s[2], d[4]);
  add(c, s[3], d[5]);
  return move;
}

Status CheckBlock(const LayerView& layer, int block) {
  INTAGLIO_RETURN_IF_ERROR(CheckImage(layer));
  if (block >= 1) return {};
  return layer.Invalid("the block size is " + std::to_string(block));
}

// SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND, as seen from the side of space: [N, S.., rest] against
// the blocks [b.., N, S'.., rest], where place s of space dimension i, with p elements before it,
// lies in block (s + p) % b at (s + p) / b.
struct Blocks {
  std::vector<int> block;
  std::vector<std::pair<int, int>> margins;
  Shape space;    // the tensor with margins taken off
  Shape blocked;  // the other one
};

constexpr int64_t kMaxBlocks = 1 << 16;  // each is a move

Status CheckBlocks(const LayerView& layer, const Blocks& b) {
  const Shape& shape = layer.input(0).shape;
  bool valid = b.block.size() == b.margins.size() && b.block.size() + 1 <= shape.size();
  int64_t blocks = 1;
  for (const int block : b.block) {
    valid = valid && block >= 1;
    blocks = std::min(blocks * block, kMaxBlocks + 1);
  }
  if (valid && blocks > kMaxBlocks) {
    return layer.Unsupported("has more than " + std::to_string(kMaxBlocks) + " blocks");
  }
  for (const auto& [before, after] : b.margins) valid = valid && before >= 0 && after >= 0;
  if (valid) return {};
  return layer.Invalid(
      "has the blocks " + ToString(b.block) + " and " + std::to_string(b.margins.size()) +
      " pairs of paddings or crops, or negative ones, for the shape " + ToString(shape));
}

Result<Blocks> BlocksToBatch(const LayerView& layer) {
  const SpaceToBatch& op = layer.op<SpaceToBatch>();
  Blocks b{op.block, op.paddings, layer.input(0).shape, layer.input(0).shape};
  INTAGLIO_RETURN_IF_ERROR(CheckBlocks(layer, b));
  int64_t batch = b.space[0];
  for (size_t i = 0; i < b.block.size(); ++i) {
    const int64_t padded = int64_t{b.space[i + 1]} + b.margins[i].first + b.margins[i].second;
    if (padded % b.block[i] != 0) {
      return layer.Invalid("dimension " + std::to_string(i + 1) + " has " + std::to_string(padded) +
                           " elements with its paddings, no multiple of the block " +
                           std::to_string(b.block[i]));
    }
    const Result<int> extent = CheckExtent(layer, padded / b.block[i]);
    if (!extent.ok()) return extent.status();
    b.blocked[i + 1] = *extent;
    const Result<int> batches = CheckExtent(layer, batch * b.block[i]);
    if (!batches.ok()) return batches.status();
    batch = *batches;
  }
  b.blocked[0] = static_cast<int>(batch);
  return b;
}

Result<Blocks> BlocksToSpace(const LayerView& layer) {
  const BatchToSpace& op = layer.op<BatchToSpace>();
  Blocks b{op.block, op.crops, layer.input(0).shape, layer.input(0).shape};
  INTAGLIO_RETURN_IF_ERROR(CheckBlocks(layer, b));
  for (size_t i = 0; i < b.block.size(); ++i) {
    if (b.space[0] % b.block[i] != 0) {
      return layer.Invalid("the batch " + std::to_string(b.blocked[0]) +
                           " is no multiple of the blocks " + ToString(b.block));
    }
    b.space[0] /= b.block[i];
    const int64_t extent =
        int64_t{b.blocked[i + 1]} * b.block[i] - b.margins[i].first - b.margins[i].second;
    const Result<int> checked = CheckExtent(layer, extent);
    if (!checked.ok()) return checked.status();
    b.space[i + 1] = *checked;
  }
  return b;
}

// For one block along one dimension: where its elements begin in space and in the block, and how
// many there are.
struct Run {
  int space = 0;
  int block = 0;
  int count = 0;
};

Run RunOf(int index, int block, int before, int extent) {
  // The first s >= 0 with (s + before) % block == index.
  const int64_t first = ((int64_t{index} - before) % block + block) % block;
  if (first >= extent) return {};
  return {static_cast<int>(first), static_cast<int>((first + before) / block),
          static_cast<int>((extent - 1 - first) / block + 1)};
}

// One move for each block. At most as many as the larger batch has images.
std::vector<Move> BlockMoves(const Blocks& b, bool to_batch) {
  const std::vector<ptrdiff_t> s = DenseStrides(b.space);
  const std::vector<ptrdiff_t> d = DenseStrides(b.blocked);
  std::vector<Move> moves;
  std::vector<int> index(b.block.size(), 0);
  if (*CountElements(b.space) == 0 || *CountElements(b.blocked) == 0) return moves;
  ptrdiff_t number = 0;
  while (true) {
    ptrdiff_t space = 0;
    ptrdiff_t blocked = number * b.space[0] * d[0];
    Loops<2> loops;
    bool empty = false;
    const auto add = [&](int extent, ptrdiff_t in_space, ptrdiff_t in_blocked) {
      loops.Add(extent, to_batch ? Loops<2>::Offsets{in_space, in_blocked}
                                 : Loops<2>::Offsets{in_blocked, in_space});
    };
    add(b.space[0], s[0], d[0]);
    for (size_t i = 0; i < b.block.size(); ++i) {
      const Run run = RunOf(index[i], b.block[i], b.margins[i].first, b.space[i + 1]);
      space += run.space * s[i + 1];
      blocked += run.block * d[i + 1];
      empty = empty || run.count == 0;
      add(run.count, b.block[i] * s[i + 1], d[i + 1]);
    }
    for (size_t i = b.block.size() + 1; i < b.space.size(); ++i) add(b.space[i], s[i], d[i]);
    if (!empty) {
      moves.push_back({0, 0, to_batch ? space : blocked, to_batch ? blocked : space, loops});
    }
    ++number;
    size_t i = b.block.size();
    while (i > 0 && ++index[i - 1] == b.block[i - 1]) index[--i] = 0;
    if (i == 0) return moves;
  }
}

ShapesResult InferTranspose(const LayerView& layer) {
  const Result<std::vector<size_t>> permutation = PermutationOf(layer);
  if (!permutation.ok()) return permutation.status();
  Shape shape;
  for (const size_t axis : *permutation) shape.push_back(layer.input(0).shape[axis]);
  return std::vector<Shape>{shape};
}

Result<PreparedLayer> PrepareTranspose(const LayerView& layer, const LayerOptions&) {
  const Result<std::vector<size_t>> permutation = PermutationOf(layer);
  if (!permutation.ok()) return permutation.status();
  const Shape& out = layer.output().shape;
  const std::vector<ptrdiff_t> from = DenseStrides(layer.input(0).shape);
  const std::vector<ptrdiff_t> to = DenseStrides(out);
  Move move;
  for (size_t i = 0; i < out.size(); ++i) move.loops.Add(out[i], {from[(*permutation)[i]], to[i]});
  return PrepareMoves(layer, {move});
}

ShapesResult InferTile(const LayerView& layer) {
  const std::vector<int>& multiples = layer.op<Tile>().multiples;
  Shape shape = layer.input(0).shape;
  bool valid = multiples.size() == shape.size();
  for (const int multiple : multiples) valid = valid && multiple >= 0;
  if (!valid) {
    return layer.Invalid("has the multiples " + ToString(multiples) + " for the shape " +
                         ToString(shape));
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    const Result<int> extent = CheckExtent(layer, int64_t{shape[i]} * multiples[i]);
    if (!extent.ok()) return extent.status();
    shape[i] = *extent;
  }
  return std::vector<Shape>{shape};
}

Result<PreparedLayer> PrepareTile(const LayerView& layer, const LayerOptions&) {
  const Shape& in = layer.input(0).shape;
  const std::vector<ptrdiff_t> from = DenseStrides(in);
  const std::vector<ptrdiff_t> to = DenseStrides(layer.output().shape);
  Move move;
  for (size_t i = 0; i < in.size(); ++i) {
    move.loops.Add(layer.op<Tile>().multiples[i], {0, in[i] * to[i]});
    move.loops.Add(in[i], {from[i], to[i]});
  }
  return PrepareMoves(layer, {move});
}

ShapesResult InferBroadcastTo(const LayerView& layer) {
  const Shape& in = layer.input(0).shape;
  const Shape& out = layer.op<BroadcastTo>().shape;
  bool valid = in.size() <= out.size();
  for (size_t back = 1; valid && back <= in.size(); ++back) {
    const int extent = in[in.size() - back];
    valid = extent == 1 || extent == out[out.size() - back];
  }
  if (!valid || std::any_of(out.begin(), out.end(), [](int extent) { return extent < 0; })) {
    return layer.Invalid("cannot broadcast " + ToString(in) + " to " + ToString(out));
  }
  return std::vector<Shape>{out};
}

Result<PreparedLayer> PrepareBroadcastTo(const LayerView& layer, const LayerOptions&) {
  Move move;
  move.loops = BroadcastLoops<2>(layer);
  return PrepareMoves(layer, {move});
}

ShapesResult InferSpaceToDepth(const LayerView& layer) {
  const int block = layer.op<SpaceToDepth>().block;
  INTAGLIO_RETURN_IF_ERROR(CheckBlock(layer, block));
  const Shape& shape = layer.input(0).shape;
  if (shape[1] % block != 0 || shape[2] % block != 0) {
    return layer.Invalid("the block size " + std::to_string(block) +
                         " does not divide height and width of " + ToString(shape));
  }
  // A block larger than an extent divides it only if that is 0.
  const int64_t area = int64_t{block} * block;
  if (area > std::numeric_limits<int>::max()) return CheckExtent(layer, area).status();
  const Result<int> depth = CheckExtent(layer, shape[3] * area);
  if (!depth.ok()) return depth.status();
  return std::vector<Shape>{{shape[0], shape[1] / block, shape[2] / block, *depth}};
}

Result<PreparedLayer> PrepareSpaceToDepth(const LayerView& layer, const LayerOptions&) {
  return PrepareMoves(layer,
                      {BlockMove(layer.input(0).shape, layer.op<SpaceToDepth>().block, true)});
}

ShapesResult InferDepthToSpace(const LayerView& layer) {
  const int block = layer.op<DepthToSpace>().block;
  INTAGLIO_RETURN_IF_ERROR(CheckBlock(layer, block));
  const Shape& shape = layer.input(0).shape;
  const int64_t area = int64_t{block} * block;
  if (shape[3] % area != 0) {
    return layer.Invalid("the block size " + std::to_string(block) +
                         " squared does not divide the channels of " + ToString(shape));
  }
  const Result<int> height = CheckExtent(layer, int64_t{shape[1]} * block);
  if (!height.ok()) return height.status();
  const Result<int> width = CheckExtent(layer, int64_t{shape[2]} * block);
  if (!width.ok()) return width.status();
  return std::vector<Shape>{{shape[0], *height, *width, static_cast<int>(shape[3] / area)}};
}

Result<PreparedLayer> PrepareDepthToSpace(const LayerView& layer, const LayerOptions&) {
  return PrepareMoves(layer,
                      {BlockMove(layer.output().shape, layer.op<DepthToSpace>().block, false)});
}

ShapesResult InferSpaceToBatch(const LayerView& layer) {
  Result<Blocks> blocks = BlocksToBatch(layer);
  if (!blocks.ok()) return blocks.status();
  return std::vector<Shape>{std::move(blocks->blocked)};
}

Result<PreparedLayer> PrepareSpaceToBatch(const LayerView& layer, const LayerOptions&) {
  const Result<Blocks> blocks = BlocksToBatch(layer);
  if (!blocks.ok()) return blocks.status();
  const Result<Element> zero = ZeroOf(layer);
  if (!zero.ok()) return zero.status();
  return PrepareMoves(layer, BlockMoves(*blocks, true), *zero);
}

ShapesResult InferBatchToSpace(const LayerView& layer) {
  Result<Blocks> blocks = BlocksToSpace(layer);
  if (!blocks.ok()) return blocks.status();
  return std::vector<Shape>{std::move(blocks->space)};
}

Result<PreparedLayer> PrepareBatchToSpace(const LayerView& layer, const LayerOptions&) {
  const Result<Blocks> blocks = BlocksToSpace(layer);
  if (!blocks.ok()) return blocks.status();
  return PrepareMoves(layer, BlockMoves(*blocks, false));
}

// There is a copy for each block.
template <class Op>
int64_t BoundBlocks(const LayerView& layer) {
  constexpr int64_t kPerBlock = 320;
  constexpr int64_t kPerAxis = 64;
  int64_t bytes = kPerBlock + kPerAxis * static_cast<int64_t>(layer.input(0).shape.size());
  for (const int extent : layer.op<Op>().block) bytes = MultiplySaturated(bytes, extent);
  return bytes;
}

}  // namespace

constinit const OperatorRow Transpose::kRow = {.name = "TRANSPOSE",
                                               .min_inputs = 1,
                                               .max_inputs = 1,
                                               .types = kAnyType,
                                               .infer = InferTranspose,
                                               .candidates = Moves("copy", PrepareTranspose)};

constinit const OperatorRow Tile::kRow = {.name = "TILE",
                                          .min_inputs = 1,
                                          .max_inputs = 1,
                                          .types = kAnyType,
                                          .infer = InferTile,
                                          .candidates = Moves("copy", PrepareTile)};

constinit const OperatorRow BroadcastTo::kRow = {.name = "BROADCAST_TO",
                                                 .min_inputs = 1,
                                                 .max_inputs = 1,
                                                 .types = kAnyType,
                                                 .infer = InferBroadcastTo,
                                                 .candidates = Moves("copy", PrepareBroadcastTo)};

constinit const OperatorRow SpaceToDepth::kRow = {.name = "SPACE_TO_DEPTH",
                                                  .min_inputs = 1,
                                                  .max_inputs = 1,
                                                  .types = kAnyType,
                                                  .infer = InferSpaceToDepth,
                                                  .candidates = Moves("copy", PrepareSpaceToDepth)};

constinit const OperatorRow DepthToSpace::kRow = {.name = "DEPTH_TO_SPACE",
                                                  .min_inputs = 1,
                                                  .max_inputs = 1,
                                                  .types = kAnyType,
                                                  .infer = InferDepthToSpace,
                                                  .candidates = Moves("copy", PrepareDepthToSpace)};

constinit const OperatorRow SpaceToBatch::kRow = {.name = "SPACE_TO_BATCH_ND",
                                                  .min_inputs = 1,
                                                  .max_inputs = 1,
                                                  .types = kAnyType,
                                                  .infer = InferSpaceToBatch,
                                                  .candidates = Moves("copy", PrepareSpaceToBatch),
                                                  .remark = "at most 65536 blocks",
                                                  .list_bytes = BoundBlocks<SpaceToBatch>};

constinit const OperatorRow BatchToSpace::kRow = {.name = "BATCH_TO_SPACE_ND",
                                                  .min_inputs = 1,
                                                  .max_inputs = 1,
                                                  .types = kAnyType,
                                                  .infer = InferBatchToSpace,
                                                  .candidates = Moves("copy", PrepareBatchToSpace),
                                                  .remark = "at most 65536 blocks",
                                                  .list_bytes = BoundBlocks<BatchToSpace>};

}  // namespace intaglio::nn
