#include "intaglio/nn/ops/support/moves.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/routine/routine_of.h"
#include "intaglio/pack/copy_lines.h"

namespace intaglio::nn {
namespace {

using Offsets = Loops<2>::Offsets;

// Lines of adjacent elements: the innermost dimension, over the next one.
void RunLines(ptrdiff_t size, const Move& move, const std::byte* in, std::byte* out) {
  const size_t rank = move.loops.rank();
  const ptrdiff_t bytes = move.loops.inner_extent() * size;
  const ptrdiff_t lines = rank < 2 ? 1 : move.loops.extent(rank - 2);
  const Offsets strides = rank < 2 ? Offsets{} : move.loops.strides(rank - 2);
  move.loops.Run<2>([&](const Offsets& offsets) {
    CopyLines({in + (move.from + offsets[0]) * size, strides[0] * size,
               out + (move.to + offsets[1]) * size, strides[1] * size, bytes, lines});
  });
}

// One dimension of a move, in bytes.
struct Axis {
  ptrdiff_t extent = 1;
  ptrdiff_t step_in = 0;
  ptrdiff_t step_out = 0;
};

Axis AxisOf(const Loops<2>& loops, size_t dimension, ptrdiff_t size) {
  const Offsets& strides = loops.strides(dimension);
  return {loops.extent(dimension), strides[0] * size, strides[1] * size};
}

// Elements apart; memcpy of a constant size is one load and one store, at any address.
template <size_t kBytes>
void CopyElements(const Axis& axis, const std::byte* from, std::byte* to) {
  for (ptrdiff_t i = 0; i < axis.extent; ++i, from += axis.step_in, to += axis.step_out) {
    std::memcpy(to, from, kBytes);
  }
}

// Where the outer axis is dense in the input, as in a transpose, blocks of it are copied at once:
// reads are adjacent then, and the lines that a block writes stay in L1.
template <size_t kBytes>
void CopyPlane(const Axis& outer, const Axis& inner, const std::byte* from, std::byte* to) {
  constexpr ptrdiff_t kBlock = 64;
  const ptrdiff_t block = outer.step_in == ptrdiff_t{kBytes} ? kBlock : 1;
  for (ptrdiff_t o = 0; o < outer.extent; o += block) {
    const std::byte* const block_from = from + o * outer.step_in;
    std::byte* const block_to = to + o * outer.step_out;
    if (block == 1) {
      CopyElements<kBytes>(inner, block_from, block_to);
      continue;
    }
    const Axis lines = {std::min(block, outer.extent - o), outer.step_in, outer.step_out};
    for (ptrdiff_t i = 0; i < inner.extent; ++i) {
      CopyElements<kBytes>(lines, block_from + i * inner.step_in, block_to + i * inner.step_out);
    }
  }
}

template <size_t kBytes>
void RunElements(const Move& move, const std::byte* in, std::byte* out) {
  constexpr auto kSize = static_cast<ptrdiff_t>(kBytes);
  const size_t rank = move.loops.rank();
  const Axis inner = AxisOf(move.loops, rank - 1, kSize);
  const Axis outer = rank < 2 ? Axis{} : AxisOf(move.loops, rank - 2, kSize);
  move.loops.Run<2>([&](const Offsets& offsets) {
    CopyPlane<kBytes>(outer, inner, in + (move.from + offsets[0]) * kSize,
                      out + (move.to + offsets[1]) * kSize);
  });
}

void Run(size_t size, const Move& move, const void* in, void* out) {
  const auto* const from = static_cast<const std::byte*>(in);
  auto* const to = static_cast<std::byte*>(out);
  const bool adjacent =
      move.loops.inner_extent() == 1 || move.loops.inner_strides() == Offsets{1, 1};
  if (adjacent) return RunLines(static_cast<ptrdiff_t>(size), move, from, to);
  if (size == 1) return RunElements<1>(move, from, to);
  if (size == 2) return RunElements<2>(move, from, to);
  if (size == 4) return RunElements<4>(move, from, to);
  RunElements<8>(move, from, to);
}

size_t BytesOf(const std::vector<Move>& moves) {
  constexpr size_t kPerVector = 16;  // the allocator's own bytes
  size_t bytes = moves.capacity() * sizeof(Move) + kPerVector;
  for (const Move& move : moves) {
    bytes += move.loops.rank() * (sizeof(ptrdiff_t) + sizeof(Offsets)) + 2 * kPerVector;
  }
  return bytes;
}

}  // namespace

Result<PreparedLayer> PrepareMoves(const LayerView& layer, std::vector<Move> moves,
                                   const std::optional<Element>& fill) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  const Type type = layer.output().type;
  const size_t size = SizeOf(type);
  const auto count = static_cast<size_t>(*CountElements(layer.output().shape));
  PreparedLayer prepared;
  prepared.constant_bytes = BytesOf(moves);
  prepared.routine = RoutineOf([=, moves = std::move(moves)](const RunArguments& arguments) {
    if (fill.has_value()) FillWith(*fill, size, count, arguments.outputs[0]);
    for (const Move& move : moves) {
      Run(size, move, arguments.inputs[move.input], arguments.outputs[move.output]);
    }
  });
  return prepared;
}

Result<Element> ZeroOf(const LayerView& layer) {
  const Tensor& out = layer.output();
  Element element;
  if (!out.quantization.quantized() || out.type == Type::kInt64) return element;
  const Result<Affine> q = AffineOfAny(layer, out);
  if (!q.ok()) return q.status();
  std::memcpy(element.bytes, &q->zero_point, sizeof(q->zero_point));  // little-endian: low bytes
  return element;
}

void FillWith(const Element& element, size_t size, size_t count, void* out) {
  auto* const to = static_cast<std::byte*>(out);
  if (count == 0) return;
  if (size == 1) {
    std::memset(to, std::to_integer<int>(element.bytes[0]), count);
    return;
  }
  std::memcpy(to, element.bytes, size);
  // Doubles what is filled.
  for (size_t filled = 1; filled < count; filled *= 2) {
    std::memcpy(to + filled * size, to, std::min(filled, count - filled) * size);
  }
}

}  // namespace intaglio::nn
