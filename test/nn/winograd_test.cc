// CONV_2D by Winograd's algorithm in whole models: where it is taken, and that its bits are those
// of the product.
#include <string>

#include "intaglio/gemm/describe.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/test/nn/testing.h"

namespace intaglio::nn {
namespace {

// A kernel with Winograd's transforms, and whether they gain so little that fewer layers take them.
struct KernelCase {
  const char* name;
  bool gains_little;
};
constexpr KernelCase kKernels[] = {
    {"avx512-vnni", true}, {"avx512bw", false}, {"avx2", false}, {"sse4.1", false}};

bool IsUsable(const std::string& name) {
  for (const KernelInfo& kernel : ListKernels()) {
    if (kernel.name == name) return kernel.usable;
  }
  return false;
}

struct Sizes {
  int batch;
  int side;
  int channels;
  int outputs;
  int height = 3;  // of the filters
  int width = 3;
};

// Two such convolutions, one behind the other, into a concatenation, whose lines have a stride.
Graph MakeNetwork(Type type, const Sizes& size) {
  Random random(17);
  Builder b("winograd");
  const int middle = type == Type::kUInt8 ? 128 : 0;
  const auto weights = [&](int outputs, int channels) {
    const Q q = random.Tensor(type, {outputs, size.height, size.width, channels}, 0.01f, middle);
    if (type == Type::kUInt8) return Const(b, q, q.quantization());
    std::vector<float> scales;
    for (int i = 0; i < outputs; ++i) scales.push_back(random.Scale(0.002, 0.02));
    return Const(b, q, PerAxis(scales, 0));
  };
  const auto bias = [&](int outputs) {
    std::vector<int32_t> values;
    for (int i = 0; i < outputs; ++i) values.push_back(random.Int(-5000, 5000));
    return b.Const<int32_t>("bias", values, {outputs});
  };
  const Value x = b.Input("x", type, {size.batch, size.side, size.side, size.channels},
                          PerTensor(0.02f, middle + 3));
  const Value first =
      b.Conv2D(x, weights(size.outputs, size.channels), bias(size.outputs),
               {.padding = Padding::Same(), .activation = Activation::kRelu}, PerTensor(0.5f, 7));
  const Value second = b.Conv2D(first, weights(size.outputs, size.outputs), bias(size.outputs),
                                {.padding = Padding::Same()}, PerTensor(0.5f, 7));
  const Value both[] = {first, second};
  b.Output(b.Concatenation(both, {3, Activation::kNone}, PerTensor(0.5f, 7)), "y");
  Result<Graph> graph = b.Finish();
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return std::move(*graph);
}

std::vector<uint8_t> RunOnce(Model& model) {
  Random random(11);
  const Type type = model.input(0).type;
  std::vector<uint8_t> x(*CountBytes(model.input(0).shape, type));
  for (uint8_t& element : x) element = static_cast<uint8_t>(random.Element(type));
  std::vector<uint8_t> y(*CountBytes(model.output(0).shape, type));
  const InputBuffer in[] = {{x.data(), x.size(), type}};
  const OutputBuffer out[] = {{y.data(), y.size(), type}};
  const Status status = model.Run(in, out);
  EXPECT_TRUE(status.ok()) << status.message();
  return y;
}

std::string Routine(Type type, const char* algorithm) {
  return std::string("cpu:q") + NameOf(type) + "/" + algorithm;
}

TEST(WinogradLayers, AreTheProductsBits) {
  constexpr Sizes kSizes[] = {{1, 16, 32, 32},      {2, 7, 16, 48},        {3, 5, 4, 9},
                              {1, 13, 260, 16},     {1, 17, 32, 32, 1, 7}, {2, 6, 8, 12, 7, 1},
                              {1, 9, 16, 24, 5, 5}, {1, 5, 4, 20, 5, 1},   {1, 8, 36, 16, 3, 1}};
  for (const KernelCase& kernel : kKernels) {
    if (!IsUsable(kernel.name)) continue;
    for (const Type type : {Type::kInt8, Type::kUInt8}) {
      for (const Sizes& size : kSizes) {
        if (type == Type::kUInt8 && size.outputs % 4 != 0) continue;
        if (kernel.gains_little && size.height * size.width != 9) continue;
        SCOPED_TRACE(std::string(kernel.name) + " " + NameOf(type) + " " +
                     std::to_string(size.side));
        const Graph graph = MakeNetwork(type, size);
        PrepareOptions options;
        options.kernel = kernel.name;
        options.routines = {{"0", Routine(type, "gemm")}, {"1", Routine(type, "gemm")}};
        Result<Model> product = Model::Prepare(graph, options);
        ASSERT_TRUE(product.ok()) << product.status().message();
        const std::vector<uint8_t> expected = RunOnce(*product);
        for (const int threads : {1, 3}) {
          options.threads = threads;
          options.routines = {{"0", Routine(type, "winograd")}};
          if (size.outputs % 4 == 0) options.routines.push_back({"1", Routine(type, "winograd")});
          Result<Model> model = Model::Prepare(graph, options);
          ASSERT_TRUE(model.ok()) << model.status().message();
          EXPECT_EQ(model->layers()[0].routine, Routine(type, "winograd"));
          EXPECT_EQ(model->layers()[0].macs, product->layers()[0].macs);
          EXPECT_EQ(RunOnce(*model), expected);
          Result<Model> shared = model->Share();
          ASSERT_TRUE(shared.ok());
          EXPECT_EQ(RunOnce(*shared), expected);
        }
      }
    }
  }
}

TEST(WinogradLayers, AreTakenWhereTheyPay) {
  for (const KernelCase& kernel : kKernels) {
    if (!IsUsable(kernel.name)) continue;
    const auto taken = [&](const Sizes& size) {
      const Result<Model> model =
          Model::Prepare(MakeNetwork(Type::kInt8, size), {.kernel = kernel.name});
      EXPECT_TRUE(model.ok()) << model.status().message();
      return model->layers()[0].routine == Routine(Type::kInt8, "winograd");
    };
    EXPECT_TRUE(taken({1, 7, 32, 16}));
    EXPECT_NE(taken({1, 7, 16, 16}), kernel.gains_little);   // few channels
    EXPECT_NE(taken({1, 10, 32, 32}), kernel.gains_little);  // tiles that are part empty
    // Weights that are transformed in each call, for few tiles and for many.
    EXPECT_NE(taken({1, 12, 256, 80}), kernel.gains_little);
    EXPECT_TRUE(taken({1, 14, 256, 80}));
    EXPECT_TRUE(taken({2, 12, 256, 80}));
    EXPECT_FALSE(taken({1, 6, 16, 16}));
    // Filters of lines, whose tiles are full at 17 and 8 pixels, and not at 7.
    EXPECT_NE(taken({1, 17, 16, 16, 1, 7}), kernel.gains_little);
    EXPECT_NE(taken({1, 17, 16, 16, 7, 1}), kernel.gains_little);
    EXPECT_NE(taken({1, 8, 16, 16, 5, 5}), kernel.gains_little);
    EXPECT_NE(taken({1, 8, 16, 16, 1, 3}), kernel.gains_little);
    EXPECT_FALSE(taken({1, 7, 16, 16, 1, 7}));
    EXPECT_FALSE(taken({1, 17, 16, 16, 3, 5}));
    EXPECT_FALSE(taken({1, 7, 12, 16}));
    EXPECT_FALSE(taken({1, 7, 16, 20}));
  }
  // Other kernels refuse it, and say why.
  PrepareOptions options;
  options.kernel = "scalar";
  options.routines = {{"0", Routine(Type::kInt8, "winograd")}};
  const Result<Model> model = Model::Prepare(MakeNetwork(Type::kInt8, {1, 7, 16, 16}), options);
  EXPECT_NE(model.status().message().find("the kernel has no Winograd transforms"),
            std::string::npos)
      << model.status().message();
}

// How many tiles are computed at once is a parameter of the routine, which changes no bit.
TEST(WinogradLayers, TakeTilesAsAParameter) {
  const Graph graph = MakeNetwork(Type::kInt8, {1, 30, 16, 24});
  const std::string name = Routine(Type::kInt8, "winograd");
  for (const KernelCase& kernel : kKernels) {
    if (!IsUsable(kernel.name)) continue;
    Result<Model> product = Model::Prepare(
        graph, {.kernel = kernel.name, .routines = {{"0", Routine(Type::kInt8, "gemm")}}});
    ASSERT_TRUE(product.ok()) << product.status().message();
    const auto expected = RunOnce(*product);
    const std::vector<CandidateInfo> candidates = product->ListRoutines(0);
    ASSERT_EQ(candidates[0].name, name);
    ASSERT_EQ(candidates[0].parameters.size(), 10u);
    for (const std::string& parameters : candidates[0].parameters) {
      Result<Model> model =
          Model::Prepare(graph, {.kernel = kernel.name, .routines = {{"0", name + parameters}}});
      ASSERT_TRUE(model.ok()) << model.status().message();
      EXPECT_EQ(model->layers()[0].routine, name + parameters);
      EXPECT_EQ(RunOnce(*model), expected) << parameters;
    }
    const auto why_not = [&](const std::string& parameters) {
      return Model::Prepare(graph, {.kernel = kernel.name, .routines = {{"0", name + parameters}}})
          .status()
          .message();
    };
    EXPECT_NE(why_not("?tiles=7").find("'tiles' is one of 12, 24, 48, 96, 192"), std::string::npos);
    EXPECT_NE(why_not("?tiles").find("'tiles' is one of"), std::string::npos);
    EXPECT_NE(why_not("?rows=7").find("no parameter 'rows'; it has tiles, kept"),
              std::string::npos);
    EXPECT_NE(why_not("?").find("no parameter ''"), std::string::npos);
    EXPECT_NE(why_not("?tiles=12&").find("no parameter ''"), std::string::npos);
  }
}

// Transformed weights of small layers are counted before they are made, and as constants.
TEST(WinogradLayers, CountTheirMemory) {
  if (!IsUsable("avx2")) GTEST_SKIP() << "needs AVX2";
  const Graph graph = MakeNetwork(Type::kInt8, {1, 16, 64, 64});
  PrepareOptions options;
  options.kernel = "avx2";
  const Result<Model> model = Model::Prepare(graph, options);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_GT(model->layers()[0].constant_bytes, size_t{9 * 9 * 64 * 64});
  // Asked for, or not, whatever their size.
  const auto constants = [&](WinogradWeights weights, const char* routine) {
    PrepareOptions other = options;
    other.winograd_weights = weights;
    if (routine != nullptr) other.routines = {{"0", routine}};
    const Result<Model> prepared = Model::Prepare(graph, other);
    EXPECT_TRUE(prepared.ok()) << prepared.status().message();
    return prepared->layers()[0].constant_bytes;
  };
  const size_t kept = model->layers()[0].constant_bytes;
  EXPECT_EQ(constants(WinogradWeights::kKept, nullptr), kept);
  EXPECT_LT(constants(WinogradWeights::kPerCall, nullptr), size_t{2 * 9 * 64 * 64});
  EXPECT_EQ(constants(WinogradWeights::kPerCall, "cpu:qint8/winograd?kept=1"), kept);
  EXPECT_LT(constants(WinogradWeights::kKept, "cpu:qint8/winograd?tiles=24&kept=0"),
            size_t{2 * 9 * 64 * 64});
  options.limits.max_bytes = model->layers()[0].constant_bytes;
  const Result<Model> refused = Model::Prepare(graph, options);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), StatusCode::kOutOfMemory) << refused.status().message();
}

// Large weights are kept if that is asked for, and charged then, before and after.
TEST(WinogradLayers, LargeWeightsAreChargedIfTheyAreKept) {
  if (!IsUsable("avx2")) GTEST_SKIP() << "needs AVX2";
  const Graph graph = MakeNetwork(Type::kInt8, {1, 16, 256, 128});
  PrepareOptions options;
  options.kernel = "avx2";
  Result<Model> plain = Model::Prepare(graph, options);
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  options.winograd_weights = WinogradWeights::kKept;
  Result<Model> kept = Model::Prepare(graph, options);
  ASSERT_TRUE(kept.ok()) << kept.status().message();
  EXPECT_EQ(RunOnce(*kept), RunOnce(*plain));
  constexpr size_t kTransformed = size_t{8 * 9 * 256 * 128};
  EXPECT_GT(kept->layers()[0].constant_bytes, kTransformed);
  const size_t more = kept->constant_bytes() - plain->constant_bytes();
  EXPECT_GE(more, kTransformed);
  EXPECT_GE(kept->taken_bytes(), plain->taken_bytes() + more);
  EXPECT_LE(kept->taken_bytes(), plain->taken_bytes() + more + more / 8);
  options.limits.max_bytes = kept->taken_bytes() - 1;
  EXPECT_EQ(Model::Prepare(graph, options).status().code(), StatusCode::kOutOfMemory);
  options.winograd_weights = WinogradWeights::kBySize;
  EXPECT_TRUE(Model::Prepare(graph, options).ok());
}

}  // namespace
}  // namespace intaglio::nn
