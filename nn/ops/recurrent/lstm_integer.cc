#include "intaglio/nn/ops/recurrent/lstm_integer.h"

#include <algorithm>
#include <cstring>

#include "intaglio/fixedpoint/inverse_sqrt.h"

namespace intaglio::nn {
namespace {

int16_t Saturate16(int64_t x) {
  return static_cast<int16_t>(std::clamp<int64_t>(x, -32768, 32767));
}
int8_t Saturate8(int64_t x) { return static_cast<int8_t>(std::clamp<int64_t>(x, -128, 127)); }

}  // namespace

Status GateProduct::Run(Context& context, const int8_t* x, int rows, void* to, Type type) const {
  const int depth = packed->rows();
  const int outputs = packed->cols();
  const ConstMatrix lhs{x, Type::kInt8, rows, depth, depth, Order::kRowMajor, 0};
  const MutableMatrix dst{to, type, rows, outputs, outputs, Order::kRowMajor};
  return Gemm(context, lhs, *packed, dst, pipeline);
}

void Normalization::Apply(int16_t* x, int count) const {
  int64_t sum = 0;
  int64_t squares = 0;
  for (int i = 0; i < count; ++i) {
    sum += x[i];
    squares += int32_t{x[i]} * x[i];
  }
  const auto mean = static_cast<int32_t>(sum * 1024 / count);
  const int64_t variance = squares * ((1 << 20) / count) - int64_t{mean} * mean;
  auto narrow = static_cast<int32_t>(variance / (1 << 20));
  if (narrow < 1) narrow = variance_guard;
  const InverseSqrtMultiplier inverse = TfliteInverseSqrt(narrow);
  const QuantizedMultiplier scale{inverse.multiplier, -inverse.right_shift};
  for (int i = 0; i < count; ++i) {
    const int32_t rescaled = Requantize(1024 * int32_t{x[i]} - mean, scale);
    const int64_t sum32 = Scalar::Add(Scalar::Mul(rescaled, weights[i]), bias[i]);
    const auto rounded = static_cast<int32_t>((sum32 > 0 ? sum32 + 512 : sum32 - 512) / 1024);
    x[i] = Saturate16(Requantize(rounded, multiplier));
  }
}

Status IntegerLstmRoutine::Run(const RunArguments& arguments) const {
  const auto* const x = static_cast<const int8_t*>(arguments.inputs[0]);
  const Buffers b = Divide(arguments);
  INTAGLIO_RETURN_IF_ERROR(
      of_x.Run(arguments.context, x, sizes.rows.count(), b.gates, Type::kInt16));
  for (int step = 0; step < sizes.rows.steps; ++step) {
    INTAGLIO_RETURN_IF_ERROR(Step(arguments.context, b, step));
  }
  return {};
}

IntegerLstmRoutine::Buffers IntegerLstmRoutine::DivideScratch(std::byte* scratch) const {
  const auto width = static_cast<size_t>(sizes.gate_count()) * static_cast<size_t>(sizes.cells);
  const auto batch = static_cast<size_t>(sizes.rows.batch);
  ScratchDivider divider(scratch);
  Buffers b{};
  b.gates = divider.Take<int16_t>(static_cast<size_t>(sizes.rows.count()) * width);
  b.recurrent = divider.Take<int32_t>(batch * width);
  b.hidden = divider.Take<int8_t>(batch * static_cast<size_t>(sizes.cells));
  b.bytes = divider.bytes();
  return b;
}

IntegerLstmRoutine::Buffers IntegerLstmRoutine::Divide(const RunArguments& arguments) const {
  Buffers b = DivideScratch(static_cast<std::byte*>(arguments.scratch));
  b.h = static_cast<int8_t*>(arguments.variables[lstm::kOutputState]);
  b.c = static_cast<int16_t*>(arguments.variables[lstm::kCellState]);
  b.out = static_cast<int8_t*>(arguments.outputs[0]);
  return b;
}

int16_t* IntegerLstmRoutine::GateAt(const Buffers& b, int step, int row, Gate gate) const {
  return b.gates + sizes.rows.row(step, row) * width() + sizes.offset(gate);
}

Status IntegerLstmRoutine::Step(Context& context, const Buffers& b, int step) const {
  INTAGLIO_RETURN_IF_ERROR(of_h.Run(context, b.h, sizes.rows.batch, b.recurrent, Type::kInt32));
  for (int row = 0; row < sizes.rows.batch; ++row) AddRecurrent(b, step, row);
  if (!sizes.coupled) AddPeephole(b, step, kInputGate);
  AddPeephole(b, step, kForgetGate);
  for (int row = 0; row < sizes.rows.batch; ++row) UpdateCells(b, step, row);
  AddPeephole(b, step, kOutputGate);
  int8_t* const hidden = sizes.projection ? b.hidden : b.h;
  for (int row = 0; row < sizes.rows.batch; ++row) {
    MakeHidden(b, step, row, hidden + ptrdiff_t{row} * sizes.cells);
  }
  if (sizes.projection) INTAGLIO_RETURN_IF_ERROR(Project(context, b));
  const auto outputs = static_cast<size_t>(sizes.outputs);
  for (int row = 0; row < sizes.rows.batch; ++row) {
    std::memcpy(b.out + sizes.rows.row(step, row) * sizes.outputs,
                b.h + ptrdiff_t{row} * sizes.outputs, outputs);
  }
  return {};
}

void IntegerLstmRoutine::AddRecurrent(const Buffers& b, int step, int row) const {
  int16_t* const gates = b.gates + sizes.rows.row(step, row) * width();
  const int32_t* const recurrent = b.recurrent + row * width();
  for (ptrdiff_t i = 0; i < width(); ++i) {
    gates[i] = Saturate16(int64_t{gates[i]} + recurrent[i]);
  }
}

// TFLite's kernel walks over as many cells as there are outputs: with a projection not all cells
// get their peephole, and, where time is the outer dimension, they do not even start where the
// rows do. Without a projection this is w_c * c.
void IntegerLstmRoutine::AddPeephole(const Buffers& b, int step, Gate gate) const {
  const Peephole& peephole = peepholes[gate];
  if (peephole.weights == nullptr) return;
  const ptrdiff_t stride = sizes.rows.time_major ? sizes.outputs : sizes.cells;
  for (int row = 0; row < sizes.rows.batch; ++row) {
    for (int i = 0; i < sizes.outputs; ++i) {
      const ptrdiff_t at = row * stride + i;
      int16_t& sum = GateAt(b, step, static_cast<int>(at / sizes.cells), gate)[at % sizes.cells];
      const int32_t product =
          Requantize(int32_t{peephole.weights[i]} * b.c[at], peephole.multiplier);
      sum = Saturate16(int64_t{sum} + product);
    }
  }
}

// The gate itself, from its sums.
const int16_t* IntegerLstmRoutine::Activate(const Buffers& b, int step, int row, Gate gate) const {
  int16_t* const x = GateAt(b, step, row, gate);
  if (norms[gate].weights != nullptr) norms[gate].Apply(x, sizes.cells);
  const Table16& table = gate == kCellGate ? *tanh_of_gate : *logistic;
  for (int i = 0; i < sizes.cells; ++i) x[i] = table(x[i]);
  return x;
}

void IntegerLstmRoutine::UpdateCells(const Buffers& b, int step, int row) const {
  const int16_t* const input = sizes.coupled ? nullptr : Activate(b, step, row, kInputGate);
  const int16_t* const forget = Activate(b, step, row, kForgetGate);
  const int16_t* const gate = Activate(b, step, row, kCellGate);
  int16_t* const c = b.c + ptrdiff_t{row} * sizes.cells;
  for (int i = 0; i < sizes.cells; ++i) {
    const int32_t in = sizes.coupled ? 32767 - forget[i] : input[i];
    const auto kept =
        static_cast<int16_t>(RoundingDivideByPowerOfTwo<Scalar>(int32_t{forget[i]} * c[i], 15));
    const auto added =
        static_cast<int16_t>(RoundingDivideByPowerOfTwo<Scalar>(in * gate[i], input_shift));
    c[i] = Saturate16(int64_t{kept} + added);
    if (cell_clip > 0) {
      c[i] = std::clamp(c[i], static_cast<int16_t>(-cell_clip), cell_clip);
    }
  }
}

void IntegerLstmRoutine::MakeHidden(const Buffers& b, int step, int row, int8_t* hidden) const {
  const int16_t* const output = Activate(b, step, row, kOutputGate);
  const int16_t* const c = b.c + ptrdiff_t{row} * sizes.cells;
  for (int i = 0; i < sizes.cells; ++i) {
    const int32_t product = int32_t{output[i]} * (*tanh_of_cell)(c[i]);
    hidden[i] = Saturate8(int64_t{Requantize(product, hidden_multiplier)} + hidden_zero_point);
  }
}

Status IntegerLstmRoutine::Project(Context& context, const Buffers& b) const {
  INTAGLIO_RETURN_IF_ERROR(projection.Run(context, b.hidden, sizes.rows.batch, b.h, Type::kInt8));
  if (projection_clip <= 0) return {};
  for (ptrdiff_t i = 0; i < ptrdiff_t{sizes.rows.batch} * sizes.outputs; ++i) {
    b.h[i] = std::clamp(b.h[i], static_cast<int8_t>(-projection_clip), projection_clip);
  }
  return {};
}

}  // namespace intaglio::nn
