// Recurrent operators.
#include <algorithm>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/onnx/curves.h"
#include "intaglio/nn/formats/onnx/rows.h"
#include "intaglio/nn/graph/printable.h"
#include "intaglio/nn/ops/recurrent/sequence.h"

namespace intaglio::nn::onnx {
namespace {

std::string InLowerCase(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  return name;
}

// Names may be written in any case.
const NamedCurve* FindCurve(const std::string& name) {
  const auto* const found = std::find_if(
      std::begin(kCurves), std::end(kCurves),
      [&](const NamedCurve& curve) { return InLowerCase(name) == InLowerCase(curve.name); });
  return found == std::end(kCurves) ? nullptr : found;
}

// The numbers of a list, one after the other, as the functions need them.
class Numbers {
 public:
  explicit Numbers(std::vector<float> numbers) : numbers_(std::move(numbers)) {}
  float Next(float otherwise) { return next_ < numbers_.size() ? numbers_[next_++] : otherwise; }

 private:
  std::vector<float> numbers_;
  size_t next_ = 0;
};

std::vector<CellFunction> ReadFunctions(Translation& t, const std::vector<std::string>& usual,
                                        size_t directions) {
  std::vector<std::string> names = t.Strings("activations");
  if (names.empty()) {
    for (size_t d = 0; d < directions; ++d) names.insert(names.end(), usual.begin(), usual.end());
  }
  if (names.size() != usual.size() * directions) {
    t.Invalid("has " + std::to_string(names.size()) + " activations; " +
              std::to_string(usual.size() * directions) + " are needed");
  }
  Numbers alphas(t.Floats("activation_alpha"));
  Numbers betas(t.Floats("activation_beta"));
  std::vector<CellFunction> functions;
  for (const std::string& name : names) {
    const NamedCurve* const curve = FindCurve(name);
    if (curve == nullptr) {
      t.Refuse("the activation '" + ShortName(name) + "' is not supported");
      return {};
    }
    functions.push_back({curve->curve, curve->parameters > 0 ? alphas.Next(curve->a) : curve->a,
                         curve->parameters > 1 ? betas.Next(curve->b) : curve->b});
  }
  return functions;
}

SequenceDirection ReadDirection(Translation& t) {
  const std::string direction = t.String("direction", "forward");
  if (direction == "reverse") return SequenceDirection::kReverse;
  if (direction == "bidirectional") return SequenceDirection::kBoth;
  if (direction != "forward") t.Invalid("there is no direction '" + ShortName(direction) + "'");
  return SequenceDirection::kForward;
}

// Weights [directions, rows, columns] as one matrix.
TensorId Stacked(Translation& t, TensorId weights, size_t directions) {
  const Shape shape = t.make.ShapeOf(weights);
  if (shape.size() != 3 || static_cast<size_t>(shape[0]) != directions) {
    t.Invalid("weights have the shape " + ToString(shape) + "; " + std::to_string(directions) +
              " matrices are needed");
  }
  const std::vector<int> rows = ToInts(t, {int64_t{shape[0]} * shape[1]}, "a dimension");
  return t.make.Reshaped(weights, {rows[0], shape[2]});
}

enum Input : size_t { kX, kW, kR, kBias, kLengths, kH, kC, kPeepholes };

// Weights are constants: the kernels want them packed.
void CheckConstantWeights(Translation& t) {
  for (const size_t i : {size_t{kW}, size_t{kR}, size_t{kBias}, size_t{kPeepholes}}) {
    if (!t.has(i) || t.make.IsConstant(t.in(i))) continue;
    t.make.FailUnknown({t.in(i)}, "weights '" + ShortName(t.node().input(static_cast<int>(i))) +
                                      "' are not constant; only constant ones are supported");
  }
}

// Scales and zero points, one for each direction or for each of its rows, as one for each row of
// all directions.
Quantization PerRow(Translation& t, size_t scale, size_t zero_point, size_t directions,
                    size_t rows) {
  const std::vector<float> scales = t.make.Floats(t.in(scale), "the scale of weights");
  std::vector<int64_t> zeros(scales.size(), 0);
  if (t.has(zero_point)) zeros = t.make.Ints(t.in(zero_point), "the zero point of weights");
  const size_t all = directions * rows;
  if (scales.size() != zeros.size() || (scales.size() != directions && scales.size() != all)) {
    t.Invalid("has " + std::to_string(scales.size()) + " scales and " +
              std::to_string(zeros.size()) + " zero points of weights");
  }
  Quantization q;
  for (size_t i = 0; i < all; ++i) {
    const size_t from = scales.size() == all ? i : i / rows;
    q.scales.push_back(scales[from]);
    q.zero_points.push_back(static_cast<int32_t>(zeros[from]));
  }
  return q;
}

// Weights [directions, columns, rows] of 8 bits as one matrix of all rows.
TensorId QuantizedRows(Translation& t, size_t input, size_t scale, size_t directions) {
  const TensorId turned = t.make.RankOf(t.in(input)) == 3
                              ? t.make.Transposed(t.make.Unquantized(t.in(input)), {0, 2, 1})
                              : t.in(input);
  const TensorId stacked = Stacked(t, turned, directions);
  const auto rows = static_cast<size_t>(t.make.ShapeOf(stacked)[0]) / directions;
  return t.make.Requantized(stacked, PerRow(t, scale, scale + 1, directions, rows));
}

// What stands for the weights of both kinds.
struct Weights {
  TensorId of_x = kNoTensor;
  TensorId of_h = kNoTensor;
};

Weights ReadWeights(Translation& t, size_t directions) {
  constexpr size_t kScaleOfX = 8;
  constexpr size_t kScaleOfH = 10;
  CheckConstantWeights(t);
  if (t.has(kScaleOfX)) {
    return {QuantizedRows(t, kW, kScaleOfX, directions),
            QuantizedRows(t, kR, kScaleOfH, directions)};
  }
  return {Stacked(t, t.in(kW), directions), Stacked(t, t.in(kR), directions)};
}

// Inputs whose first two axes are swapped where the batch comes first.
std::vector<TensorId> ReadSequenceInputs(Translation& t, const Weights& weights, bool batch_first) {
  const auto swapped = [&](TensorId id) {
    const bool swap = batch_first && id != kNoTensor && t.make.RankOf(id) == 3;
    return swap ? t.make.Transposed(id, {1, 0, 2}) : id;
  };
  std::vector<TensorId> inputs = {
      swapped(t.in(kX)),       weights.of_x,          weights.of_h,
      t.optional(kBias),       t.optional(kLengths),  swapped(t.optional(kH)),
      swapped(t.optional(kC)), t.optional(kPeepholes)};
  while (!inputs.empty() && inputs.back() == kNoTensor) inputs.pop_back();
  return inputs;
}

void ReadSequence(Translation& t, RecurrentSequence op, const std::vector<std::string>& usual) {
  LayerMaker& make = t.make;
  op.direction = ReadDirection(t);
  const size_t directions = op.direction == SequenceDirection::kBoth ? 2 : 1;
  op.functions = ReadFunctions(t, usual, directions);
  op.clip = t.Float("clip", 0);
  if (op.clip < 0) t.Invalid("clips at a number below 0");
  const bool batch_first = t.Flag("layout", false);
  const Weights weights = ReadWeights(t, directions);
  const int64_t units = make.ShapeOf(weights.of_h)[1];
  if (t.Int("hidden_size", units) != units) {
    return t.Invalid("has weights of " + std::to_string(units) + " units, but another hidden_size");
  }
  const std::vector<TensorId> inputs = ReadSequenceInputs(t, weights, batch_first);
  const bool is_lstm = op.cell == SequenceCell::kLstm;
  const std::vector<TensorId> y =
      make.AddMany(std::move(op), inputs, std::vector<Type>(is_lstm ? 3 : 2, Type::kFloat32));
  for (size_t i = 0; i < y.size(); ++i) {
    if (!t.wants(i)) continue;
    const std::vector<int> order = i == 0 ? std::vector{2, 0, 1, 3} : std::vector{1, 0, 2};
    t.Set(i, batch_first ? make.Transposed(y[i], order) : y[i]);
  }
}

void ReadLstm(Translation& t) {
  RecurrentSequence op;
  op.coupled = t.Flag("input_forget", false);
  ReadSequence(t, op, {"sigmoid", "tanh", "tanh"});
}

void ReadGru(Translation& t) {
  RecurrentSequence op;
  op.cell = SequenceCell::kGru;
  op.reset_after = t.Flag("linear_before_reset", false);
  ReadSequence(t, op, {"sigmoid", "tanh"});
}

void ReadRnn(Translation& t) {
  RecurrentSequence op;
  op.cell = SequenceCell::kRnn;
  ReadSequence(t, op, {"tanh"});
}

constexpr const char* kRemark = "constant weights";

constexpr OnnxRow kRows[] = {
    {"DynamicQuantizeLSTM", ReadLstm, "float32", 1, kEver, "constant weights, int8 or uint8",
     kMicrosoft},
    {"GRU", ReadGru, "float32", 1, kEver, kRemark},
    {"LSTM", ReadLstm, "float32", 1, kEver, kRemark},
    {"RNN", ReadRnn, "float32", 1, kEver, kRemark},
};

}  // namespace

std::span<const OnnxRow> RecurrentRows() { return kRows; }

}  // namespace intaglio::nn::onnx
