// Functions of two tensors of small integers that broadcast, line by line through the kernel's
// routines.
#ifndef INTAGLIO_NN_OPS_LINE_PAIRS_H_
#define INTAGLIO_NN_OPS_LINE_PAIRS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "intaglio/gemm/lines.h"
#include "intaglio/nn/layer.h"
#include "intaglio/nn/ops/broadcast.h"
#include "intaglio/nn/ops/parallel.h"
#include "intaglio/nn/ops/routine.h"
#include "intaglio/nn/quantization.h"

namespace intaglio::nn {

inline LineOutput MakeLineOutput(Type type, const Affine& output, Range clamp) {
  return {type == Type::kInt8, output.zero_point, clamp.min, clamp.max};
}

// The zero point of an 8-bit type as lines take it.
inline int32_t MovedZero(Type type, int32_t zero_point) {
  return type == Type::kInt8 ? zero_point + 128 : zero_point;
}

namespace internal {

// f(line) for a line whose first operand may be one number for all.
template <class T, class Function>
void RunLine(const Function& f, ptrdiff_t step_a, LinePair line) {
  if (step_a != 0) return f(line);
  constexpr ptrdiff_t kRun = 1024;
  T repeated[kRun];
  std::fill_n(repeated, kRun, *static_cast<const T*>(line.a));
  line.a = repeated;
  for (ptrdiff_t left = line.count; left > 0; left -= kRun) {
    line.count = std::min(left, kRun);
    f(line);
    if (!line.repeats_b) line.b = static_cast<const T*>(line.b) + line.count;
    line.out = static_cast<T*>(line.out) + line.count;
  }
}

}  // namespace internal

// out = f over lines, for the inputs and the output of a layer, all of numbers T; f(LinePair).
template <class T, class Function>
std::shared_ptr<const Routine> LinesRoutine(const LayerView& layer, Function function) {
  return RoutineOf([f = std::move(function),
                    loops = BroadcastLoops<3>(layer)](const RunArguments& arguments) {
    const auto* const a = static_cast<const T*>(arguments.inputs[0]);
    const auto* const b = static_cast<const T*>(arguments.inputs[1]);
    auto* const out = static_cast<T*>(arguments.outputs[0]);
    const ptrdiff_t step_a = loops.inner_strides()[0];
    const ptrdiff_t step_b = loops.inner_strides()[1];
    // [begin, end) of the line at these offsets.
    const auto line = [&](const Loops<3>::Offsets& at, ptrdiff_t begin, ptrdiff_t end) {
      internal::RunLine<T>(f, step_a,
                           {a + at[0] + begin * step_a, b + at[1] + begin * step_b, step_b == 0,
                            out + at[2] + begin, end - begin});
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

#endif  // INTAGLIO_NN_OPS_LINE_PAIRS_H_
