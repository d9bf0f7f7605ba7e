#include "intaglio/nn/formats/onnx/loops.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/onnx/graph_reader.h"
#include "intaglio/nn/formats/onnx/inner_graph.h"
#include "intaglio/nn/ops/control/require.h"
#include "intaglio/nn/ops/operators.h"

namespace intaglio::nn::onnx {
namespace {

constexpr int64_t kMostUnrolled = 64;  // rounds
constexpr int64_t kUnknown = std::numeric_limits<int64_t>::max();

// A tensor of which each round reads a slice, or to which it adds one: along which axis, and from
// which end on.
struct Sliced {
  TensorId id = kNoTensor;  // what is read
  int axis = 0;
  bool from_end = false;
};

// A node that runs its body again and again.
struct Repeated {
  const GraphProto* body = nullptr;
  bool is_loop = false;           // else Scan, whose body knows no round and no condition
  std::vector<TensorId> carried;  // as they are before the first round
  std::vector<Sliced> read;
  std::vector<Sliced> collected;
  int64_t rounds = kUnknown;
  TensorId limit = kNoTensor;      // of the rounds, if only a run knows it
  TensorId condition = kNoTensor;  // before the first round, if only a run knows it

  size_t first_output() const { return is_loop ? 1 : 0; }  // behind the condition
  size_t outputs() const { return first_output() + carried.size() + collected.size(); }
};

TensorId True(LayerMaker& make) { return make.CastTo(make.Scalar<int32_t>(1), Type::kBool); }

// Where a slice of the round lies.
TensorId IndexOf(LayerMaker& make, const Repeated& node, const Sliced& sliced, TensorId round) {
  if (!sliced.from_end) return round;
  return make.AddLike(Sub{}, {make.Scalar<int64_t>(node.rounds - 1), round});
}

// What the body gets in a round; all tensors are those of the graph where the body is read.
std::vector<TensorId> InputsOf(LayerMaker& make, const Repeated& node, TensorId round,
                               const std::vector<TensorId>& carried,
                               const std::vector<TensorId>& read) {
  std::vector<TensorId> inputs;
  // A body only runs where the condition is true.
  if (node.is_loop) inputs = {round, True(make)};
  inputs.insert(inputs.end(), carried.begin(), carried.end());
  for (size_t i = 0; i < read.size(); ++i) {
    const TensorId index = IndexOf(make, node, node.read[i], round);
    inputs.push_back(make.AddLike(Gather{node.read[i].axis}, {read[i], index}));
  }
  return inputs;
}

// The condition that a round makes; it must be known.
bool GoesOn(LayerMaker& make, TensorId condition) {
  return make.Ints(condition, "the condition") == std::vector<int64_t>{1};
}

// The body as a graph, before it has outputs.
struct Body {
  InnerGraph inner;
  TensorId round = kNoTensor;
  std::vector<TensorId> carried;
  std::vector<TensorId> outputs;
  bool keeps_shapes = true;  // of what is carried
  bool goes_on = true;       // the condition behind a round is always true
  bool ends = false;         // it is always false
  Status status;             // some bodies can only be read where the round is known

  Body(Translation& t, const Repeated& node) : inner(t.reader()) {
    status = inner.Try([&] { Read(t, node); });
  }

  Tensor Slice(const Repeated& node, size_t i) {
    return inner.reader.make().At(outputs[node.first_output() + carried.size() + i]);
  }

 private:
  void Read(Translation& t, const Repeated& node) {
    LayerMaker& make = inner.reader.make();
    Tensor counter;
    counter.type = Type::kInt64;
    round = inner.reader.AddInput(counter);
    for (const TensorId id : node.carried) carried.push_back(inner.reader.AddInput(t.make.At(id)));
    std::vector<TensorId> read;
    for (const Sliced& sliced : node.read) read.push_back(inner.reader.Capture(sliced.id));
    outputs = inner.reader.ReadBranch(*node.body, InputsOf(make, node, round, carried, read));
    for (size_t i = 0; i < carried.size(); ++i) {
      const Tensor next = make.At(outputs[node.first_output() + i]);
      const Tensor last = make.At(carried[i]);
      keeps_shapes = keeps_shapes && next.shape == last.shape;
      if (next.type != last.type) make.Fail(InvalidArgument("the body changes a value's type"));
    }
    if (!node.is_loop) return;
    const bool is_known = make.IsConstant(outputs[0]);
    goes_on = is_known && GoesOn(make, outputs[0]);
    ends = is_known && !goes_on;
  }
};

// Slices that lie along axis 0, along another one.
TensorId AlongAxis(LayerMaker& make, TensorId id, int given) {
  const int axis = Axis(make, given, make.RankOf(id));
  std::vector<int> order(static_cast<size_t>(make.RankOf(id)));
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  std::rotate(order.begin(), order.begin() + 1, order.begin() + axis + 1);
  return make.Transposed(id, order);
}

Shape WithRounds(Shape slice, int64_t rounds) {
  slice.insert(slice.begin(), static_cast<int>(rounds));
  return slice;
}

TensorId Zeros(LayerMaker& make, Type type, Shape shape) {
  return make.AddLike(Fill{std::move(shape)}, {make.CastTo(make.Scalar<int32_t>(0), type)});
}

TensorId Stacked(LayerMaker& make, std::vector<TensorId> slices, const Sliced& to) {
  for (TensorId& id : slices) id = make.Reshaped(id, WithRounds(make.ShapeOf(id), 1));
  if (to.from_end) std::reverse(slices.begin(), slices.end());
  const TensorId all = slices.size() == 1 ? slices[0] : make.AddLike(Concatenation{0}, slices);
  return AlongAxis(make, all, to.axis);
}

// The layers of every round, one behind the other.
std::vector<TensorId> Unroll(Translation& t, const Repeated& node) {
  std::vector<TensorId> results = node.carried;
  std::vector<std::vector<TensorId>> slices(node.collected.size());
  std::vector<TensorId> read;
  for (const Sliced& sliced : node.read) read.push_back(sliced.id);
  for (int64_t k = 0; k < node.rounds; ++k) {
    const std::vector<TensorId> outputs =
        t.reader().ReadBranch(*node.body, InputsOf(t.make, node, t.make.Scalar(k), results, read));
    const auto first = outputs.begin() + static_cast<ptrdiff_t>(node.first_output());
    const auto end = first + static_cast<ptrdiff_t>(results.size());
    results.assign(first, end);
    for (size_t i = 0; i < slices.size(); ++i) {
      slices[i].push_back(end[static_cast<ptrdiff_t>(i)]);
      t.make.Fail(CheckCrosses(t.make, slices[i].back()));
    }
    if (node.is_loop && !GoesOn(t.make, outputs[0])) break;
  }
  for (size_t i = 0; i < slices.size(); ++i) {
    results.push_back(Stacked(t.make, slices[i], node.collected[i]));
  }
  return results;
}

// What a node makes that has no round.
std::vector<TensorId> Skip(Translation& t, const Repeated& node, Body& body) {
  t.make.Fail(body.status);
  std::vector<TensorId> results = node.carried;
  for (size_t i = 0; i < node.collected.size(); ++i) {
    const Tensor slice = body.Slice(node, i);
    const TensorId none = Zeros(t.make, slice.type, WithRounds(slice.shape, 0));
    results.push_back(AlongAxis(t.make, none, node.collected[i].axis));
  }
  return results;
}

// A WHILE. Its state is, in this order: the round; the condition and the limit, if a run has to
// know them; what is carried; what the body reads of the graph around; what it has collected.
class Looping {
 public:
  Looping(Translation& t, const Repeated& node, Body& body) : t_(t), node_(node), body_(body) {
    t.make.Fail(body.inner.Try([&] { ListState(); }));
  }

  std::vector<TensorId> Add() {
    const std::shared_ptr<Graph> condition = MakeCondition();
    t_.make.Fail(body_.inner.Try([&] { FinishBody(); }));
    std::vector<Type> types;
    for (const TensorId id : outside_) types.push_back(t_.make.At(id).type);
    const std::vector<TensorId> last =
        t_.make.AddMany(While{condition, body_.inner.graph}, outside_, types);
    std::vector<TensorId> results;
    for (size_t i = 0; i < node_.carried.size(); ++i) results.push_back(last[carried_ + i]);
    const TensorId has_all = HasAllRounds(last[0]);
    for (size_t i = 0; i < node_.collected.size(); ++i) {
      TensorId all = last[collected_ + i];
      if (has_all != kNoTensor) all = t_.make.AddLike(EndedTooSoon(), {all, has_all});
      results.push_back(AlongAxis(t_.make, all, node_.collected[i].axis));
    }
    return results;
  }

 private:
  // Results have the shape that all rounds make. A body that may end the loop must not do so
  // before.
  TensorId HasAllRounds(TensorId rounds) {
    if (node_.collected.empty() || body_.goes_on) return kNoTensor;
    return t_.make.Add(Equal{}, {rounds, t_.make.Scalar(node_.rounds)}, Type::kBool);
  }
  Require EndedTooSoon() const {
    return {true, "the loop collects results of " + std::to_string(node_.rounds) +
                      " rounds, and its condition ended it after fewer"};
  }

  bool has_condition() const { return node_.condition != kNoTensor || !body_.goes_on; }
  bool has_limit() const { return node_.limit != kNoTensor; }

  void ListState() {
    LayerMaker& make = t_.make;
    Append(make.Scalar<int64_t>(0), body_.round);
    if (has_condition()) {
      AppendNew(node_.condition == kNoTensor ? True(make) : make.Reshaped(node_.condition, {}));
    }
    if (has_limit()) AppendNew(make.Reshaped(node_.limit, {}));
    carried_ = outside_.size();
    for (size_t i = 0; i < node_.carried.size(); ++i) Append(node_.carried[i], body_.carried[i]);
    for (const TensorId id : body_.inner.reader.captured()) {
      Append(id, body_.inner.reader.Capture(id));
    }
    collected_ = outside_.size();
    for (size_t i = 0; i < node_.collected.size(); ++i) {
      const Tensor slice = body_.Slice(node_, i);
      AppendNew(Zeros(make, slice.type, WithRounds(slice.shape, node_.rounds)));
    }
  }

  void Append(TensorId outside, TensorId inside) {
    outside_.push_back(outside);
    inside_.push_back(inside);
  }
  void AppendNew(TensorId outside) {
    Append(outside, body_.inner.reader.AddInput(t_.make.At(outside)));
  }

  // round < limit, and the condition.
  std::shared_ptr<Graph> MakeCondition() {
    InnerGraph inner(t_.reader());
    t_.make.Fail(inner.Try([&] {
      LayerMaker& make = inner.reader.make();
      std::vector<TensorId> state;
      for (const TensorId id : outside_) state.push_back(inner.reader.AddInput(t_.make.At(id)));
      TensorId answer = has_condition() ? state[1] : kNoTensor;
      if (has_limit() || node_.rounds != kUnknown) {
        const TensorId limit = has_limit() ? state[carried_ - 1] : make.Scalar(node_.rounds);
        const TensorId more = make.Add(Less{}, {state[0], limit}, Type::kBool);
        answer = answer == kNoTensor ? more : make.AddLike(LogicalAnd{}, {more, answer});
      }
      if (answer == kNoTensor) make.Fail(InvalidArgument("never ends"));
      inner.reader.AddOutput(answer);
      make.Fail(inner.reader.Finish());
    }));
    return inner.graph;
  }

  void FinishBody() {
    GraphReader& reader = body_.inner.reader;
    LayerMaker& make = reader.make();
    std::vector<TensorId>& outputs = body_.inner.graph->outputs;
    body_.inner.graph->inputs = inside_;
    reader.AddOutput(make.AddLike(nn::Add{}, {body_.round, make.Scalar<int64_t>(1)}));
    if (has_condition()) reader.AddOutput(make.Reshaped(body_.outputs[0], {}));
    // What stays as it is goes through.
    if (has_limit()) outputs.push_back(inside_[carried_ - 1]);
    for (size_t i = 0; i < node_.carried.size(); ++i) {
      reader.AddOutput(body_.outputs[node_.first_output() + i]);
    }
    for (size_t i = carried_ + node_.carried.size(); i < collected_; ++i) {
      outputs.push_back(inside_[i]);
    }
    for (size_t i = 0; i < node_.collected.size(); ++i) Collect(make, i);
    make.Fail(reader.Finish());
  }

  void Collect(LayerMaker& make, size_t i) {
    const TensorId slice = body_.outputs[node_.first_output() + node_.carried.size() + i];
    const TensorId index = IndexOf(make, node_, node_.collected[i], body_.round);
    body_.inner.reader.AddOutput(make.AddLike(
        DynamicUpdateSlice{},
        {inside_[collected_ + i], make.Reshaped(slice, WithRounds(make.ShapeOf(slice), 1)),
         make.Reshaped(index, {1})}));
  }

  Translation& t_;
  const Repeated& node_;
  Body& body_;
  std::vector<TensorId> outside_;  // the state before the first round
  std::vector<TensorId> inside_;   // the body's inputs
  size_t carried_ = 0;             // where they begin
  size_t collected_ = 0;
};

// The shapes of all results are known when a model is prepared, and so is the number of rounds in
// which they are collected.
void CheckCollects(Translation& t, const Repeated& node) {
  if (node.limit != kNoTensor) {
    t.make.FailUnknown({node.limit},
                       "collects results in a number of rounds that only a run would know");
  }
  if (node.rounds == kUnknown) {
    t.make.Fail(
        Unsupported("collects results in rounds whose number nothing but a condition of "
                    "the run limits"));
  }
  if (!std::in_range<int>(node.rounds)) {
    t.make.Fail(Unsupported("collects results in " + std::to_string(node.rounds) + " rounds"));
  }
}

// Reads a node that has at least one round.
std::vector<TensorId> ReadRounds(Translation& t, const Repeated& node, Body& body) {
  const bool are_few = node.rounds <= kMostUnrolled && node.condition == kNoTensor;
  if (!body.status.ok() && are_few) return Unroll(t, node);
  t.make.Fail(body.status);
  const bool is_counted = node.rounds != kUnknown && body.goes_on;
  if (is_counted && node.condition == kNoTensor && (are_few || !body.keeps_shapes)) {
    return Unroll(t, node);
  }
  if (!node.collected.empty()) CheckCollects(t, node);
  return Looping(t, node, body).Add();
}

void ReadRepeated(Translation& t, Repeated node) {
  const auto outputs = static_cast<size_t>(node.body->output_size());
  if (outputs != node.outputs() || t.output_count() > outputs - node.first_output()) {
    t.Invalid("the body has " + std::to_string(outputs) + " outputs; " +
              std::to_string(node.outputs()) + " are needed");
  }
  for (const TensorId id : node.carried) t.make.Fail(CheckCrosses(t.make, id));
  for (const Sliced& sliced : node.read) t.make.Fail(CheckCrosses(t.make, sliced.id));
  Body body(t, node);
  if (body.ends) node.rounds = std::min<int64_t>(node.rounds, 1);
  if (body.ends && node.limit == kNoTensor) body.goes_on = true;
  // Results that are collected have to know whether there are rounds.
  const TensorId condition = node.condition;
  const bool checks = !node.collected.empty() && condition != kNoTensor && node.rounds > 0;
  if (checks) node.condition = kNoTensor;
  const std::vector<TensorId> results =
      node.rounds <= 0 ? Skip(t, node, body) : ReadRounds(t, node, body);
  const Require require = {true, "a loop that collects results has no round"};
  for (size_t i = 0; i < t.output_count(); ++i) {
    t.Set(i, checks ? t.make.AddLike(require, {results[i], condition}) : results[i]);
  }
}

// An input of one element: its value if it is known, else `otherwise`, and then the tensor in
// `id`.
int64_t ReadOne(Translation& t, size_t input, int64_t otherwise, TensorId& id) {
  if (!t.has(input)) return otherwise;
  if (Count(t.input(input).shape) != 1) {
    t.Invalid("input " + std::to_string(input) + " is not one element");
  }
  if (t.make.IsConstant(t.in(input))) return t.make.Ints(t.in(input), "the rounds")[0];
  id = t.in(input);
  return otherwise;
}

}  // namespace

void ReadLoop(Translation& t) {
  Repeated node;
  node.body = t.Subgraph("body");
  node.is_loop = true;
  node.rounds = std::max<int64_t>(0, ReadOne(t, 0, kUnknown, node.limit));
  if (ReadOne(t, 1, 1, node.condition) == 0) node.rounds = 0;
  for (size_t i = 2; i < t.input_count(); ++i) node.carried.push_back(t.in(i));
  const auto outputs = static_cast<size_t>(node.body->output_size());
  if (outputs > node.outputs()) node.collected.resize(outputs - node.outputs());
  ReadRepeated(t, std::move(node));
}

void ReadScan(Translation& t) {
  Repeated node;
  node.body = t.Subgraph("body");
  const auto read =
      static_cast<size_t>(t.IntWithin("num_scan_inputs", 0, 1, static_cast<int>(t.input_count())));
  const size_t carried = t.input_count() - read;
  const auto list = [&](const char* name, size_t count) {
    std::vector<int64_t> values = t.Ints(name);
    if (values.empty()) values.assign(count, 0);
    if (values.size() != count)
      t.Invalid("attribute '" + std::string(name) + "' is of another length");
    return values;
  };
  for (size_t i = 0; i < carried; ++i) node.carried.push_back(t.in(i));
  const std::vector<int64_t> axes = list("scan_input_axes", read);
  const std::vector<int64_t> directions = list("scan_input_directions", read);
  for (size_t i = 0; i < read; ++i) {
    const TensorId id = t.in(carried + i);
    const int axis = Axis(t.make, axes[i], t.make.RankOf(id));
    node.read.push_back({id, axis, directions[i] != 0});
    const int rounds = t.make.ShapeOf(id)[static_cast<size_t>(axis)];
    if (i > 0 && rounds != node.rounds) t.Invalid("reads sequences of different lengths");
    node.rounds = rounds;
  }
  const auto outputs = static_cast<size_t>(node.body->output_size());
  const size_t collected = outputs > carried ? outputs - carried : 0;
  const std::vector<int64_t> to_axes = list("scan_output_axes", collected);
  const std::vector<int64_t> to_directions = list("scan_output_directions", collected);
  for (size_t i = 0; i < collected; ++i) {
    node.collected.push_back({kNoTensor, static_cast<int>(to_axes[i]), to_directions[i] != 0});
  }
  ReadRepeated(t, std::move(node));
}

}  // namespace intaglio::nn::onnx
