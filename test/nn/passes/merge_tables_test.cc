#include "intaglio/nn/passes/merge_tables.h"

#include <string>

#include "intaglio/nn/ops/elementwise/map_bytes.h"
#include "intaglio/test/nn/testing.h"

namespace intaglio::nn {
namespace {

// Writes graphs of 8 bits.
struct Network {
  Builder b;
  Random random;
  std::vector<Q> inputs;

  explicit Network(unsigned seed) : random(seed) {}

  TensorId Input(Type type, Shape shape) {
    Q q = random.Tensor(type, std::move(shape));
    const TensorId id =
        b.Input("x" + std::to_string(inputs.size()), q.type, q.shape, q.quantization()).id;
    inputs.push_back(std::move(q));
    return id;
  }
  TensorId Number(Type type, Shape shape = {1}) {
    const Q q = random.Tensor(type, std::move(shape));
    return Const(b, q, q.quantization()).id;
  }
  TensorId Then(Operator op, std::vector<TensorId> from, Type type) {
    const Quantization q =
        PerTensor(random.Scale(0.02, 0.2), random.Int(LowestOf(type), HighestOf(type)));
    return b.Layer(std::move(op), std::move(from), type, q).id;
  }
  TensorId Mapped(TensorId from) {
    MapBytes map;
    for (uint8_t& number : map.table) number = static_cast<uint8_t>(random.Int(0, 255));
    return Then(map, {from}, random.Of(kEightBit));
  }
  Graph Finish(const std::vector<TensorId>& outputs) {
    int i = 0;
    for (const TensorId id : outputs) b.Output({id}, "y" + std::to_string(i++));
    Result<Graph> graph = b.Finish();
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    if (!graph.ok()) return {};
    for (Layer& layer : graph->layers) {
      if (!layer.op.Is<MapBytes>()) layer.numerics = Numerics{.scaling = Scaling::kFloatHalfEven};
    }
    return *graph;
  }

  std::vector<std::vector<std::byte>> Run(const Graph& graph) const {
    const Status valid = Validate(graph);
    EXPECT_TRUE(valid.ok()) << valid.message();
    Result<Model> model = Model::Prepare(graph);
    EXPECT_TRUE(model.ok()) << model.status().message();
    if (!model.ok()) return {};
    std::vector<std::vector<std::byte>> in;
    std::vector<std::vector<std::byte>> out;
    std::vector<InputBuffer> from;
    std::vector<OutputBuffer> to;
    for (const Q& q : inputs) in.push_back(Bytes(q.type, q.values));
    for (size_t i = 0; i < in.size(); ++i) {
      from.push_back({in[i].data(), in[i].size(), inputs[i].type});
    }
    for (size_t i = 0; i < model->output_count(); ++i) {
      out.emplace_back(*CountBytes(model->output(i).shape, model->output(i).type));
    }
    for (size_t i = 0; i < out.size(); ++i) {
      to.push_back({out[i].data(), out[i].size(), model->output(i).type});
    }
    EXPECT_TRUE(model->Run(from, to).ok());
    return out;
  }

  // Merges, and expects as many layers, of the same bits.
  void ExpectMerged(const std::vector<TensorId>& outputs, size_t merged, size_t layers) {
    const Graph graph = Finish(outputs);
    Graph tables = graph;
    EXPECT_EQ(MergeTables(tables), merged);
    EXPECT_EQ(tables.layers.size(), layers);
    EXPECT_EQ(tables.outputs, graph.outputs);
    EXPECT_EQ(Run(tables), Run(graph));
  }
};

const Shape kShape = {5, 7, 40};

// x * f(x), as HardSwish is written where there is no such operator.
TEST(MergeTables, FunctionsOfOneTensorAreOneTable) {
  const std::vector<Operator> pairs = {Add{}, Sub{}, Mul{}, QLinearAdd{}, QLinearMul{}};
  for (unsigned seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    Network n(seed);
    const TensorId x = n.Input(n.random.Of(kEightBit), kShape);
    const TensorId gate = n.Mapped(n.Mapped(x));
    const std::vector<TensorId> inputs =
        n.random.Flip() ? std::vector{x, gate} : std::vector{gate, x};
    const TensorId y = n.Then(pairs[seed % 5], inputs, n.random.Of(kEightBit));
    n.ExpectMerged({n.Mapped(y)}, 3, 1);
  }
}

TEST(MergeTables, NumbersMayBeConstant) {
  Network n(1);
  const TensorId x = n.Input(Type::kUInt8, kShape);
  const TensorId y = n.Then(Sub{}, {n.Number(Type::kInt8), x}, Type::kUInt8);
  n.ExpectMerged({n.Then(QLinearMul{}, {y, n.Number(Type::kUInt8)}, Type::kUInt8)}, 2, 1);
}

TEST(MergeTables, ResultsThatOthersReadStay) {
  Network n(2);
  const TensorId a = n.Mapped(n.Input(Type::kUInt8, kShape));
  n.ExpectMerged({a, n.Mapped(a)}, 1, 2);
}

TEST(MergeTables, LeavesTwoTensors) {
  Network n(3);
  const TensorId x = n.Input(Type::kUInt8, kShape);
  const TensorId y = n.Input(Type::kUInt8, kShape);
  n.ExpectMerged({n.Then(Mul{}, {n.Mapped(x), n.Mapped(y)}, Type::kInt8)}, 0, 3);
}

TEST(MergeTables, LeavesBroadcasts) {
  Network n(4);
  const TensorId x = n.Input(Type::kUInt8, {40});
  const TensorId y = n.Input(Type::kUInt8, kShape);
  const Q q = n.random.Tensor(Type::kUInt8, {40});
  const TensorId line = Const(n.b, q, q.quantization()).id;
  const TensorId product = n.Then(Mul{}, {n.Mapped(x), line}, Type::kInt8);
  n.ExpectMerged({n.Then(Add{}, {y, product}, Type::kInt8)}, 0, 3);
}

TEST(MergeTables, LeavesOtherShapes) {
  Network n(6);
  const TensorId x = n.Input(Type::kUInt8, {40});
  n.ExpectMerged({n.Then(Add{}, {x, n.Number(Type::kUInt8, {1, 1})}, Type::kInt8)}, 0, 1);
}

TEST(MergeTables, LeavesTflitesRules) {
  Network n(5);
  const TensorId x = n.Input(Type::kInt8, kShape);
  Graph graph = n.Finish({n.Then(Add{}, {x, x}, Type::kInt8)});
  graph.layers[0].numerics.reset();
  EXPECT_EQ(MergeTables(graph), 0u);
}

}  // namespace
}  // namespace intaglio::nn
