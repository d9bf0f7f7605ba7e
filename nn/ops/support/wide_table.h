// Makes a table of wide.h of the loops of one width.
#ifndef INTAGLIO_NN_OPS_SUPPORT_WIDE_TABLE_H_
#define INTAGLIO_NN_OPS_SUPPORT_WIDE_TABLE_H_

#include "intaglio/nn/ops/support/wide.h"
#include "intaglio/nn/ops/support/wide_exp.h"
#include "intaglio/nn/ops/support/wide_lines.h"
#include "intaglio/nn/ops/support/wide_norms.h"
#include "intaglio/nn/ops/support/wide_products.h"
#include "intaglio/nn/ops/support/wide_sums.h"
#include "intaglio/nn/ops/support/wide_windows.h"

namespace intaglio::nn::wide {

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
constexpr WideRoutines MakeRoutines() {
  return {kBytes / 4,
          Sums::kSums,
          Compiled<Isa, Range<kBytes>>::Run,
          Compiled<Isa, Quantize<kBytes>>::Run,
          Compiled<Isa, ToReal<kBytes>>::Run,
          Compiled<Isa, Multiply<kBytes, Sums>>::Run,
          Compiled<Isa, MultiplyRow<kBytes, Sums>>::Run,
          Compiled<Isa, AddTaps<kBytes, Sums>>::Run,
          Compiled<Isa, AddDots<kBytes, Sums>>::Run,
          Compiled<Isa, AddMultiple<kBytes, Sums>>::Run,
          Compiled<Isa, Pool<kBytes>>::Run,
          Compiled<Isa, Exp<kBytes>>::Run,
          Compiled<Isa, Sigmoid<kBytes>>::Run,
          Compiled<Isa, Logistic<kBytes>>::Run,
          Compiled<Isa, Erf<kBytes>>::Run,
          Compiled<Isa, Tanh<kBytes>>::Run,
          Compiled<Isa, Softmax<kBytes>>::Run,
          Compiled<Isa, AddScaled<kBytes>>::Run,
          Compiled<Isa, Normalize<kBytes>>::Run};
}

}  // namespace intaglio::nn::wide

#endif  // INTAGLIO_NN_OPS_SUPPORT_WIDE_TABLE_H_
