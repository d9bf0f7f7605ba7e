// Makes a row of the table of the loops of one width.
#ifndef INTAGLIO_KERNELS_FLOAT32_MAKE_LOOPS_H_
#define INTAGLIO_KERNELS_FLOAT32_MAKE_LOOPS_H_

#include <cstdint>

#include "intaglio/kernels/float32/byte_windows.h"
#include "intaglio/kernels/float32/exp.h"
#include "intaglio/kernels/float32/float_loops.h"
#include "intaglio/kernels/float32/lines.h"
#include "intaglio/kernels/float32/norms.h"
#include "intaglio/kernels/float32/products.h"
#include "intaglio/kernels/float32/sums.h"
#include "intaglio/kernels/float32/windows.h"
#include "intaglio/kernels/float32/winograd.h"

namespace intaglio::float32 {

// A function that contains the loop, compiled for the instruction set of the file.
template <class Isa, auto kLoop>
struct Compiled;
template <class Isa, class... Arguments, void (*kLoop)(Arguments...)>
struct Compiled<Isa, kLoop> {
  static void Run(Arguments... arguments) { kLoop(arguments...); }
};

// Isa: a type of the file that uses it, in an unnamed namespace, so that no function made here is
// visible to other files: the linker could give them one that their CPU does not run.
template <class Isa, int kBytes, class Sums>
constexpr FloatLoops MakeLoops(uint32_t needs) {
  return {.needs = needs,
          .lanes = kBytes / 4,
          .sums = Sums::kSums,
          .range = Compiled<Isa, Range<kBytes>>::Run,
          .quantize = Compiled<Isa, Quantize<kBytes>>::Run,
          .quantize_half_even = Compiled<Isa, QuantizeHalfEven<kBytes>>::Run,
          .truncate = Compiled<Isa, Truncate<kBytes>>::Run,
          .round_half_even = Compiled<Isa, RoundHalfEven<kBytes>>::Run,
          .to_real = Compiled<Isa, ToReal<kBytes>>::Run,
          .multiply = Compiled<Isa, Multiply<kBytes, Sums>>::Run,
          .multiply_row = Compiled<Isa, MultiplyRow<kBytes, Sums>>::Run,
          .add_taps = Compiled<Isa, AddTaps<kBytes, Sums>>::Run,
          .add_dots = Compiled<Isa, AddDots<kBytes, Sums>>::Run,
          .add_multiple = Compiled<Isa, AddMultiple<kBytes, Sums>>::Run,
          .pool = Compiled<Isa, Pool<kBytes>>::Run,
          .average_bytes = Compiled<Isa, AverageBytes<kBytes>>::Run,
          .exp = Compiled<Isa, Exp<kBytes>>::Run,
          .sigmoid = Compiled<Isa, Sigmoid<kBytes>>::Run,
          .logistic = Compiled<Isa, Logistic<kBytes>>::Run,
          .elu = Compiled<Isa, Elu<kBytes>>::Run,
          .softplus = Compiled<Isa, Softplus<kBytes>>::Run,
          .erf = Compiled<Isa, Erf<kBytes>>::Run,
          .tanh = Compiled<Isa, Tanh<kBytes>>::Run,
          .softmax = Compiled<Isa, Softmax<kBytes>>::Run,
          .log_softmax = Compiled<Isa, LogSoftmax<kBytes>>::Run,
          .add_scaled = Compiled<Isa, AddScaled<kBytes, Sums>>::Run,
          .transform_tile = Compiled<Isa, TransformTile<kBytes>>::Run,
          .finish_tile = Compiled<Isa, FinishTile<kBytes>>::Run,
          .normalize = Compiled<Isa, Normalize<kBytes>>::Run};
}

}  // namespace intaglio::float32

#endif  // INTAGLIO_KERNELS_FLOAT32_MAKE_LOOPS_H_
