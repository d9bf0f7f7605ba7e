#include "intaglio/nn/ops/recurrent/lstm.h"

#include <cmath>
#include <string>
#include <utility>
#include <variant>

#include "intaglio/nn/graph/cost.h"
#include "intaglio/nn/ops/linear/linear.h"
#include "intaglio/nn/ops/recurrent/operators.h"
#include "intaglio/nn/ops/support/rows.h"

namespace intaglio::nn {
namespace {

bool IsSequence(const LayerView& layer) {
  return layer.layer().op.Is<UnidirectionalSequenceLstm>();
}

// An optional input that should be there is, and one that should not is not.
Status CheckPresence(const LayerView& layer, size_t i, bool present, const Shape& shape) {
  if (present) return CheckConstant(layer, i, shape);
  if (!layer.has_input(i)) return {};
  return layer.Invalid("has input " + std::to_string(i) + " '" + layer.input(i).name +
                       "', but not those that belong to it");
}

Status CheckGates(const LayerView& layer, const LstmSizes& sizes) {
  const Shape row = {sizes.cells};
  for (size_t gate = 0; gate < kGates; ++gate) {
    const bool present = gate != kInputGate || !sizes.coupled;
    INTAGLIO_RETURN_IF_ERROR(
        CheckPresence(layer, lstm::kWeights + gate, present, {sizes.cells, sizes.inputs}));
    INTAGLIO_RETURN_IF_ERROR(
        CheckPresence(layer, lstm::kRecurrent + gate, present, {sizes.cells, sizes.outputs}));
    INTAGLIO_RETURN_IF_ERROR(CheckPresence(layer, lstm::kBias + gate, present, row));
    INTAGLIO_RETURN_IF_ERROR(CheckPresence(layer, lstm::kNorm + gate, present && sizes.norm, row));
    if (gate == kCellGate) continue;
    INTAGLIO_RETURN_IF_ERROR(
        CheckPresence(layer, lstm::kPeephole[gate], present && sizes.peephole, row));
  }
  return {};
}

Status CheckProjection(const LayerView& layer, const LstmSizes& sizes) {
  INTAGLIO_RETURN_IF_ERROR(
      CheckPresence(layer, lstm::kProjection, sizes.projection, {sizes.outputs, sizes.cells}));
  const bool bias = sizes.projection && layer.has_input(lstm::kProjectionBias);
  INTAGLIO_RETURN_IF_ERROR(CheckPresence(layer, lstm::kProjectionBias, bias, {sizes.outputs}));
  if (sizes.projection || sizes.cells == sizes.outputs) return {};
  return layer.Invalid("has " + std::to_string(sizes.cells) + " cells and " +
                       std::to_string(sizes.outputs) + " outputs without a projection");
}

Status CheckClips(const LayerView& layer) {
  for (const float clip : {CellOf(layer).cell_clip, CellOf(layer).projection_clip}) {
    if (std::isfinite(clip) && clip >= 0) continue;
    return layer.Invalid("has the clipping bound " + std::to_string(clip));
  }
  return {};
}

// The extents that all other shapes are held against.
Result<LstmSizes> ReadSizes(const LayerView& layer) {
  const auto* const sequence = layer.layer().op.As<UnidirectionalSequenceLstm>();
  const Result<SequenceRows> rows =
      RowsOf(layer, sequence != nullptr, sequence != nullptr && sequence->time_major);
  if (!rows.ok()) return rows.status();
  if (layer.input_count() != 20 && layer.input_count() != 24) {
    return layer.Invalid("has " + std::to_string(layer.input_count()) +
                         " inputs; 20 or 24 are expected");
  }
  const size_t recurrent = lstm::kRecurrent + kOutputGate;
  if (!layer.has_input(recurrent)) return layer.Invalid("input 8 is absent");
  const Shape& shape = layer.input(recurrent).shape;
  if (shape.size() == 1) return layer.Unsupported("recurrent weights that are diagonal");
  if (shape.size() != 2 || shape[0] < 1 || shape[1] < 1 || layer.input(0).shape.back() < 1) {
    return layer.Invalid("an input of " + ToString(layer.input(0).shape) +
                         " and recurrent weights of " + ToString(shape) + " make no cell");
  }
  LstmSizes sizes;
  sizes.rows = *rows;
  sizes.inputs = layer.input(0).shape.back();
  sizes.cells = shape[0];
  sizes.outputs = shape[1];
  sizes.coupled = !layer.has_input(lstm::kWeights + kInputGate);
  sizes.peephole = layer.has_input(lstm::kPeephole[kOutputGate]);
  sizes.norm = layer.has_input(lstm::kNorm + kForgetGate);
  sizes.projection = layer.has_input(lstm::kProjection);
  return sizes;
}

}  // namespace

std::vector<size_t> LstmSizes::inputs_from(size_t first) const {
  std::vector<size_t> all;
  for (const Gate gate : gates()) all.push_back(first + gate);
  return all;
}

const LstmCell& CellOf(const LayerView& layer) {
  return IsSequence(layer) ? layer.op<UnidirectionalSequenceLstm>().cell : layer.op<Lstm>().cell;
}

Result<LstmSizes> LstmSizesOf(const LayerView& layer) {
  const Result<LstmSizes> sizes = ReadSizes(layer);
  if (!sizes.ok()) return sizes.status();
  INTAGLIO_RETURN_IF_ERROR(CheckClips(layer));
  INTAGLIO_RETURN_IF_ERROR(CheckGates(layer, *sizes));
  INTAGLIO_RETURN_IF_ERROR(CheckProjection(layer, *sizes));
  const int64_t batch = sizes->rows.batch;
  INTAGLIO_RETURN_IF_ERROR(CheckVariable(layer, lstm::kOutputState, batch * sizes->outputs));
  INTAGLIO_RETURN_IF_ERROR(CheckVariable(layer, lstm::kCellState, batch * sizes->cells));
  INTAGLIO_RETURN_IF_ERROR(CheckSizes(layer, sizes->rows.count(), int64_t{4} * sizes->cells));
  return *sizes;
}

int64_t CountLstmMacs(const LstmSizes& sizes) {
  const int64_t depth = int64_t{sizes.gate_count()} * (sizes.inputs + sizes.outputs) +
                        (sizes.projection ? sizes.outputs : 0);
  return CountMacs({sizes.rows.count(), sizes.cells}, depth);
}

namespace {

ShapesResult InferLstm(const LayerView& layer) {
  const Result<LstmSizes> sizes = LstmSizesOf(layer);
  if (!sizes.ok()) return sizes.status();
  Shape shape = layer.input(0).shape;
  shape.back() = sizes->outputs;
  return std::vector<Shape>{shape};
}

constexpr size_t kOutputWeights = lstm::kWeights + kOutputGate;

constexpr Candidate kLstmWays[] = {
    {"lstm", PrepareIntegerLstm, SetOf(Type::kInt8)},
    {"lstm-int8", PrepareFloatLstm, kFloat, NeedsInt8Weights<kOutputWeights>},
    {"lstm", PrepareFloatLstm, kFloat, RefusesInt8Weights<kOutputWeights>}};

}  // namespace

constexpr char kLstmRemark[] =
    "int8 with int16 cells; float32 also with int8 weights; the basic form of uint8 and float32";

constinit const OperatorRow Lstm::kRow = {.name = "LSTM",
                                          .min_inputs = 1,
                                          .max_inputs = 24,
                                          .types = SetOf(Type::kInt8) | kFloat,
                                          .infer = InferLstm,
                                          .candidates = kLstmWays,
                                          .remark = kLstmRemark,
                                          .parameters = kAllButFirst,
                                          .packing = {.matrices = RowsAsChannels}};

constinit const OperatorRow UnidirectionalSequenceLstm::kRow = {
    .name = "UNIDIRECTIONAL_SEQUENCE_LSTM",
    .min_inputs = 1,
    .max_inputs = 24,
    .types = SetOf(Type::kInt8) | kFloat,
    .infer = InferLstm,
    .candidates = kLstmWays,
    .remark = "int8 with int16 cells; float32 also with int8 weights; not diagonal",
    .parameters = kAllButFirst,
    .packing = {.matrices = RowsAsChannels}};

}  // namespace intaglio::nn
