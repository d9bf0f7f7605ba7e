// One product makes the sums of x for all steps. Then each step multiplies the last h and updates
// the states, which live in the outputs. One thread takes one direction after the other, so that
// caches hold the weights of one alone. Two threads take one each, so that they wait for each other
// once. More threads share each step of both directions.
#include "intaglio/nn/ops/recurrent/sequence.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/graph/cost.h"
#include "intaglio/nn/ops/linear/linear.h"
#include "intaglio/nn/ops/recurrent/cell.h"
#include "intaglio/nn/ops/recurrent/directed_product.h"
#include "intaglio/nn/ops/recurrent/sequence_cell.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/parallel.h"
#include "intaglio/nn/ops/support/rows.h"

namespace intaglio::nn {
namespace {

enum Input : size_t { kX, kWeightsOfX, kWeightsOfH, kBiases, kLengths, kH, kC, kPeepholes };
enum Output : size_t { kAllH, kLastH, kLastC };

struct SequenceSizes {
  int steps = 0;
  int batch = 0;
  int inputs = 0;
  int units = 0;
  int gates = 0;
  int directions = 1;

  int rows() const { return gates * units; }  // of W and R, per direction
  int samples() const { return steps * batch; }
  ptrdiff_t states() const { return ptrdiff_t{directions} * batch * units; }
};

int GatesOf(SequenceCell cell) {
  return cell == SequenceCell::kRnn ? 1 : cell == SequenceCell::kGru ? 3 : 4;
}

// Functions of one direction.
size_t FunctionsOf(SequenceCell cell) {
  return cell == SequenceCell::kRnn ? 1 : cell == SequenceCell::kGru ? 2 : 3;
}

Status CheckShape(const LayerView& layer, size_t i, const Shape& shape) {
  if (!layer.has_input(i) || layer.input(i).shape == shape) return {};
  return layer.Invalid("input " + std::to_string(i) + " '" + layer.input(i).name +
                       "' has the shape " + ToString(layer.input(i).shape) + ", not " +
                       ToString(shape));
}

Status CheckInputs(const LayerView& layer, const SequenceSizes& s) {
  const int all = s.directions * s.rows();
  INTAGLIO_RETURN_IF_ERROR(CheckConstant(layer, kWeightsOfX, {all, s.inputs}));
  INTAGLIO_RETURN_IF_ERROR(CheckConstant(layer, kWeightsOfH, {all, s.units}));
  if (layer.has_input(kBiases)) {
    INTAGLIO_RETURN_IF_ERROR(CheckConstant(layer, kBiases, {s.directions, 2 * s.rows()}));
  }
  INTAGLIO_RETURN_IF_ERROR(CheckShape(layer, kLengths, {s.batch}));
  INTAGLIO_RETURN_IF_ERROR(CheckShape(layer, kH, {s.directions, s.batch, s.units}));
  const bool is_lstm = layer.op<RecurrentSequence>().cell == SequenceCell::kLstm;
  if (!is_lstm && (layer.has_input(kC) || layer.has_input(kPeepholes))) {
    return layer.Invalid("has inputs that only an LSTM has");
  }
  INTAGLIO_RETURN_IF_ERROR(CheckShape(layer, kC, {s.directions, s.batch, s.units}));
  if (!layer.has_input(kPeepholes)) return {};
  return CheckConstant(layer, kPeepholes, {s.directions, 3 * s.units});
}

Result<SequenceSizes> SizesOf(const LayerView& layer) {
  const RecurrentSequence& op = layer.op<RecurrentSequence>();
  const Shape& x = layer.input(kX).shape;
  const Shape& recurrent = layer.input(kWeightsOfH).shape;
  if (x.size() != 3 || recurrent.size() != 2 || x[2] < 1 || recurrent[1] < 1) {
    return layer.Invalid("an input of " + ToString(x) + " and weights of h of " +
                         ToString(recurrent) + " make no sequences");
  }
  SequenceSizes s;
  s.steps = x[0];
  s.batch = x[1];
  s.inputs = x[2];
  s.units = recurrent[1];
  s.gates = GatesOf(op.cell);
  s.directions = op.direction == SequenceDirection::kBoth ? 2 : 1;
  if (op.functions.size() != FunctionsOf(op.cell) * static_cast<size_t>(s.directions)) {
    return layer.Invalid("has " + std::to_string(op.functions.size()) + " functions");
  }
  // So the numbers of rows and sums fit int.
  const int64_t columns = int64_t{s.directions} * s.gates * s.units;
  INTAGLIO_RETURN_IF_ERROR(CheckSizes(layer, std::max(1, s.batch), columns));
  INTAGLIO_RETURN_IF_ERROR(CheckSizes(layer, int64_t{s.steps} * s.batch, columns));
  INTAGLIO_RETURN_IF_ERROR(CheckInputs(layer, s));
  return s;
}

struct Products {
  std::unique_ptr<const DirectedProduct> of_x;
  std::unique_ptr<const DirectedProduct> of_h;
  // For kGru without reset_after it makes the gate n, and of_h the others. Else it is null.
  std::unique_ptr<const DirectedProduct> of_reset_h;
};

class SequenceRoutine final : public Routine {
 public:
  SequenceRoutine(RecurrentSequence o, SequenceSizes s, Products p)
      : op(std::move(o)), sizes(s), products(std::move(p)) {}

  Status Run(const RunArguments& arguments) const override {
    const State state = StateOf(arguments);
    const Result<int> steps = CountSteps(state);
    if (!steps.ok()) return steps.status();
    Start(arguments, state);
    const ptrdiff_t rows = sizes.rows();
    INTAGLIO_RETURN_IF_ERROR(products.of_x->Multiply(
        arguments.context, {0, sizes.directions},
        {static_cast<const float*>(arguments.inputs[kX]), 0, sizes.inputs}, *steps * sizes.batch,
        {state.of_x, rows, rows * sizes.directions}, state.product));
    if (RunsApart(arguments.context.threads())) {
      return RunApart(arguments.context, state, *steps);
    }
    return RunSteps(arguments.context, state, {0, sizes.directions}, *steps);
  }

  size_t ScratchBytes() const { return Divide(nullptr).bytes; }

  const RecurrentSequence op;
  const SequenceSizes sizes;
  const Products products;
  const float* peepholes = nullptr;
  const FloatLoops* floats = nullptr;

 private:
  struct State {
    float* of_x;     // [steps, batch, directions, rows]
    float* of_h;     // [directions, batch, rows]
    float* reset_h;  // [directions, batch, units], as h and c
    std::byte* product;
    size_t bytes;
    const int32_t* lengths;  // null: all of `steps`
    float* all_h;
    float* h;
    float* c;
  };

  Status RunSteps(Context& context, const State& state, Directions directions, int steps) const {
    for (int step = 0; step < steps; ++step) {
      INTAGLIO_RETURN_IF_ERROR(Step(context, state, directions, step));
    }
    return {};
  }

  bool RunsApart(int threads) const { return sizes.directions == 2 && threads <= 2; }

  // One direction, then the other, or each on a thread of its own.
  Status RunApart(Context& context, const State& state, int steps) const {
    Status statuses[2];
    if (context.threads() > 1) {
      Context* const contexts[2] = {&context.ForTask(0), &context.ForTask(1)};
      const auto run = [&](int d) {
        State own = state;
        own.product += static_cast<size_t>(d) * StepScratchBytes();
        statuses[d] = RunSteps(*contexts[d], own, {d, d + 1}, steps);
      };
      context.Run(2, std::ref(run));  // by reference: a copy would be allocated
    } else {
      for (int d = 0; d < 2; ++d) statuses[d] = RunSteps(context, state, {d, d + 1}, steps);
    }
    return statuses[0].ok() ? statuses[1] : statuses[0];
  }

  // What the products of one direction need, in whole cache lines.
  size_t StepScratchBytes() const {
    constexpr size_t kLine = 64;
    size_t bytes = products.of_h->ScratchBytes(sizes.batch);
    if (products.of_reset_h) {
      bytes = std::max(bytes, products.of_reset_h->ScratchBytes(sizes.batch));
    }
    return (bytes + kLine - 1) / kLine * kLine;
  }

  State Divide(std::byte* scratch) const {
    ScratchDivider divider(scratch);
    const auto rows = static_cast<size_t>(sizes.directions * sizes.rows());
    State state{};
    state.of_x = divider.Take<float>(static_cast<size_t>(sizes.samples()) * rows);
    state.of_h = divider.Take<float>(static_cast<size_t>(sizes.batch) * rows);
    if (products.of_reset_h)
      state.reset_h = divider.Take<float>(static_cast<size_t>(sizes.states()));
    const auto directions = static_cast<size_t>(sizes.directions);
    state.product = divider.Take<std::byte>(
        std::max(products.of_x->ScratchBytes(sizes.samples()), directions * StepScratchBytes()));
    state.bytes = divider.bytes();
    return state;
  }

  State StateOf(const RunArguments& arguments) const {
    State state = Divide(static_cast<std::byte*>(arguments.scratch));
    if (arguments.inputs.size() > kLengths) {
      state.lengths = static_cast<const int32_t*>(arguments.inputs[kLengths]);
    }
    state.all_h = static_cast<float*>(arguments.outputs[kAllH]);
    state.h = static_cast<float*>(arguments.outputs[kLastH]);
    if (op.cell == SequenceCell::kLstm) state.c = static_cast<float*>(arguments.outputs[kLastC]);
    return state;
  }

  int LengthOf(const State& state, ptrdiff_t b) const {
    return state.lengths == nullptr ? sizes.steps : state.lengths[b];
  }

  // The length of the longest sequence.
  Result<int> CountSteps(const State& state) const {
    int steps = 0;
    for (ptrdiff_t b = 0; b < sizes.batch; ++b) {
      const int length = LengthOf(state, b);
      if (length < 0 || length > sizes.steps) {
        return InvalidArgument("a sequence has the length " + std::to_string(length) + "; 0 to " +
                               std::to_string(sizes.steps) + " are possible");
      }
      steps = std::max(steps, length);
    }
    return steps;
  }

  ptrdiff_t RowOfH(ptrdiff_t d, ptrdiff_t b) const { return (d * sizes.batch + b) * sizes.units; }
  ptrdiff_t RowOfAllH(ptrdiff_t t, ptrdiff_t d, ptrdiff_t b) const {
    return ((t * sizes.directions + d) * sizes.batch + b) * sizes.units;
  }

  // The first states, and the zeros behind the ends.
  void Start(const RunArguments& arguments, const State& state) const {
    SetFirst(arguments, kH, state.h);
    if (state.c != nullptr) SetFirst(arguments, kC, state.c);
    for (ptrdiff_t b = 0; b < sizes.batch; ++b) {
      const int length = LengthOf(state, b);
      for (ptrdiff_t d = 0; d < sizes.directions; ++d) {
        for (ptrdiff_t t = length; t < sizes.steps; ++t) {
          std::fill_n(state.all_h + RowOfAllH(t, d, b), sizes.units, 0.0f);
        }
        if (length > 0) continue;
        std::fill_n(state.h + RowOfH(d, b), sizes.units, 0.0f);
        if (state.c != nullptr) std::fill_n(state.c + RowOfH(d, b), sizes.units, 0.0f);
      }
    }
  }

  void SetFirst(const RunArguments& arguments, size_t input, float* to) const {
    const bool is_given = input < arguments.inputs.size() && arguments.inputs[input] != nullptr;
    if (!is_given) {
      std::fill_n(to, sizes.states(), 0.0f);
    } else {
      std::copy_n(static_cast<const float*>(arguments.inputs[input]), sizes.states(), to);
    }
  }

  Status Step(Context& context, const State& state, Directions directions, int step) const {
    const ptrdiff_t units = sizes.units;
    const ptrdiff_t rows = sizes.rows();
    const DirectedMatrix<float> sums{state.of_h, sizes.batch * rows, rows};
    INTAGLIO_RETURN_IF_ERROR(products.of_h->Multiply(context, directions,
                                                     {state.h, sizes.batch * units, units},
                                                     sizes.batch, sums, state.product));
    if (products.of_reset_h) {
      ForUnits(
          context, state, directions, step,
          [](const CellParameters& cell, const CellStep& at, float*) { ResetState(cell, at); });
      const DirectedMatrix<float> n{sums.data + 2 * units, sums.direction, sums.row};
      INTAGLIO_RETURN_IF_ERROR(products.of_reset_h->Multiply(
          context, directions, {state.reset_h, sizes.batch * units, units}, sizes.batch, n,
          state.product));
    }
    ForUnits(context, state, directions, step,
             [](const CellParameters& cell, const CellStep& at, float* all_h) {
               UpdateState(cell, at);
               std::copy(at.h + at.begin, at.h + at.end, all_h + at.begin);
             });
    return {};
  }

  // Calls f(cell, at, its row of all h) for all units of the step, in parts that threads share.
  template <class Function>
  void ForUnits(Context& context, const State& state, Directions directions, int step,
                const Function& f) const {
    constexpr ptrdiff_t kLeastParts = 4;  // of a thread
    const bool is_alone = context.threads() == 1;
    const ptrdiff_t part = is_alone ? sizes.units : 64;
    const ptrdiff_t parts = (sizes.units + part - 1) / part;
    const ptrdiff_t count = parts * directions.count() * sizes.batch;
    const auto run = [&](ptrdiff_t begin, ptrdiff_t end) {
      for (ptrdiff_t i = begin; i < end; ++i) {
        const ptrdiff_t b = i / parts % sizes.batch;
        const ptrdiff_t d = directions.begin + i / parts / sizes.batch;
        const int length = LengthOf(state, b);
        if (step >= length) continue;
        const ptrdiff_t t = IsReverse(d) ? length - 1 - step : step;
        CellStep at = StepOf(state, t, d, b);
        at.begin = i % parts * part;
        at.end = std::min<ptrdiff_t>(at.begin + part, sizes.units);
        f(CellOf(d), at, state.all_h + RowOfAllH(t, d, b));
      }
    };
    if (is_alone) return run(0, count);
    ForParts(context, count, kLeastParts, run);
  }

  bool IsReverse(ptrdiff_t d) const {
    return d == 1 || op.direction == SequenceDirection::kReverse;
  }

  CellParameters CellOf(ptrdiff_t d) const {
    CellParameters cell;
    cell.floats = floats;
    cell.op = &op;
    cell.units = sizes.units;
    cell.functions = op.functions.data() + static_cast<size_t>(d) * FunctionsOf(op.cell);
    if (peepholes != nullptr) cell.peepholes = peepholes + d * 3 * sizes.units;
    return cell;
  }

  CellStep StepOf(const State& state, ptrdiff_t t, ptrdiff_t d, ptrdiff_t b) const {
    const ptrdiff_t rows = sizes.rows();
    CellStep at;
    at.of_x = state.of_x + ((t * sizes.batch + b) * sizes.directions + d) * rows;
    at.of_h = state.of_h + (d * sizes.batch + b) * rows;
    at.h = state.h + RowOfH(d, b);
    if (state.c != nullptr) at.c = state.c + RowOfH(d, b);
    if (state.reset_h != nullptr) at.reset_h = state.reset_h + RowOfH(d, b);
    return at;
  }
};

constexpr int kNewGate = 2;  // of kGru

// Gate n of kGru multiplies R h by r, so its product with h has a bias of its own.
bool HasOwnBias(const RecurrentSequence& op, int gate) {
  return op.cell == SequenceCell::kGru && op.reset_after && gate == kNewGate;
}

// The biases of `count` gates from `first` on, in each direction: bias(w, r, gate) with those of
// both products.
template <class Function>
std::vector<float> BiasesOf(const LayerView& layer, const SequenceSizes& s, int first, int count,
                            const Function& bias) {
  const auto all = static_cast<size_t>(s.directions) * static_cast<size_t>(count * s.units);
  std::vector<float> biases(all, 0.0f);
  if (!layer.has_input(kBiases)) return biases;
  const auto* given = static_cast<const float*>(layer.input(kBiases).data);
  float* to = biases.data();
  for (int d = 0; d < s.directions; ++d, given += 2 * s.rows()) {
    for (int row = first * s.units; row < (first + count) * s.units; ++row) {
      *to++ = bias(given[row], given[s.rows() + row], row / s.units);
    }
  }
  return biases;
}

Status CheckTypes(const LayerView& layer) {
  const Type weights = layer.input(kWeightsOfX).type;
  if (weights != Type::kFloat32 && (SetOf(weights) & kEightBit) == 0) {
    return layer.Unsupported(std::string("weights of ") + NameOf(weights));
  }
  for (size_t i = 0; i < layer.input_count(); ++i) {
    if (!layer.has_input(i)) continue;
    const bool is_weight = i == kWeightsOfX || i == kWeightsOfH;
    const Type type = is_weight ? weights : i == kLengths ? Type::kInt32 : Type::kFloat32;
    INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.input(i), type));
  }
  for (size_t i = 0; i < layer.layer().outputs.size(); ++i) {
    INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.output(i), Type::kFloat32));
  }
  return {};
}

Result<Products> MakeProducts(const LayerView& layer, const SequenceSizes& s,
                              const LayerOptions& options) {
  const RecurrentSequence& op = layer.op<RecurrentSequence>();
  const bool is_float = layer.input(kWeightsOfX).type == Type::kFloat32;
  Status status;
  const auto make = [&](size_t input, int first, int count, const auto& bias) {
    const DirectedRows rows = {input, s.directions, s.rows(), first * s.units, count * s.units};
    const std::vector<float> biases = BiasesOf(layer, s, first, count, bias);
    MadeProduct made = is_float ? MakeFloatProduct(layer, rows, biases, options)
                                : MakeQuantizingProduct(layer, rows, biases, options);
    if (made.ok()) return std::move(*made);
    status = made.status();
    return std::unique_ptr<const DirectedProduct>();
  };
  const auto of_both = [&](float w, float r, int gate) { return HasOwnBias(op, gate) ? w : w + r; };
  const auto own = [&](float, float r, int gate) { return HasOwnBias(op, gate) ? r : 0.0f; };
  const bool resets_before = op.cell == SequenceCell::kGru && !op.reset_after;
  Products products;
  products.of_x = make(kWeightsOfX, 0, s.gates, of_both);
  products.of_h = make(kWeightsOfH, 0, resets_before ? kNewGate : s.gates, own);
  if (resets_before) products.of_reset_h = make(kWeightsOfH, kNewGate, 1, own);
  if (!status.ok()) return status;
  return products;
}

Result<PreparedLayer> PrepareSequence(const LayerView& layer, const LayerOptions& options) {
  const Result<SequenceSizes> sizes = SizesOf(layer);
  if (!sizes.ok()) return sizes.status();
  INTAGLIO_RETURN_IF_ERROR(CheckTypes(layer));
  Result<Products> products = MakeProducts(layer, *sizes, options);
  if (!products.ok()) return products.status();
  PreparedLayer prepared;
  for (const auto* const product : {&products->of_x, &products->of_h, &products->of_reset_h}) {
    if (*product != nullptr) prepared.constant_bytes += (*product)->constant_bytes;
  }
  if (layer.input(kWeightsOfX).type != Type::kFloat32) prepared.kernel = options.kernel;
  const auto routine = std::make_shared<SequenceRoutine>(layer.op<RecurrentSequence>(), *sizes,
                                                         std::move(*products));
  routine->floats = &FloatLoopsOf(options.kernel);
  if (layer.has_input(kPeepholes)) {
    routine->peepholes = static_cast<const float*>(layer.input(kPeepholes).data);
  }
  prepared.macs = CountMacs({sizes->samples(), sizes->directions * sizes->rows()},
                            int64_t{sizes->inputs} + sizes->units);
  prepared.scratch_bytes = routine->ScratchBytes();
  prepared.packed_inputs = 1 << kWeightsOfX | 1 << kWeightsOfH;
  prepared.routine = routine;
  return prepared;
}

ShapesResult InferSequence(const LayerView& layer) {
  const Result<SequenceSizes> s = SizesOf(layer);
  if (!s.ok()) return s.status();
  const Shape state = {s->directions, s->batch, s->units};
  std::vector<Shape> shapes = {{s->steps, s->directions, s->batch, s->units}, state};
  if (layer.op<RecurrentSequence>().cell == SequenceCell::kLstm) shapes.push_back(state);
  return shapes;
}

// The functions of the gates take as long as a few products each.
int64_t WorkOfSequence(const LayerView& layer) {
  constexpr int64_t kPerFunction = 16;
  const Result<SequenceSizes> s = SizesOf(layer);
  if (!s.ok()) return 0;
  return kPerFunction * s->samples() * s->directions * (s->rows() + s->units);
}

}  // namespace

constinit const OperatorRow RecurrentSequence::kRow = {
    .name = "RECURRENT_SEQUENCE",
    .min_inputs = 3,
    .max_inputs = 8,
    .types = kFloat,
    .infer = InferSequence,
    .candidates = Candidate{"steps", PrepareSequence},
    .remark = "LSTM, GRU and RNN in both directions; also with weights of 8 bits",
    .parameters = 1 << kWeightsOfX | 1 << kWeightsOfH | 1 << kBiases | 1 << kPeepholes,
    .packing = {.matrices = RowsAsChannels},
    .extra_work = WorkOfSequence};

}  // namespace intaglio::nn
