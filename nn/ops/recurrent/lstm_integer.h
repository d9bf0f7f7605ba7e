// The LSTM of int8 with cells of int16, in the bits of TFLite's kernel "8x8_16". All products of x
// are one GEMM before the first step; a step adds one of h for all gates.
#ifndef INTAGLIO_NN_OPS_RECURRENT_LSTM_INTEGER_H_
#define INTAGLIO_NN_OPS_RECURRENT_LSTM_INTEGER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "intaglio/gemm/bound_pipeline.h"
#include "intaglio/gemm/gemm.h"
#include "intaglio/nn/ops/linear/linear.h"
#include "intaglio/nn/ops/recurrent/lstm.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/ops/support/table16.h"

namespace intaglio::nn {

// A packed matrix and the pipeline that is bound to it, whose parameters it owns.
struct GateProduct {
  std::optional<PackedMatrix> packed;
  size_t new_bytes = 0;  // those that no earlier layer has packed
  std::vector<int32_t> bias;
  Multipliers multipliers;
  BoundPipeline pipeline;

  Status Run(Context& context, const int8_t* x, int rows, void* to, Type type) const;
};

// Layer normalization with 10 extra bits.
struct Normalization {
  const int16_t* weights = nullptr;
  const int32_t* bias = nullptr;
  QuantizedMultiplier multiplier;
  int32_t variance_guard = 1;

  void Apply(int16_t* x, int count) const;
};

struct Peephole {
  const int16_t* weights = nullptr;
  QuantizedMultiplier multiplier;
};

class IntegerLstmRoutine final : public Routine {
 public:
  Status Run(const RunArguments& arguments) const override;

  size_t ScratchBytes() const { return DivideScratch(nullptr).bytes; }

  LstmSizes sizes;
  GateProduct of_x;
  GateProduct of_h;
  GateProduct projection;
  Peephole peepholes[kGates];
  Normalization norms[kGates];
  const Table16* logistic = nullptr;
  const Table16* tanh_of_gate = nullptr;
  const Table16* tanh_of_cell = nullptr;
  int input_shift = 15;  // of input gate times cell gate, to cells
  QuantizedMultiplier hidden_multiplier;
  int32_t hidden_zero_point = 0;
  int16_t cell_clip = 0;
  int8_t projection_clip = 0;

 private:
  struct Buffers {
    int16_t* gates;      // [rows, gates, cells]
    int32_t* recurrent;  // [batch, gates, cells]
    int8_t* hidden;      // [batch, cells]
    size_t bytes;
    int8_t* h;
    int16_t* c;
    int8_t* out;
  };

  Buffers DivideScratch(std::byte* scratch) const;
  Buffers Divide(const RunArguments& arguments) const;
  ptrdiff_t width() const { return ptrdiff_t{sizes.gate_count()} * sizes.cells; }
  int16_t* GateAt(const Buffers& b, int step, int row, Gate gate) const;
  Status Step(Context& context, const Buffers& b, int step) const;
  void AddRecurrent(const Buffers& b, int step, int row) const;
  void AddPeephole(const Buffers& b, int step, Gate gate) const;
  const int16_t* Activate(const Buffers& b, int step, int row, Gate gate) const;
  void UpdateCells(const Buffers& b, int step, int row) const;
  void MakeHidden(const Buffers& b, int step, int row, int8_t* hidden) const;
  Status Project(Context& context, const Buffers& b) const;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_RECURRENT_LSTM_INTEGER_H_
