// Functions of two tensors of small integers that broadcast, line by line through the kernel's
// routines.
#ifndef INTAGLIO_NN_OPS_SUPPORT_LINE_PAIRS_H_
#define INTAGLIO_NN_OPS_SUPPORT_LINE_PAIRS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "intaglio/gemm/byte_elementwise.h"
#include "intaglio/nn/ops/support/broadcast.h"
#include "intaglio/nn/ops/support/parallel.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/routine/routine.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {

inline LineOutput MakeLineOutput(Type type, const Affine& output, Range clamp) {
  return {type == Type::kInt8, output.zero_point, clamp.min, clamp.max};
}

// The zero point of an 8-bit type as lines take it.
inline int32_t MovedZero(Type type, int32_t zero_point) {
  return type == Type::kInt8 ? zero_point + 128 : zero_point;
}

namespace internal {

constexpr ptrdiff_t kRepeated = 1024;

// Loops over lines of two operands and the output. An operand may repeat along a line: its first
// `period` elements are there over and over; 0 for one that does not.
struct LineLoops {
  Loops<3> loops;
  std::array<ptrdiff_t, 2> period;
};

// Short lines, over each of which the same elements of an operand stretch, become one long one.
inline LineLoops MakeLineLoops(const LayerView& layer) {
  const Loops<3> loops = BroadcastLoops<3>(layer);
  const auto [step_a, step_b, step] = loops.inner_strides();
  const ptrdiff_t extent = loops.inner_extent();
  if (loops.rank() > 1 && 2 * extent <= kRepeated && step_a == 1 && step_b == 1 && step == 1) {
    const auto [a, b, out] = loops.strides(loops.rank() - 2);
    if (out == extent && a == extent && b == 0) return {loops.InnerMerged(), {0, extent}};
    if (out == extent && b == extent && a == 0) return {loops.InnerMerged(), {extent, 0}};
  }
  return {loops, {step_a == 0, step_b == 0}};
}

template <class T>
struct LineOperand {
  const T* at;
  ptrdiff_t period;
};

// Writes `count` elements, or one period where that is more, of a repeating operand from `begin`
// on.
template <class T>
void Repeat(const LineOperand<T>& x, ptrdiff_t begin, ptrdiff_t count, T* repeated) {
  std::rotate_copy(x.at, x.at + begin % x.period, x.at + x.period, repeated);
  for (ptrdiff_t done = x.period; done < count; done *= 2) {
    std::copy_n(repeated, std::min(done, count - done), repeated + done);
  }
}

// Calls f(line) for [begin, end) of a line. f itself takes no repeating operand but a single number
// as b; all others are written out for it.
template <class T, class Function>
void RunLine(const Function& f, const LineOperand<T>& a, const LineOperand<T>& b, T* out,
             ptrdiff_t begin, ptrdiff_t end) {
  if (a.period == 0 && b.period <= 1) {
    const bool repeats = b.period != 0;
    return f(
        LinePair{a.at + begin, repeats ? b.at : b.at + begin, repeats, out + begin, end - begin});
  }
  const LineOperand<T>& repeating = a.period != 0 ? a : b;
  const ptrdiff_t run = kRepeated / repeating.period * repeating.period;
  T repeated[kRepeated];
  Repeat(repeating, begin, std::min(run, end - begin), repeated);
  for (; begin < end; begin += run) {
    const ptrdiff_t count = std::min(run, end - begin);
    f(a.period != 0 ? LinePair{repeated, b.at + begin, false, out + begin, count}
                    : LinePair{a.at + begin, repeated, false, out + begin, count});
  }
}

}  // namespace internal

// out = f over lines, for the inputs and the output of a layer, all of numbers T; f(LinePair).
template <class T, class Function>
std::shared_ptr<const Routine> LinesRoutine(const LayerView& layer, Function function) {
  return RoutineOf([f = std::move(function),
                    lines = internal::MakeLineLoops(layer)](const RunArguments& arguments) {
    const auto* const a = static_cast<const T*>(arguments.inputs[0]);
    const auto* const b = static_cast<const T*>(arguments.inputs[1]);
    auto* const out = static_cast<T*>(arguments.outputs[0]);
    const Loops<3>& loops = lines.loops;
    // [begin, end) of the line at these offsets.
    const auto line = [&](const Loops<3>::Offsets& at, ptrdiff_t begin, ptrdiff_t end) {
      internal::RunLine<T>(f, {a + at[0], lines.period[0]}, {b + at[1], lines.period[1]},
                           out + at[2], begin, end);
    };
    const ptrdiff_t extent = loops.inner_extent();
    if (loops.outer_extent() == 1) {
      ForParts(arguments.context, extent, kLeastBytesOfThread, [&](ptrdiff_t begin, ptrdiff_t end) {
        loops.Run([&](const Loops<3>::Offsets& at) { line(at, begin, end); });
      });
    } else {
      const ptrdiff_t least = kLeastBytesOfThread / std::max<ptrdiff_t>(1, loops.outer_size()) + 1;
      ForParts(
          arguments.context, loops.outer_extent(), least, [&](ptrdiff_t first, ptrdiff_t last) {
            loops.RunPart(first, last, [&](const Loops<3>::Offsets& at) { line(at, 0, extent); });
          });
    }
  });
}

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_SUPPORT_LINE_PAIRS_H_
