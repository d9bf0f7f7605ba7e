// Element by element from two tensors that broadcast.
#ifndef INTAGLIO_NN_OPS_SUPPORT_BINARY_H_
#define INTAGLIO_NN_OPS_SUPPORT_BINARY_H_

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "intaglio/nn/ops/support/broadcast.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/parallel.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/routine/routine.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {

namespace internal {

// The innermost loop; steps that are constants where this is inlined make it one for vectors.
template <class A, class B, class Out, class Function>
inline void ApplyRow(const Function& f, const A* a, ptrdiff_t step_a, const B* b, ptrdiff_t step_b,
                     Out* out, ptrdiff_t extent) {
  for (ptrdiff_t i = 0; i < extent; ++i) {
    out[i] = static_cast<Out>(f(a[i * step_a], b[i * step_b]));
  }
}

// Calls run_row(offsets, elements) for all rows, or parts of the only one, on all threads.
template <class Function>
void RunInParts(Context& context, const Loops<3>& loops, ptrdiff_t element_bytes,
                const Function& run_row) {
  const ptrdiff_t extent = loops.inner_extent();
  const ptrdiff_t least = kLeastBytesOfThread / element_bytes;
  if (loops.rank() < 2) {
    const Loops<3>::Offsets steps = loops.inner_strides();
    return ForParts(context, extent, least, [&](ptrdiff_t begin, ptrdiff_t end) {
      run_row({begin * steps[0], begin * steps[1], begin * steps[2]}, end - begin);
    });
  }
  ForParts(context, loops.outer_extent(), least / std::max<ptrdiff_t>(1, loops.outer_size()) + 1,
           [&](ptrdiff_t begin, ptrdiff_t end) {
             loops.RunPart(begin, end, [&](const Loops<3>::Offsets& at) { run_row(at, extent); });
           });
}

}  // namespace internal

// out = f(a, b) for elements of these types, on all threads; f returns what fits Out.
template <class A, class B, class Out, class Function>
std::shared_ptr<const Routine> BinaryRoutine(const LayerView& layer, const Function& f) {
  return RoutineOf([f, loops = BroadcastLoops<3>(layer)](const RunArguments& arguments) {
    const auto* const a = static_cast<const A*>(arguments.inputs[0]);
    const auto* const b = static_cast<const B*>(arguments.inputs[1]);
    auto* const out = static_cast<Out*>(arguments.outputs[0]);
    const ptrdiff_t step_a = loops.inner_strides()[0];
    const ptrdiff_t step_b = loops.inner_strides()[1];
    const auto run_row = [&](const Loops<3>::Offsets& at, ptrdiff_t extent) {
      const Function function = f;  // which no store can change
      const A* const row_a = a + at[0];
      const B* const row_b = b + at[1];
      Out* const row = out + at[2];
      if (step_a == 1 && step_b == 1) {
        internal::ApplyRow(function, row_a, 1, row_b, 1, row, extent);
      } else if (step_a == 1 && step_b == 0) {
        internal::ApplyRow(function, row_a, 1, row_b, 0, row, extent);
      } else if (step_a == 0 && step_b == 1) {
        internal::ApplyRow(function, row_a, 0, row_b, 1, row, extent);
      } else {
        internal::ApplyRow(function, row_a, step_a, row_b, step_b, row, extent);
      }
    };
    internal::RunInParts(arguments.context, loops, ptrdiff_t{sizeof(Out)}, run_row);
  });
}

// The layer with such a routine, which is null where the operator has none for its types.
inline Result<PreparedLayer> PrepareBinary(const LayerView& layer,
                                           std::shared_ptr<const Routine> routine) {
  const Type type = layer.input(0).type;
  if (routine == nullptr) {
    return layer.Unsupported(std::string("has no routine for ") + NameOf(type));
  }
  PreparedLayer prepared;
  prepared.routine = std::move(routine);
  for (size_t i = 0; i < 2; ++i) {
    const bool same = layer.input(i).shape == layer.output().shape &&
                      SizeOf(layer.input(i).type) == SizeOf(layer.output().type);
    if (same) prepared.in_place_inputs |= 1u << i;
  }
  return prepared;
}

// Both inputs and the output of one type, with a quantization each.
struct ThreeAffines {
  Affine a;
  Affine b;
  Affine out;
};
inline Result<ThreeAffines> AffinesOf(const LayerView& layer) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  const Result<InOut> q = SameTypeInOut(layer);
  if (!q.ok()) return q.status();
  const Result<Affine> b = AffineOf(layer, layer.input(1));
  if (!b.ok()) return b.status();
  return ThreeAffines{q->input, *b, q->output};
}

inline bool IsQuantized(Type type) {
  return type == Type::kInt8 || type == Type::kUInt8 || type == Type::kInt16 ||
         type == Type::kUInt16;
}

// The bounds of an activation for numbers that are not quantized.
template <class T>
struct Bounds {
  T low;
  T high;

  explicit Bounds(Activation activation)
      : low(std::numeric_limits<T>::lowest()), high(std::numeric_limits<T>::max()) {
    if (activation == Activation::kNone) return;
    low = activation == Activation::kReluN1To1 && std::is_signed_v<T> ? T(-1) : T(0);
    if (activation == Activation::kRelu6) high = T(6);
    if (activation == Activation::kReluN1To1) high = T(1);
  }
  // The same, or Open for floats whose infinities stay what they are.
  static Bounds Of(Activation activation, bool keeps_infinities) {
    if constexpr (std::numeric_limits<T>::has_infinity) {
      if (keeps_infinities) return Open(activation);
    }
    return Bounds(activation);
  }
  // The same bounds, except that infinities pass on a side without another bound.
  static Bounds Open(Activation activation) {
    static_assert(std::numeric_limits<T>::has_infinity);
    Bounds bounds(activation);
    if (bounds.low < T(-1)) bounds.low = -std::numeric_limits<T>::infinity();
    if (bounds.high > T(6)) bounds.high = std::numeric_limits<T>::infinity();
    return bounds;
  }
  T operator()(T x) const {
    const T above = x < low ? low : x;
    return above > high ? high : above;
  }
};

// a + b, a - b, a b modulo 2^n for integers. Types narrower than int must not become int, whose
// product could overflow.
template <class T>
using Modular = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
template <class T>
T WrappingAdd(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = Modular<T>;
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  } else {
    return a + b;
  }
}
template <class T>
T WrappingSub(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = Modular<T>;
    return static_cast<T>(static_cast<U>(a) - static_cast<U>(b));
  } else {
    return a - b;
  }
}
template <class T>
T WrappingMul(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = Modular<T>;
    return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
  } else {
    return a * b;
  }
}

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_SUPPORT_BINARY_H_
