// Candidates for routines: which there are, which one is taken, and what the numerics of a layer
// ask of them.
#include <cstring>
#include <memory>
#include <random>
#include <string>

#include "intaglio/gemm/describe.h"
#include "intaglio/nn/routine/adapter.h"
#include "intaglio/nn/routine/prepare.h"
#include "intaglio/nn/routine/routine_of.h"
#include "intaglio/nn/runtime/backend.h"
#include "intaglio/test/nn/testing.h"

namespace intaglio::nn {
namespace {

constexpr int kChannels = 8;

Constant Weights(Builder& b, Random& random, const Shape& shape, int axis, int channels) {
  const Q q = random.Tensor(Type::kInt8, shape);
  std::vector<float> scales;
  for (int i = 0; i < channels; ++i) scales.push_back(random.Scale(0.002, 0.02));
  return Const(b, q, PerAxis(scales, axis));
}

// A depthwise layer of one channel, another convolution, and a fully connected layer.
Graph MakeNetwork() {
  Random random(7);
  Builder b("routines");
  const Value x = b.Input("x", Type::kInt8, {2, 6, 6, 1}, PerTensor(0.02f, 3));
  const Value wide = b.DepthwiseConv2D(x, Weights(b, random, {1, 3, 3, kChannels}, 3, kChannels),
                                       kNoBias, {.padding = Padding::Same()}, PerTensor(0.1f, -5));
  const Value mixed = b.Conv2D(wide, Weights(b, random, {kChannels, 3, 3, kChannels}, 0, kChannels),
                               kNoBias, {}, PerTensor(0.3f, 2));
  const Value flat = b.Reshape(mixed, {2, 4 * 4 * kChannels});
  b.Output(b.FullyConnected(flat, Weights(b, random, {10, 4 * 4 * kChannels}, 0, 10), kNoBias, {},
                            PerTensor(0.5f, 1)),
           "y");
  Result<Graph> graph = b.Finish();
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return std::move(*graph);
}

std::vector<int8_t> RunOnce(Model& model) {
  Random random(11);
  std::vector<int8_t> x(*CountBytes(model.input(0).shape, Type::kInt8));
  for (int8_t& element : x) element = static_cast<int8_t>(random.Element(Type::kInt8));
  std::vector<int8_t> y(*CountBytes(model.output(0).shape, Type::kInt8));
  const InputBuffer in[] = {MakeInput(x)};
  const OutputBuffer out[] = {MakeOutput(y)};
  const Status status = model.Run(in, out);
  EXPECT_TRUE(status.ok()) << status.message();
  return y;
}

std::vector<int8_t> RunGraph(const Graph& graph, const PrepareOptions& options = {}) {
  Result<Model> model = Model::Prepare(graph, options);
  if (!model.ok()) {
    ADD_FAILURE() << model.status().message();
    return {};
  }
  return RunOnce(*model);
}

TEST(Routines, TheFirstThatAcceptsRuns) {
  const Result<Model> model = Model::Prepare(MakeNetwork());
  ASSERT_TRUE(model.ok()) << model.status().message();
  for (size_t i = 0; i < model->layers().size(); ++i) {
    const std::vector<CandidateInfo> candidates = model->ListRoutines(i);
    const auto first = std::find_if(candidates.begin(), candidates.end(),
                                    [](const CandidateInfo& c) { return c.why_not.empty(); });
    ASSERT_NE(first, candidates.end());
    EXPECT_EQ(model->layers()[i].routine, first->name);
    EXPECT_EQ(first->numeric, NumericClass::kExact);
  }
  EXPECT_EQ(model->layers()[0].routine, "cpu:qint8/gemm");
  const std::vector<CandidateInfo> of_conv = model->ListRoutines(1);
  EXPECT_EQ(of_conv[0].name, "cpu:qint8/winograd");
  EXPECT_NE(of_conv[0].why_not, "");
  EXPECT_EQ(of_conv[1].name, "cpu:qint8/gemm");
  EXPECT_EQ(of_conv[2].name, "cpu:qint8/gemm-gathered");
  EXPECT_EQ(of_conv[3].name, "cpu:qint8/gemm-unpacked");
  EXPECT_EQ(of_conv[3].why_not, "");
  EXPECT_EQ(of_conv[4].name, "cpu:qint16/gemm");
  EXPECT_EQ(of_conv[4].why_not, "not for int8");
  EXPECT_EQ(of_conv.back().numeric, NumericClass::kExact);  // for the input's type, which is int8
}

// Every candidate that accepts a layer gives the same bits there.
TEST(Routines, AnyThatAcceptsCanBeChosen) {
  const Graph graph = MakeNetwork();
  Result<Model> model = Model::Prepare(graph);
  ASSERT_TRUE(model.ok()) << model.status().message();
  const std::vector<int8_t> expected = RunOnce(*model);
  int chosen = 0;
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    for (const CandidateInfo& candidate : model->ListRoutines(i)) {
      if (!candidate.why_not.empty()) continue;
      SCOPED_TRACE(std::to_string(i) + " " + candidate.name);
      PrepareOptions options;
      options.routines = {
          {chosen % 2 == 0 ? std::to_string(i) : LabelOf(graph, i), candidate.name}};
      Result<Model> other = Model::Prepare(graph, options);
      ASSERT_TRUE(other.ok()) << other.status().message();
      EXPECT_EQ(other->layers()[i].routine, candidate.name);
      EXPECT_EQ(RunOnce(*other), expected);
      ++chosen;
    }
  }
  EXPECT_GE(chosen, 9);
}

// A layer of many tasks, whose windows overlap.
TEST(Routines, CuttingAndGatheringChangeNoBit) {
  Random random(13);
  Builder b("large");
  const Value x = b.Input("x", Type::kInt8, {1, 70, 70, 32}, PerTensor(0.02f, 3));
  b.Output(b.Conv2D(x, Weights(b, random, {24, 3, 3, 32}, 0, 24), kNoBias,
                    {.padding = Padding::Same()}, PerTensor(0.3f, 2)),
           "y");
  const Result<Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  for (const KernelInfo& kernel : ListKernels()) {
    if (!kernel.usable) continue;
    std::vector<int8_t> expected;
    for (const char* const routine :
         {"cpu:qint8/gemm", "cpu:qint8/gemm?rows_part_of_l2=4", "cpu:qint8/gemm?rows_part_of_l2=16",
          "cpu:qint8/gemm-gathered"}) {
      for (const int threads : {1, 2}) {
        Result<Model> model = Model::Prepare(
            *graph, {.threads = threads, .kernel = kernel.name, .routines = {{"0", routine}}});
        ASSERT_TRUE(model.ok()) << model.status().message();
        EXPECT_EQ(model->layers()[0].routine, routine);
        const std::vector<int8_t> outputs = RunOnce(*model);
        if (expected.empty()) expected = outputs;
        EXPECT_EQ(outputs, expected) << kernel.name << " " << routine;
      }
    }
  }
  // Windows of one pixel are gathered anyway; and values are those that are listed.
  const auto error_of = [&](const Graph& of, const char* routine) {
    return Model::Prepare(of, {.routines = {{"0", routine}}}).status().message();
  };
  EXPECT_NE(error_of(*graph, "cpu:qint8/gemm?rows_part_of_l2=5").find("rows_part_of_l2"),
            std::string::npos);
  Builder p("pointwise");
  const Value y = p.Input("x", Type::kInt8, {1, 7, 7, 8}, PerTensor(0.02f, 3));
  p.Output(p.Conv2D(y, Weights(p, random, {8, 1, 1, 8}, 0, 8), kNoBias, {}, PerTensor(0.3f, 2)),
           "y");
  const Result<Graph> pointwise = p.Finish();
  ASSERT_TRUE(pointwise.ok()) << pointwise.status().message();
  EXPECT_NE(error_of(*pointwise, "cpu:qint8/gemm-gathered").find("gathered anyway"),
            std::string::npos);
}

// Of float32, by windows and by pixels.
TEST(Routines, BlocksOfRowsChangeNoBit) {
  Random random(14);
  const auto reals = [&](size_t count) {
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(random.Int(-1000, 1000)) / 777;
    return values;
  };
  for (const int size : {1, 3}) {
    Builder b("blocks");
    const Value x = b.Input("x", Type::kFloat32, {1, 21, 23, 16}, {});
    const auto taps = static_cast<size_t>(size) * static_cast<size_t>(size);
    b.Output(b.Conv2D(x, b.Const<float>("w", reals(40 * taps * 16), {40, size, size, 16}), kNoBias,
                      {.padding = Padding::Same()}, {}),
             "y");
    const Result<Graph> graph = b.Finish();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    const std::vector<float> inputs = reals(size_t{21} * 23 * 16);
    for (const KernelInfo& kernel : ListKernels()) {
      if (!kernel.usable) continue;
      std::vector<float> expected;
      for (const char* const routine : {"cpu:float32/gemm", "cpu:float32/gemm?rows_of_block=96",
                                        "cpu:float32/gemm?rows_of_block=192"}) {
        for (const int threads : {1, 3}) {
          Result<Model> model = Model::Prepare(
              *graph, {.threads = threads, .kernel = kernel.name, .routines = {{"0", routine}}});
          ASSERT_TRUE(model.ok()) << model.status().message();
          EXPECT_EQ(model->layers()[0].routine, routine);
          std::vector<float> outputs(size_t{21} * 23 * 40);
          const InputBuffer in[] = {MakeInput(inputs)};
          const OutputBuffer out[] = {MakeOutput(outputs)};
          ASSERT_TRUE(model->Run(in, out).ok());
          if (expected.empty()) expected = outputs;
          EXPECT_EQ(outputs, expected) << kernel.name << " " << routine << " " << threads;
        }
      }
    }
  }
}

// Models that are copies of one graph pack no constant twice, unless its form differs.
TEST(Routines, ModelsTakeOverWhatOthersHavePacked) {
  const Graph graph = MakeNetwork();
  const Result<Model> first = Model::Prepare(graph);
  ASSERT_TRUE(first.ok()) << first.status().message();
  Result<Model> plain = Model::Prepare(graph);
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  const std::vector<int8_t> expected = RunOnce(*plain);
  const Model* const earlier[] = {&*first};
  for (const KernelInfo& kernel : ListKernels()) {
    if (!kernel.usable) continue;
    const PrepareOptions options = {.routines = {{.layer = "1", .kernel = kernel.name}}};
    Result<Model> taken = Model::Prepare(graph, options, earlier);
    ASSERT_TRUE(taken.ok()) << taken.status().message();
    EXPECT_EQ(taken->layers()[1].kernel, kernel.name);
    EXPECT_EQ(taken->constant_bytes(), Model::Prepare(graph, options)->constant_bytes());
    EXPECT_EQ(RunOnce(*taken), expected) << kernel.name;
  }
}

TEST(Routines, EachLayerCanHaveItsOwnKernel) {
  const Graph graph = MakeNetwork();
  Result<Model> model = Model::Prepare(graph);
  ASSERT_TRUE(model.ok()) << model.status().message();
  const std::vector<int8_t> expected = RunOnce(*model);
  for (const KernelInfo& kernel : ListKernels()) {
    if (!kernel.usable) continue;
    Result<Model> other =
        Model::Prepare(graph, {.routines = {{.layer = "1", .kernel = kernel.name}}});
    ASSERT_TRUE(other.ok()) << other.status().message();
    EXPECT_EQ(other->layers()[1].kernel, kernel.name);
    EXPECT_EQ(RunOnce(*other), expected) << kernel.name;
  }
  const Status unknown =
      Model::Prepare(graph, {.routines = {{.layer = "1", .kernel = "mmx"}}}).status();
  EXPECT_NE(unknown.message().find("CONV_2D #1"), std::string::npos) << unknown.message();
  EXPECT_NE(unknown.message().find("kernel mmx is none of"), std::string::npos)
      << unknown.message();
}

// The most parts into which a run of the product below is cut.
int MostParts(int threads) {
  Random random(3);
  Builder b("large");
  const Value x = b.Input("x", Type::kInt8, {512, 256}, PerTensor(0.02f, 3));
  const Constant w = Weights(b, random, {256, 256}, 0, 256);
  b.Output(b.FullyConnected(x, w, kNoBias, {}, PerTensor(0.05f, -5)), "y");
  Result<Graph> graph = b.Finish();
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  int most = 1;
  PrepareOptions options = {.threads = 3, .routines = {{.layer = "0", .threads = threads}}};
  options.parallel_for = [&most](int count, const std::function<void(int)>& task) {
    most = std::max(most, count);
    for (int i = 0; i < count; ++i) task(i);
  };
  Result<Model> model = Model::Prepare(std::move(*graph), options);
  EXPECT_TRUE(model.ok()) << model.status().message();
  most = 1;
  EXPECT_TRUE(model->RunLayersForTiming().ok());
  return most;
}

TEST(Routines, EachLayerCanHaveItsOwnNumberOfThreads) {
  EXPECT_EQ(MostParts(0), 3);
  EXPECT_EQ(MostParts(1), 1);
  EXPECT_EQ(MostParts(2), 2);
  EXPECT_EQ(MostParts(7), 3);
  EXPECT_EQ(Model::Prepare(MakeNetwork(), {.routines = {{.layer = "1", .threads = -1}}})
                .status()
                .message(),
            "layer '1' cannot use -1 threads");
}

// A filter [channels, 2, 3, 5] over x [2, 3, 4, 5], as far apart as `stride`.
Graph MakeUpsampling(int channels, Extent stride, const Shape& shape) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> real(-1, 1);
  const auto reals = [&](int count) {
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) value = real(random);
    return values;
  };
  Builder b("upsampling");
  const Value x = b.Input("x", Type::kFloat32, {2, 3, 4, 5}, {});
  const Constant w = b.Const<float>("w", reals(channels * 30), {channels, 2, 3, 5});
  const Constant bias = b.Const<float>("bias", reals(channels), {channels});
  const TransposeConv op = {.shape = shape, .stride = stride, .activation = Activation::kRelu6};
  b.Output(b.Layer(op, {x.id, w.id, bias.id}, Type::kFloat32, {}), "y");
  Result<Graph> graph = b.Finish();
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return std::move(*graph);
}

std::vector<float> Upsample(Model& model) {
  std::vector<float> x(120);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 101) / 32 - 1;
  std::vector<float> y(static_cast<size_t>(*CountElements(model.output(0).shape)), 99);
  const InputBuffer in[] = {MakeInput(x)};
  const OutputBuffer out[] = {MakeOutput(y)};
  EXPECT_TRUE(model.Run(in, out).ok());
  return y;
}

TEST(Routines, TilesAreWhatScatteringMakes) {
  for (const int channels : {1, 3, 16, 37}) {
    for (const int threads : {1, 3}) {
      const Graph graph = MakeUpsampling(channels, {2, 3}, {2, 6, 12, channels});
      Result<Model> tiles = Model::Prepare(graph, {.threads = threads});
      ASSERT_TRUE(tiles.ok()) << tiles.status().message();
      EXPECT_EQ(tiles->layers()[0].routine, "cpu:float32/gemm");
      Result<Model> scatter = Model::Prepare(graph, {.routines = {{"0", "cpu:float32/scatter"}}});
      ASSERT_TRUE(scatter.ok()) << scatter.status().message();
      EXPECT_EQ(Upsample(*tiles), Upsample(*scatter)) << channels;
    }
  }
  // Windows that overlap, that leave gaps, and that the output cuts off.
  for (const Extent stride : {Extent{1, 3}, Extent{3, 3}, Extent{2, 2}}) {
    const Shape shape = {2, 2 * stride.height + 2, 3 * stride.width + 3, 3};
    const Result<Model> model = Model::Prepare(MakeUpsampling(3, stride, shape));
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(model->layers()[0].routine, "cpu:float32/scatter");
  }
  const Result<Model> larger = Model::Prepare(MakeUpsampling(3, {2, 3}, {2, 7, 12, 3}));
  ASSERT_TRUE(larger.ok()) << larger.status().message();
  EXPECT_EQ(larger->layers()[0].routine, "cpu:float32/scatter");
}

TEST(Routines, AnErrorSaysWhatThereIs) {
  PrepareOptions options;
  options.routines = {{"12", "cpu:qint8/gemm"}};
  EXPECT_EQ(Model::Prepare(MakeNetwork(), options).status().message(),
            "there is no layer '12' to run by 'cpu:qint8/gemm'");
  options.routines = {{"1", "cpu:qint16/gemm"}};
  const std::string message = Model::Prepare(MakeNetwork(), options).status().message();
  for (const char* const part :
       {"CONV_2D #1", "routine 'cpu:qint16/gemm' does not run it", "cpu:qint8/gemm accepts it",
        "cpu:qint16/gemm: not for int8", "cpu:hybrid/gemm: not for int8"}) {
    EXPECT_NE(message.find(part), message.npos) << message;
  }
  options.routines = {{"1", "cpu:qint8/unheard-of"}};
  EXPECT_NE(
      Model::Prepare(MakeNetwork(), options).status().message().find("cpu:qint8/gemm accepts"),
      std::string::npos);
}

// The product of 1x1 pixels, as a convolution or as a fully connected layer.
Graph MakeProduct(bool connected) {
  Random random(5);
  Builder b("product");
  const Shape pixels = connected ? Shape{50, 16} : Shape{50, 1, 1, 16};
  const Value x = b.Input("x", Type::kInt8, pixels, PerTensor(0.02f, 3));
  const Constant w = Weights(b, random, connected ? Shape{24, 16} : Shape{24, 1, 1, 16}, 0, 24);
  b.Output(connected ? b.FullyConnected(x, w, kNoBias, {}, PerTensor(0.05f, -5))
                     : b.Conv2D(x, w, kNoBias, {}, PerTensor(0.05f, -5)),
           "y");
  Result<Graph> graph = b.Finish();
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return std::move(*graph);
}

TEST(Numerics, AreDataOfTheLayer) {
  Graph connected = MakeProduct(true);
  EXPECT_EQ(LayerView(connected, 0).numerics().scaling, Scaling::kReal64);
  Graph conv = MakeProduct(false);
  EXPECT_EQ(LayerView(conv, 0).numerics().scaling, Scaling::kDoubleRounding);
  for (const Scaling scaling : {Scaling::kDoubleRounding, Scaling::kSingleRounding}) {
    connected.layers[0].numerics = conv.layers[0].numerics = Numerics{.scaling = scaling};
    const std::vector<int8_t> expected = RunGraph(conv);
    EXPECT_EQ(RunGraph(connected), expected);
    PrepareOptions options;
    options.routines = {{"0", "cpu:qint8/gemm-unpacked"}};
    EXPECT_EQ(RunGraph(connected, options), expected);
    EXPECT_EQ(RunGraph(conv, options), expected);
  }
}

TEST(Numerics, ARoundingThatAnOperatorDoesNotHaveIsRefused) {
  Graph conv = MakeProduct(false);
  conv.layers[0].numerics = Numerics{.scaling = Scaling::kReal64};
  const std::string message = Model::Prepare(conv).status().message();
  EXPECT_NE(message.find("rounded in a way that this operator does not have"), message.npos)
      << message;
}

// A device whose memory is the host's, and all of whose layers run through transfers.
class CopyingBackend final : public Backend, private Transfer {
 public:
  std::string name() const override { return "test"; }
  std::string hardware() const override { return "the host"; }
  Result<PreparedLayer> Prepare(const Graph& graph, size_t layer,
                                const LayerChoice& choice) const override {
    Result<PreparedLayer> on_host = host_->Prepare(graph, layer, choice);
    if (!on_host.ok()) return on_host;
    return ThroughTransfers(LayerView(graph, layer), std::move(*on_host),
                            std::shared_ptr<const Transfer>(std::shared_ptr<void>(), this));
  }
  std::vector<CandidateInfo> ListCandidates(const Graph& graph, size_t layer) const override {
    return host_->ListCandidates(graph, layer);
  }
  bool prepares_at_once() const override { return false; }
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

  mutable int to_host = 0, to_device = 0;

 private:
  Status ToHost(void* to, const void* from, size_t bytes) const override {
    ++to_host;
    std::memcpy(to, from, bytes);
    return {};
  }
  Status ToDevice(void* to, const void* from, size_t bytes) const override {
    ++to_device;
    std::memcpy(to, from, bytes);
    return {};
  }
  Status Wait() const override { return {}; }

  std::shared_ptr<const Backend> host_ = MakeHostBackend({});
};

TEST(Adapter, ALayerRunsThroughTransfers) {
  const Graph graph = MakeNetwork();
  const auto backend = std::make_shared<CopyingBackend>();
  PrepareOptions options;
  options.backend = backend;
  EXPECT_EQ(RunGraph(graph, options), RunGraph(graph));
  EXPECT_EQ(backend->to_host, 4);  // no constants
  EXPECT_EQ(backend->to_device, 4);
}

// An operator of the user's own, which gives its input back.
struct OfTheUser {
  static const OperatorRow kRow;
  Result<PreparedLayer> (*prepare)(const LayerView& layer) = nullptr;
};

constinit const OperatorRow OfTheUser::kRow = {
    .name = "OF_THE_USER",
    .min_inputs = 1,
    .max_inputs = 1,
    .types = kAnyType,
    .infer = [](const LayerView& layer) -> ShapesResult {
      return std::vector<Shape>{layer.input(0).shape};
    },
    .candidates =
        Candidate{"own", [](const LayerView& layer, const LayerOptions&) -> Result<PreparedLayer> {
                    return layer.op<OfTheUser>().prepare(layer);
                  }}};

Graph MakeGraphOfTheUser(Result<PreparedLayer> (*prepare)(const LayerView& layer)) {
  Builder b;
  const Value x = b.Input("x", Type::kInt8, {4}, PerTensor(1, 0));
  b.Output(b.Layer(OfTheUser{prepare}, {x.id}, Type::kInt8, PerTensor(1, 0)), "y");
  return *b.Finish();
}

TEST(Adapter, ScratchIsAlignedAsInTheArena) {
  const auto prepare = [](const LayerView&) -> Result<PreparedLayer> {
    PreparedLayer prepared;
    prepared.scratch_bytes = 1 << 20;
    prepared.routine = RoutineOf([](const RunArguments& arguments) -> Status {
      const auto address = reinterpret_cast<uintptr_t>(arguments.scratch);
      return address % 64 == 0 ? Status() : InvalidArgument("the scratch is not aligned");
    });
    return prepared;
  };
  PrepareOptions options;
  options.backend = std::make_shared<CopyingBackend>();
  Result<Model> model = Model::Prepare(MakeGraphOfTheUser(prepare), options);
  ASSERT_TRUE(model.ok()) << model.status().message();
  std::vector<int8_t> x(4);
  const InputBuffer inputs[] = {MakeInput(x)};
  const OutputBuffer outputs[] = {MakeOutput(x)};
  EXPECT_EQ(model->Run(inputs, outputs).message(), "");
}

TEST(Candidates, WhoMakesNoRoutineIsRefused) {
  const auto prepare = [](const LayerView&) -> Result<PreparedLayer> { return PreparedLayer(); };
  const Result<Model> model = Model::Prepare(MakeGraphOfTheUser(prepare));
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.status().message(), "OF_THE_USER #0 'y': 'cpu:qint8/own' made no routine");
}

}  // namespace
}  // namespace intaglio::nn
