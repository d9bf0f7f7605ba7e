// LSTM and UNIDIRECTIONAL_SEQUENCE_LSTM: sizes, and what their arithmetics share.
#ifndef INTAGLIO_NN_OPS_RECURRENT_LSTM_H_
#define INTAGLIO_NN_OPS_RECURRENT_LSTM_H_

#include <cstddef>
#include <vector>

#include "intaglio/nn/ops/recurrent/cell.h"
#include "intaglio/nn/ops/recurrent/operators.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

// In the order of TFLite's inputs.
enum Gate : size_t { kInputGate, kForgetGate, kCellGate, kOutputGate, kGates };

// The inputs of a layer.
namespace lstm {
constexpr size_t kWeights = 1;  // + gate
constexpr size_t kRecurrent = 5;
constexpr size_t kPeephole[] = {9, 10, kGates, 11};  // the cell gate has none
constexpr size_t kBias = 12;
constexpr size_t kProjection = 16;
constexpr size_t kProjectionBias = 17;
constexpr size_t kOutputState = 18;
constexpr size_t kCellState = 19;
constexpr size_t kNorm = 20;
}  // namespace lstm

struct LstmSizes {
  SequenceRows rows;
  int inputs = 0;
  int cells = 0;
  int outputs = 0;
  bool coupled = false;  // no input gate: 1 - forget
  bool peephole = false;
  bool norm = false;
  bool projection = false;

  std::vector<Gate> gates() const {
    if (coupled) return {kForgetGate, kCellGate, kOutputGate};
    return {kInputGate, kForgetGate, kCellGate, kOutputGate};
  }
  int gate_count() const { return coupled ? 3 : 4; }
  // Where a gate's sums lie in a row of all gates' sums.
  ptrdiff_t offset(Gate gate) const {
    return (static_cast<ptrdiff_t>(gate) - (coupled ? 1 : 0)) * cells;
  }
  // The inputs of these gates that start at `first`.
  std::vector<size_t> inputs_from(size_t first) const;
};

// Checks the shapes and presence of all inputs.
Result<LstmSizes> LstmSizesOf(const LayerView& layer);

const LstmCell& CellOf(const LayerView& layer);

// Products of a run.
int64_t CountLstmMacs(const LstmSizes& sizes);

// x is int8; x is float32.
Result<PreparedLayer> PrepareIntegerLstm(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareFloatLstm(const LayerView& layer, const LayerOptions& options);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_RECURRENT_LSTM_H_
