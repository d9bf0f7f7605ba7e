// The executor: what Run checks, what it costs, and who may run at once.
#include <new>
#include <thread>

#include "intaglio/nn/runtime/backend.h"
#include "intaglio/test/fixedpoint/foreign_float_environment.h"
#include "intaglio/test/nn/count_allocations.h"
#include "intaglio/test/nn/testing.h"

namespace intaglio::nn {
namespace {

// A network with every kind of routine.
Graph MakeNetwork(Random& random) {
  Builder b("network");
  const auto weights = [&](Shape shape, int axis, int channels) {
    const Q q = random.Tensor(Type::kInt8, shape);
    std::vector<float> scales;
    for (int i = 0; i < channels; ++i) scales.push_back(random.Scale(0.002, 0.02));
    return Const(b, q, PerAxis(scales, axis));
  };
  const Value image = b.Input("image", Type::kFloat32, {1, 16, 16, 3});
  const Value x = b.Quantize(image, Type::kInt8, PerTensor(0.02f, 3));
  const Value stem = b.Conv2D(x, weights({8, 3, 3, 3}, 0, 8), kNoBias,
                              {.stride = {2, 2}, .padding = Padding::Same()}, PerTensor(0.1f, -5));
  const Value wide = b.Conv2D(stem, weights({8, 1, 1, 8}, 0, 8), kNoBias,
                              {.activation = Activation::kRelu6}, PerTensor(6.0f / 255, -128));
  const Value deep = b.DepthwiseConv2D(wide, weights({1, 3, 3, 8}, 3, 8), kNoBias,
                                       {.padding = Padding::Same()}, PerTensor(0.1f, 1));
  const Value sum = b.Add(stem, deep, {Activation::kRelu}, PerTensor(0.15f, -100));
  const Value joined[] = {b.MaxPool2D(sum, {.filter = {2, 2}, .stride = {2, 2}}),
                          b.AveragePool2D(sum, {.filter = {2, 2}, .stride = {2, 2}})};
  const Value both = b.Concatenation(joined, {-1, Activation::kNone}, PerTensor(0.15f, -100));
  const Value padded = b.Pad(both, {{{0, 0}, {1, 1}, {1, 1}, {0, 0}}});
  const Value mean = b.Mean(padded, {{1, 2}, false}, PerTensor(0.1f, 0));
  const Value dense =
      b.FullyConnected(mean, weights({10, 16}, 0, 10), kNoBias, {}, PerTensor(0.2f, 0));
  b.Output(b.Dequantize(b.Softmax(b.Reshape(b.Tanh(dense), {10}))), "probabilities");
  Result<Graph> graph = b.Finish();
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return std::move(*graph);
}

std::vector<float> MakeImage(Random& random) {
  std::vector<float> image;
  for (int i = 0; i < 16 * 16 * 3; ++i) {
    image.push_back(static_cast<float>(random.Int(-1000, 1000)) / 500);
  }
  return image;
}

std::vector<float> RunImage(Model& model, const std::vector<float>& image) {
  std::vector<float> result(10, -1.0f);
  const InputBuffer in[] = {MakeInput<float>(image)};
  const OutputBuffer out[] = {MakeOutput<float>(result)};
  const Status status = model.Run(in, out);
  EXPECT_TRUE(status.ok()) << status.message();
  return result;
}

// The CPU's routines, and a count of what the model asks for.
class CountingBackend : public Backend {
 public:
  std::string name() const override { return "test"; }
  std::string hardware() const override { return "the host"; }
  Result<PreparedLayer> Prepare(const Graph& graph, size_t layer,
                                const LayerChoice& choice) const override {
    ++prepared;
    return host_->Prepare(graph, layer, choice);
  }
  std::vector<CandidateInfo> ListCandidates(const Graph& graph, size_t layer) const override {
    return host_->ListCandidates(graph, layer);
  }
  bool prepares_at_once() const override { return false; }
  Result<std::shared_ptr<std::byte>> Allocate(size_t bytes) const override {
    ++arenas;
    return host_->Allocate(bytes);
  }
  Status CopyIn(std::byte* to, const void* from, size_t bytes) const override {
    ++copies_in;
    return host_->CopyIn(to, from, bytes);
  }
  Status CopyOut(void* to, const void* from, size_t bytes) const override {
    if (fails) return Unsupported("the device fell off the bus");
    ++copies_out;
    return host_->CopyOut(to, from, bytes);
  }
  Status Fill(std::byte* to, int byte, size_t bytes) const override {
    return host_->Fill(to, byte, bytes);
  }
  Status Wait() const override { return {}; }

  mutable int prepared = 0, arenas = 0, copies_in = 0, copies_out = 0;
  bool fails = false;

 private:
  std::shared_ptr<const Backend> host_ = MakeHostBackend({});
};

// Fails at two layers, in one of two ways.
class FailingBackend final : public Backend {
 public:
  explicit FailingBackend(bool throws) : throws_(throws) {}
  std::string name() const override { return "test"; }
  std::string hardware() const override { return "the host"; }

  Result<PreparedLayer> Prepare(const Graph& graph, size_t layer,
                                const LayerChoice& choice) const override {
    if (layer == 2 || layer + 1 == graph.layers.size()) {
      if (throws_) throw std::bad_alloc();
      return Unsupported("layer " + std::to_string(layer) + " fails");
    }
    return host_->Prepare(graph, layer, choice);
  }
  std::vector<CandidateInfo> ListCandidates(const Graph& graph, size_t layer) const override {
    return host_->ListCandidates(graph, layer);
  }
  bool prepares_at_once() const override { return true; }
  Result<std::shared_ptr<std::byte>> Allocate(size_t bytes) const override {
    return host_->Allocate(bytes);
  }
  Status CopyIn(std::byte* to, const void* from, size_t bytes) const override {
    return host_->CopyIn(to, from, bytes);
  }
  Status CopyOut(void* to, const void* from, size_t bytes) const override {
    return host_->CopyOut(to, from, bytes);
  }
  Status Fill(std::byte* to, int byte, size_t bytes) const override {
    return host_->Fill(to, byte, bytes);
  }
  Status Wait() const override { return {}; }

 private:
  bool throws_;
  std::shared_ptr<const Backend> host_ = MakeHostBackend({});
};

// However the threads that prepare the layers share them.
TEST(Model, FailsAtTheFirstLayerThatFails) {
  Random random(1);
  const Graph graph = MakeNetwork(random);
  ASSERT_GT(graph.layers.size(), 3u);
  for (const bool throws : {false, true}) {
    PrepareOptions options;
    options.backend = std::make_shared<FailingBackend>(throws);
    for (int i = 0; i < 30; ++i) {
      options.threads = 1 + i % 3;
      const Result<Model> model = Model::Prepare(graph, options);
      ASSERT_FALSE(model.ok());
      const char* const words = throws ? "memory ran out" : "layer 2 fails";
      EXPECT_NE(model.status().message().find(words), std::string::npos)
          << model.status().message();
    }
  }
}

TEST(Model, RunsOnTheBackendThatItIsGiven) {
  Random random(1);
  const Graph graph = MakeNetwork(random);
  const std::vector<float> image = MakeImage(random);
  Result<Model> plain = Model::Prepare(graph);
  ASSERT_TRUE(plain.ok());
  const auto backend = std::make_shared<CountingBackend>();
  PrepareOptions options;
  options.backend = backend;
  Result<Model> model = Model::Prepare(graph, options);
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(backend->prepared, static_cast<int>(graph.layers.size()));
  EXPECT_EQ(RunImage(*model, image), RunImage(*plain, image));
  EXPECT_TRUE(model->RunLayersForTiming().ok());
  EXPECT_TRUE(model->Share().ok());
  EXPECT_EQ(backend->arenas, 2);
  EXPECT_EQ(backend->copies_in, 1);
  EXPECT_EQ(backend->copies_out, 1);
  backend->fails = true;
  std::vector<float> result(10);
  const InputBuffer in[] = {MakeInput<float>(image)};
  const OutputBuffer out[] = {MakeOutput<float>(result)};
  EXPECT_EQ(model->Run(in, out).message(), "the device fell off the bus");
}

TEST(Model, AllocatesNothingDuringInference) {
  for (const int threads : {1, 3}) {
    Random random(1);
    Result<Model> model = Model::Prepare(MakeNetwork(random), {.threads = threads});
    ASSERT_TRUE(model.ok()) << model.status().message();
    const std::vector<float> image = MakeImage(random);
    std::vector<float> result(10);
    const InputBuffer in[] = {MakeInput<float>(image)};
    const OutputBuffer out[] = {MakeOutput<float>(result)};
    std::vector<std::chrono::nanoseconds> times(model->layers().size());
    ASSERT_TRUE(model->WarmUp().ok());
    for (int run = 0; run < 20; ++run) {
      const int64_t before = CountAllocations();
      const bool ok = model->Run(in, out, times).ok();
      const int64_t after = CountAllocations();
      ASSERT_TRUE(ok);
      EXPECT_EQ(after - before, 0) << "in run " << run << " with " << threads << " threads";
    }
    for (const auto time : times) EXPECT_GE(time.count(), 0);
  }
}

// Computes a % b, or another division, of the inputs a and b, and twice the result.
Graph MakeDivision(const Operator& division, int count, Type type = Type::kInt32) {
  Graph graph;
  for (const char* name : {"a", "b", "c", "d"}) {
    Tensor tensor;
    tensor.name = name;
    tensor.type = type;
    tensor.shape = {count};
    graph.tensors.push_back(tensor);
  }
  graph.layers = {{division, {0, 1}, {2}, {}}, {Add{}, {2, 2}, {3}, {}}};
  graph.inputs = {0, 1};
  graph.outputs = {3};
  return graph;
}

// Such a layer is no fault of the model, so warm-up still makes everything that it needs.
TEST(Model, WarmingUpPassesOverLayersThatRefuseZeros) {
  for (const Operator& division : {Operator(FloorMod{}), Operator(FloorDiv{}), Operator(Div{})}) {
    for (const int count : {1, 100000}) {
      Result<Model> model = Model::Prepare(MakeDivision(division, count), {.threads = 3});
      ASSERT_TRUE(model.ok()) << model.status().message();
      const std::vector<int32_t> a(static_cast<size_t>(count), 17);
      std::vector<int32_t> b(a.size(), 5);
      std::vector<int32_t> d(a.size());
      const InputBuffer in[] = {MakeInput<int32_t>(a), MakeInput<int32_t>(b)};
      const OutputBuffer out[] = {MakeOutput<int32_t>(d)};
      const Status status = model->WarmUp();
      ASSERT_TRUE(status.ok()) << status.message();
      const int64_t before = CountAllocations();
      ASSERT_TRUE(model->Run(in, out).ok());
      EXPECT_EQ(CountAllocations(), before);
      const bool is_mod = division.Is<FloorMod>();
      EXPECT_EQ(d, std::vector<int32_t>(a.size(), is_mod ? 4 : 6));
      b[0] = 0;
      EXPECT_FALSE(model->Run(in, out).ok());
    }
  }
}

// Warm-up divides zeros by zeros. This would raise a signal if the caller asked for signals.
TEST(Model, WarmsUpInEveryFloatEnvironment) {
  Result<Model> model = Model::Prepare(MakeDivision(Div{}, 5, Type::kFloat32));
  ASSERT_TRUE(model.ok()) << model.status().message();
  for (const intaglio::test::FloatMode& mode : intaglio::test::kForeignFloatModes) {
    const intaglio::test::ForeignFloatEnvironment foreign(mode);
    const auto before = intaglio::test::FloatControl();
    EXPECT_TRUE(model->WarmUp().ok()) << mode.name;
    EXPECT_EQ(intaglio::test::FloatControl(), before) << mode.name;
  }
}

// An error of the backend is an error of warm-up too, in layers as elsewhere.
TEST(Model, WarmingUpFailsWithTheBackend) {
  class Lost final : public Routine {
    Status Run(const RunArguments&) const override { return Unsupported("the device is lost"); }
  };
  class LosingBackend final : public CountingBackend {
    Result<PreparedLayer> Prepare(const Graph& graph, size_t layer,
                                  const LayerChoice& choice) const override {
      Result<PreparedLayer> prepared = CountingBackend::Prepare(graph, layer, choice);
      if (prepared.ok()) prepared->routine = std::make_shared<const Lost>();
      return prepared;
    }
  };
  PrepareOptions options;
  options.backend = std::make_shared<LosingBackend>();
  Result<Model> model = Model::Prepare(MakeDivision(Add{}, 3), options);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_NE(model->WarmUp().message().find("the device is lost"), std::string::npos);
}

TEST(Model, InstancesRunAtOnce) {
  Random random(2);
  Result<Model> model = Model::Prepare(MakeNetwork(random), {.threads = 2});
  ASSERT_TRUE(model.ok());
  std::vector<std::vector<float>> images;
  std::vector<std::vector<float>> expected;
  for (int i = 0; i < 4; ++i) {
    images.push_back(MakeImage(random));
    expected.push_back(RunImage(*model, images.back()));
  }
  EXPECT_NE(expected[0], expected[1]);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < images.size(); ++i) {
    Result<Model> instance = model->Share();
    ASSERT_TRUE(instance.ok());
    threads.emplace_back([&images, &expected, i, own = std::move(*instance)]() mutable {
      for (int run = 0; run < 20; ++run) EXPECT_EQ(RunImage(own, images[i]), expected[i]);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Model, SharesConstantsBeyondTheFirstInstance) {
  Random random(3);
  const std::vector<float> image = MakeImage(random);
  std::vector<float> expected;
  Result<Model> survivor = Status(StatusCode::kInvalidArgument, "none");
  {
    Result<Model> model = Model::Prepare(MakeNetwork(random));
    ASSERT_TRUE(model.ok());
    expected = RunImage(*model, image);
    survivor = model->Share();
  }
  ASSERT_TRUE(survivor.ok());
  EXPECT_EQ(RunImage(*survivor, image), expected);
}

TEST(Model, SameBitsOnAnyNumberOfThreadsAndInACallersPool) {
  Random random(4);
  const Graph graph = MakeNetwork(random);
  const std::vector<float> image = MakeImage(random);
  Result<Model> one = Model::Prepare(graph);
  ASSERT_TRUE(one.ok());
  const std::vector<float> expected = RunImage(*one, image);
  for (int threads = 2; threads <= 8; ++threads) {
    Result<Model> model = Model::Prepare(graph, {.threads = threads});
    ASSERT_TRUE(model.ok());
    EXPECT_EQ(RunImage(*model, image), expected) << threads;
  }
  const ParallelFor backwards = [](int count, const std::function<void(int)>& task) {
    while (count > 0) task(--count);
  };
  Result<Model> pooled = Model::Prepare(graph, {.threads = 4, .parallel_for = backwards});
  ASSERT_TRUE(pooled.ok());
  EXPECT_EQ(RunImage(*pooled, image), expected);
}

TEST(Model, DescribesItsLayers) {
  Random random(5);
  Result<Model> model = Model::Prepare(MakeNetwork(random));
  ASSERT_TRUE(model.ok());
  const std::vector<LayerInfo>& layers = model->layers();
  ASSERT_EQ(layers.size(), model->graph().layers.size());
  EXPECT_EQ(layers[1].label, "CONV_2D #1 'CONV_2D_1'");
  EXPECT_EQ(layers[1].operator_name, "CONV_2D");
  EXPECT_EQ(layers[1].routine, "cpu:qint8/gemm");
  EXPECT_FALSE(layers[1].kernel.empty());
  EXPECT_EQ(layers[1].macs, 8 * 8 * 8 * 27);
  EXPECT_EQ(layers[3].routine, "cpu:qint8/depthwise");
  EXPECT_EQ(layers[3].macs, 8 * 8 * 8 * 9);
  EXPECT_EQ(layers[4].routine, "cpu:qint8/elementwise");
  size_t constants = 0;
  for (const LayerInfo& layer : layers) constants += layer.constant_bytes;
  EXPECT_EQ(model->constant_bytes(), constants);
  EXPECT_GT(constants, 0u);
}

TEST(Model, KeepsTensorsWhereAsked) {
  Builder b;
  const Value x = b.Input("x", Type::kInt8, {3}, PerTensor(1, 0));
  const Value y = b.Relu(x, PerTensor(1, 0));
  b.Output(b.Relu6(y, PerTensor(1, 0)), "z");
  const Graph graph = *b.Finish();
  const Q in{Type::kInt8, {3}, 1, 0, {-5, 3, 100}};
  Result<Model> kept = Model::Prepare(graph, {.keep_all_tensors = true});
  ASSERT_TRUE(kept.ok());
  EXPECT_EQ(RunModel(*kept, {in}), (std::vector<int>{0, 3, 6}));
  const auto* const middle = static_cast<const int8_t*>(kept->TensorData(y.id));
  ASSERT_NE(middle, nullptr);
  EXPECT_EQ((std::vector<int>{middle[0], middle[1], middle[2]}), (std::vector<int>{0, 3, 100}));
  Result<Model> planned = Model::Prepare(graph);
  ASSERT_TRUE(planned.ok());
  EXPECT_EQ(RunModel(*planned, {in}), (std::vector<int>{0, 3, 6}));
  EXPECT_EQ(planned->TensorData(y.id), nullptr);
  EXPECT_EQ(planned->TensorData(-1), nullptr);
  EXPECT_EQ(planned->TensorData(99), nullptr);
}

TEST(Model, InputsAndConstantsMayBeOutputs) {
  Builder b;
  const Value x = b.Input("x", Type::kInt8, {2}, PerTensor(1, 0));
  const Constant c = b.Const<int8_t>("c", {7, 8}, {2}, PerTensor(1, 0));
  b.Output(b.Relu(x, PerTensor(1, 0)), "y");
  b.Output(x, "x");
  b.Output(Value{c.id}, "c");
  Result<Model> model = Model::Prepare(*b.Finish());
  ASSERT_TRUE(model.ok());
  const std::vector<int8_t> in = {-1, 1};
  std::vector<int8_t> out[3] = {{9, 9}, {9, 9}, {9, 9}};
  const InputBuffer inputs[] = {MakeInput<int8_t>(in)};
  const OutputBuffer outputs[] = {MakeOutput<int8_t>(out[0]), MakeOutput<int8_t>(out[1]),
                                  MakeOutput<int8_t>(out[2])};
  ASSERT_TRUE(model->Run(inputs, outputs).ok());
  EXPECT_EQ(out[0], (std::vector<int8_t>{0, 1}));
  EXPECT_EQ(out[1], in);
  EXPECT_EQ(out[2], (std::vector<int8_t>{7, 8}));
}

TEST(Model, RunRefusesWrongBuffers) {
  Builder b;
  const Value x = b.Input("image", Type::kInt8, {1, 4}, PerTensor(1, 0));
  b.Output(b.Relu(x, PerTensor(1, 0)), "scores");
  Result<Model> model = Model::Prepare(*b.Finish());
  ASSERT_TRUE(model.ok());
  std::vector<int8_t> data(4, 1);
  const InputBuffer in = MakeInput<int8_t>(data);
  const OutputBuffer out = MakeOutput<int8_t>(data);
  const auto message = [&](std::vector<InputBuffer> inputs, std::vector<OutputBuffer> outputs,
                           size_t times = 0) {
    std::vector<std::chrono::nanoseconds> layer_times(times);
    const Status status = model->Run(inputs, outputs, layer_times);
    return status.ok() ? "ok" : status.message();
  };
  EXPECT_EQ(message({in}, {out}), "ok");
  EXPECT_EQ(message({}, {out}), "the model has 1 inputs, but 0 were given");
  EXPECT_EQ(message({in}, {out, out}), "the model has 1 outputs, but 2 were given");
  EXPECT_EQ(message({{data.data(), 4, Type::kUInt8}}, {out}),
            "input 0 'image' is int8, but a buffer of uint8 was given");
  EXPECT_EQ(message({{data.data(), 5, Type::kInt8}}, {out}),
            "input 0 'image' has 4 bytes, [1, 4], but a buffer of 5 was given");
  EXPECT_EQ(message({{nullptr, 4, Type::kInt8}}, {out}), "input 0 'image': the buffer is null");
  EXPECT_EQ(message({in}, {{data.data(), 3, Type::kInt8}}),
            "output 0 'scores' has 4 bytes, [1, 4], but a buffer of 3 was given");
  EXPECT_EQ(message({in}, {out}, 2), "layer_times has 2 elements; the model has 1 layers");
  EXPECT_EQ(message({in}, {out}, 1), "ok");
}

TEST(Model, PrepareRefusesOptions) {
  Random random(6);
  const Graph graph = MakeNetwork(random);
  EXPECT_EQ(Model::Prepare(graph, {.threads = 0}).status().message(),
            "threads is 0; at least 1 is needed");
  const Result<Model> model = Model::Prepare(graph, {.kernel = "no such kernel"});
  ASSERT_FALSE(model.ok());
  EXPECT_NE(model.status().message().find("no such kernel"), std::string::npos);
}

}  // namespace
}  // namespace intaglio::nn
