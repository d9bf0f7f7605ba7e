// Sequences of recurrent cells in .onnx files.
#include <algorithm>
#include <string>
#include <vector>

#include "intaglio/nn/formats/onnx/curves.h"
#include "intaglio/nn/formats/onnx/write_rows.h"
#include "intaglio/nn/ops/recurrent/sequence.h"

namespace intaglio::nn::onnx {
namespace {

// The functions and their parameters, one list for each.
void AddFunctions(const RecurrentSequence& op, Attributes& attributes) {
  std::vector<std::string> names;
  std::vector<float> alphas;
  std::vector<float> betas;
  for (const CellFunction& function : op.functions) {
    const auto* const curve =
        std::find_if(std::begin(kCurves), std::end(kCurves),
                     [&](const NamedCurve& named) { return named.curve == function.curve; });
    names.push_back(curve->name);
    if (curve->parameters > 0) alphas.push_back(function.a);
    if (curve->parameters > 1) betas.push_back(function.b);
  }
  attributes.push_back({"activations", names});
  if (!alphas.empty()) attributes.push_back({"activation_alpha", alphas});
  if (!betas.empty()) attributes.push_back({"activation_beta", betas});
}

std::string DirectionOf(SequenceDirection direction) {
  if (direction == SequenceDirection::kBoth) return "bidirectional";
  return direction == SequenceDirection::kReverse ? "reverse" : "forward";
}

// The weights as one matrix for each direction.
Tensor Apart(const Tensor& weights, int directions) {
  Tensor apart = weights;
  apart.shape = {directions, weights.shape[0] / directions, weights.shape[1]};
  apart.quantization = {};
  return apart;
}

// Scales and zero points of weights: one of each for every direction, or for all rows.
void AppendParameters(LayerWriter& w, const Tensor& weights, int directions,
                      std::vector<Value>& inputs) {
  Quantization q = weights.quantization;
  Shape shape = {directions, weights.shape[0] / directions};
  if (!q.per_axis()) {
    shape = {directions};
    q.scales.assign(static_cast<size_t>(directions), q.scales[0]);
    q.zero_points.assign(static_cast<size_t>(directions), q.zero_points[0]);
  }
  std::vector<uint8_t> zero_points;
  for (const int32_t zero_point : q.zero_points) {
    zero_points.push_back(static_cast<uint8_t>(zero_point));
  }
  inputs.push_back(
      w.nodes().Constant(Type::kFloat32, shape, q.scales.data(), q.scales.size() * sizeof(float)));
  inputs.push_back(w.nodes().Constant(weights.type, shape, zero_points.data(), zero_points.size()));
}

bool HasBytes(const LayerWriter& w) { return IsQuantized(w.input(1)); }

// In onnxruntime's own operator the rows are columns.
Value Weights(LayerWriter& w, size_t i, int directions) {
  const Tensor apart = Apart(w.input(i), directions);
  return w.nodes().Constant(HasBytes(w) ? Permuted(apart, {0, 2, 1}) : apart);
}

// What the cells have besides functions.
const char* NodeOf(const RecurrentSequence& op, Attributes& attributes) {
  if (op.cell == SequenceCell::kRnn) return "RNN";
  if (op.cell == SequenceCell::kGru) {
    attributes.push_back({"linear_before_reset", int64_t{op.reset_after}});
    return "GRU";
  }
  attributes.push_back({"input_forget", int64_t{op.coupled}});
  return "LSTM";
}

void Write(const RecurrentSequence& op, LayerWriter& w) {
  constexpr size_t kPeepholes = 7;
  const int directions = op.direction == SequenceDirection::kBoth ? 2 : 1;
  Attributes attributes = {{"direction", DirectionOf(op.direction)},
                           {"hidden_size", int64_t{w.input(2).shape[1]}}};
  AddFunctions(op, attributes);
  if (op.clip > 0) attributes.push_back({"clip", op.clip});
  const char* name = NodeOf(op, attributes);
  std::vector<Value> inputs;
  for (size_t i = 0; i < w.input_count(); ++i) {
    const bool is_matrix = i == 1 || i == 2;
    inputs.push_back(is_matrix ? Weights(w, i, directions) : w.OptionalNumbers(i));
  }
  if (HasBytes(w)) {
    if (op.cell != SequenceCell::kLstm)
      return w.Refuse("a cell other than LSTM with weights of 8 bits");
    name = "com.microsoft.DynamicQuantizeLSTM";
    inputs.resize(kPeepholes + 1, kNoValue);
    AppendParameters(w, w.input(1), directions, inputs);
    AppendParameters(w, w.input(2), directions, inputs);
  }
  const size_t outputs = w.layer().layer().outputs.size();
  const std::vector<Value> made = w.nodes().Nodes(name, inputs, outputs, attributes);
  for (size_t i = 0; i < outputs; ++i) w.SetNumbers(made[i], Order::kOurs, i);
}

constexpr WriteRow kRows[] = {
    {&RecurrentSequence::kRow, WriteBy<RecurrentSequence, Write>},
};

}  // namespace

std::span<const WriteRow> RecurrentWriteRows() { return kRows; }

}  // namespace intaglio::nn::onnx
