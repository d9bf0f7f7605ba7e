// `intaglio quantize`.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "intaglio/nn/formats/save.h"
#include "intaglio/nn/ops/builder.h"
#include "intaglio/test/tools/cli.h"

namespace intaglio::tools {
namespace {

using nlohmann::json;

std::vector<float> RandomReals(size_t count, float low, float high, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& value : values) {
    value = low + (high - low) * static_cast<float>(random() >> 8) * 0x1p-24f;
  }
  return values;
}

// CONV_2D, FULLY_CONNECTED and SOFTMAX.
nn::Graph Network() {
  nn::Builder b;
  const nn::Value x = b.Input("x", Type::kFloat32, {1, 4, 4, 3});
  const auto w = b.Const<float>("w", RandomReals(8 * 9 * 3, -1, 1, 1), {8, 3, 3, 3});
  const auto c = b.Const<float>("c", RandomReals(8, -1, 1, 2), {8});
  nn::Conv2D conv;
  conv.activation = nn::Activation::kRelu;
  conv.padding = nn::Padding::Same();
  const nn::Value first = b.Conv2D(x, w, c, conv, {});
  const nn::Value flat = b.Reshape(first, {1, 128});
  const auto v = b.Const<float>("v", RandomReals(128 * 5, -0.2f, 0.2f, 3), {5, 128});
  const auto d = b.Const<float>("d", RandomReals(5, -1, 1, 4), {5});
  const nn::Value scores = b.FullyConnected(flat, v, d, {}, {});
  b.Output(b.Softmax(scores), "y");
  Result<nn::Graph> finished = b.Finish();
  if (!finished.ok()) {
    ADD_FAILURE() << finished.status().message();
    return {};
  }
  nn::Graph graph = std::move(*finished);
  graph.layers[0].label = "stem/conv";
  graph.layers[2].label = "head/dense";
  graph.layers[3].label = "head/softmax";
  return graph;
}

double SqnrIn(const std::string& text) {
  const size_t place = text.find("SQNR ");
  EXPECT_NE(place, std::string::npos) << text;
  return place == std::string::npos ? 0 : std::stod(text.substr(place + 5));
}

class CliQuantize : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    ASSERT_TRUE(nn::SaveGraph(Network(), In("float.tflite")).ok());
    Npy("x.npy", Type::kFloat32, {16, 4, 4, 3}, RandomReals(16 * 48, -1, 1, 5));
  }

  template <class T>
  void Npy(const std::string& name, Type type, const std::vector<int64_t>& shape,
           const std::vector<T>& values) const {
    std::vector<uint8_t> bytes(values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    ASSERT_TRUE(WriteNpy(In(name), type, shape, bytes).ok());
  }

  void Quantize(const std::string& arguments) const {
    const Outcome outcome = Run("quantize " + arguments);
    EXPECT_EQ(outcome.status, 0) << arguments << ": " << outcome.err;
    EXPECT_EQ(outcome.err, "");
  }

  bool Same(const std::string& a, const std::string& b) const {
    const std::string text = Text(In(a));
    return !text.empty() && text == Text(In(b));
  }

  json Inspect(const std::string& file) const {
    const Outcome outcome = Run("inspect --json " + file);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return json::parse(outcome.out);
  }

  // The routine of a layer, such as "cpu:qint8/gemm".
  static std::string RoutineOf(const json& model, const std::string& op) {
    for (const json& layer : model["layers"]) {
      if (layer["operator"] == op) return layer["routine"];
    }
    return "no " + op;
  }

  static std::string TypeOfEnd(const json& model, const std::string& end) {
    return model["tensors"][model[end][0].get<size_t>()]["type"];
  }
};

TEST_F(CliQuantize, MakesFilesOfBothFormats) {
  const Outcome outcome = Run("quantize float.tflite --data x.npy --threads 1 q.tflite --io int8");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  for (const char* const part : {"observed 16 samples", "layers   4 of 4 are quantized",
                                 "in 16 of 16 samples", "wrote    q.tflite: 4 layers"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << outcome.out;
  }
  const json model = Inspect("q.tflite");
  EXPECT_EQ(RoutineOf(model, "CONV_2D"), "cpu:qint8/gemm");
  EXPECT_EQ(TypeOfEnd(model, "inputs"), "int8");
  EXPECT_EQ(TypeOfEnd(model, "outputs"), "int8");
  EXPECT_EQ(Run("verify q.tflite").status, 0);
  for (const char* const type : {"int8", "uint8", "int16"}) {
    for (const char* const file : {"io.tflite", "io.onnx"}) {
      const std::string to = std::string(file) + " --io " + type;
      const Outcome made = Run("quantize float.tflite --data x.npy " + to);
      ASSERT_EQ(made.status, 0) << made.err;
      EXPECT_NE(made.out.find("in 16 of 16 samples"), std::string::npos) << to << made.out;
      EXPECT_GT(SqnrIn(made.out.substr(made.out.find("output "))), 20) << to;
      EXPECT_EQ(TypeOfEnd(Inspect(file), "inputs"), type) << to;
      EXPECT_EQ(TypeOfEnd(Inspect(file), "outputs"), type) << to;
    }
  }
  Quantize("float.tflite --data x.npy q.onnx");
  const json pairs = Inspect("q.onnx");
  EXPECT_EQ(TypeOfEnd(pairs, "inputs"), "float32");
  EXPECT_NE(RoutineOf(pairs, "CONV_2D").find("cpu:quint8"), std::string::npos)
      << RoutineOf(pairs, "CONV_2D");
}

TEST_F(CliQuantize, RepeatsItself) {
  Quantize("float.tflite --data x.npy a.tflite --threads 1 --method entropy");
  Quantize("float.tflite --data x.npy b.tflite --threads 2 --method entropy");
  EXPECT_TRUE(Same("a.tflite", "b.tflite"));
  Quantize("float.tflite --data x.npy c.tflite --method minmax");
  EXPECT_FALSE(Same("a.tflite", "c.tflite"));
}

TEST_F(CliQuantize, TakesFoldersImagesAndSomeOfTheSamples) {
  const std::vector<float> all = RandomReals(16 * 48, -1, 1, 5);
  fs::create_directory(In("folder"));
  Npy("folder/b.npy", Type::kFloat32, {3, 1, 4, 4, 3},
      std::vector<float>(all.begin() + 48, all.begin() + 4 * 48));
  Npy("folder/a.npy", Type::kFloat32, {1, 4, 4, 3},
      std::vector<float>(all.begin(), all.begin() + 48));
  Quantize("float.tflite --data folder a.tflite");
  Quantize("float.tflite --data x=x.npy --samples 4 b.tflite");
  EXPECT_TRUE(Same("a.tflite", "b.tflite"));
  // One image, and its samples as numbers: (s - 10) / 20.
  std::vector<uint8_t> samples(48);
  std::vector<float> scaled(48);
  for (size_t i = 0; i < 48; ++i) {
    samples[i] = static_cast<uint8_t>(5 * i);
    scaled[i] = static_cast<float>((samples[i] - 10.0) / 20.0);
  }
  const std::string head = "P6 4 4 255\n";
  std::vector<uint8_t> image(head.begin(), head.end());
  image.insert(image.end(), samples.begin(), samples.end());
  Write("image.ppm", image);
  Npy("bytes.npy", Type::kUInt8, {1, 4, 4, 3}, samples);
  Npy("scaled.npy", Type::kFloat32, {4, 4, 3}, scaled);
  Quantize("float.tflite --data image.ppm --mean 10 --std 20,20,20 c.tflite");
  Quantize("float.tflite --data bytes.npy --mean 10,10,10 --std 20 d.tflite");
  Quantize("float.tflite --data scaled.npy e.tflite");
  EXPECT_TRUE(Same("c.tflite", "e.tflite"));
  EXPECT_TRUE(Same("d.tflite", "e.tflite"));
}

TEST_F(CliQuantize, KeepsLayersByRecipeOrPattern) {
  const std::string recipe = R"([{"layers": "FULLY_CONNECTED", "float": true}])";
  Write("r.json", {recipe.begin(), recipe.end()});
  const Outcome by_recipe =
      Run("quantize float.tflite --data x.npy --recipe r.json --threads 1 a.tflite");
  ASSERT_EQ(by_recipe.status, 0) << by_recipe.err;
  EXPECT_NE(by_recipe.out.find("stays float32: a rule keeps it"), std::string::npos)
      << by_recipe.out;
  EXPECT_EQ(RoutineOf(Inspect("a.tflite"), "FULLY_CONNECTED"), "cpu:float32/gemm");
  Quantize("float.tflite --data x.npy --keep-float FULLY b.tflite");
  EXPECT_TRUE(Same("a.tflite", "b.tflite"));
}

TEST_F(CliQuantize, HasOtherWidths) {
  Quantize("float.tflite --data x.npy --bits w8a16 a.tflite");
  EXPECT_NE(RoutineOf(Inspect("a.tflite"), "CONV_2D").find("int16"), std::string::npos);
  Quantize("float.tflite --bits w8 b.tflite");  // needs no samples
  EXPECT_NE(RoutineOf(Inspect("b.tflite"), "CONV_2D").find("hybrid"), std::string::npos);
  Quantize("float.tflite --data x.npy --bits w4a8 --per-tensor c.tflite");
  Quantize("float.tflite --data x.npy --bits w4a4 d.tflite");
  EXPECT_EQ(Run("verify d.tflite").status, 0);
  Quantize("float.tflite --data x.npy --bits w8a6 e.onnx");
}

// Two dense layers. One of the channels between them is 64 times larger in the first, and smaller
// in the second.
nn::Graph UnevenNetwork() {
  std::vector<float> w = RandomReals(16 * 8, -1, 1, 6);
  std::vector<float> v = RandomReals(4 * 16, -1, 1, 7);
  for (size_t i = 0; i < 8; ++i) w[i] *= 64;
  for (size_t o = 0; o < 4; ++o) v[o * 16] *= 0x1p-6f;
  nn::Builder b;
  const nn::Value x = b.Input("x", Type::kFloat32, {1, 8});
  const nn::Value y = b.FullyConnected(x, b.Const<float>("w", w, {16, 8}), nn::kNoBias,
                                       {.activation = nn::Activation::kRelu}, {});
  b.Output(b.FullyConnected(y, b.Const<float>("v", v, {4, 16}), nn::kNoBias, {}, {}), "y");
  Result<nn::Graph> graph = b.Finish();
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return graph.ok() ? std::move(*graph) : nn::Graph();
}

TEST_F(CliQuantize, EqualizesChannels) {
  ASSERT_TRUE(nn::SaveGraph(UnevenNetwork(), In("uneven.tflite")).ok());
  Npy("u.npy", Type::kFloat32, {16, 1, 8}, RandomReals(16 * 8, -1, 1, 5));
  const std::string start = "quantize uneven.tflite --data u.npy --per-tensor --threads 1 ";
  const Outcome plain = Run(start + "a.tflite");
  const Outcome equalized = Run(start + "--equalize b.tflite");
  ASSERT_EQ(plain.status, 0) << plain.err;
  ASSERT_EQ(equalized.status, 0) << equalized.err;
  EXPECT_EQ(plain.out.find("equalized"), std::string::npos) << plain.out;
  EXPECT_NE(equalized.out.find("equalized the channels of 1 of 1 pairs"), std::string::npos)
      << equalized.out;
  EXPECT_GT(SqnrIn(equalized.out), SqnrIn(plain.out) + 10);
  // A RESHAPE stands between the layers of this one.
  const Outcome none = Run("quantize float.tflite --data x.npy --threads 1 --equalize c.tflite");
  EXPECT_NE(none.out.find("equalized the channels of 0 of 0 pairs"), std::string::npos) << none.out;
}

TEST_F(CliQuantize, CorrectsBiases) {
  Npy("p.npy", Type::kFloat32, {16, 4, 4, 3}, RandomReals(16 * 48, 0, 1, 5));
  const std::string start = "quantize float.tflite --data p.npy --threads 1 ";
  const Outcome plain = Run(start + "--bits w3a8 a.tflite");
  const Outcome corrected = Run(start + "--bits w3a8 --correct-bias --report r.json b.tflite");
  ASSERT_EQ(plain.status, 0) << plain.err;
  ASSERT_EQ(corrected.status, 0) << corrected.err;
  EXPECT_EQ(plain.out.find("corrected"), std::string::npos) << plain.out;
  EXPECT_NE(corrected.out.find("corrected the biases of 2 of 2 layers"), std::string::npos)
      << corrected.out;
  EXPECT_GT(SqnrIn(corrected.out), SqnrIn(plain.out));
  EXPECT_EQ(Run("verify b.tflite").status, 0);
  Quantize("float.tflite --data p.npy --threads 2 --bits w3a8 --correct-bias c.tflite");
  EXPECT_TRUE(Same("b.tflite", "c.tflite"));
  Quantize("float.tflite --data p.npy --equalize --correct-bias d.onnx");
  // Layers without a bias get one.
  ASSERT_TRUE(nn::SaveGraph(UnevenNetwork(), In("uneven.tflite")).ok());
  Npy("u.npy", Type::kFloat32, {16, 1, 8}, RandomReals(16 * 8, 0, 1, 5));
  const Outcome added = Run("quantize uneven.tflite --data u.npy --correct-bias e.tflite");
  EXPECT_NE(added.out.find("corrected the biases of 2 of 2 layers"), std::string::npos)
      << added.out;
}

TEST_F(CliQuantize, SmoothsChannels) {
  ASSERT_TRUE(nn::SaveGraph(UnevenNetwork(), In("uneven.tflite")).ok());
  Npy("u.npy", Type::kFloat32, {16, 1, 8}, RandomReals(16 * 8, -1, 1, 5));
  const std::string start = "quantize uneven.tflite --data u.npy --threads 1 ";
  const Outcome plain = Run(start + "a.tflite");
  const Outcome smoothed = Run(start + "--smooth b.tflite");
  ASSERT_EQ(plain.status, 0) << plain.err;
  ASSERT_EQ(smoothed.status, 0) << smoothed.err;
  EXPECT_EQ(plain.out.find("smoothed"), std::string::npos) << plain.out;
  EXPECT_NE(smoothed.out.find("smoothed the channels of 1 of 2 inputs"), std::string::npos)
      << smoothed.out;
  EXPECT_GT(SqnrIn(smoothed.out), SqnrIn(plain.out));
  EXPECT_EQ(Run("verify b.tflite").status, 0);
}

TEST_F(CliQuantize, LearnsRounding) {
  Npy("p.npy", Type::kFloat32, {16, 4, 4, 3}, RandomReals(16 * 48, 0, 1, 5));
  const std::string start = "quantize float.tflite --data p.npy --threads 1 --bits w3a8 ";
  const Outcome plain = Run(start + "a.tflite");
  const Outcome learned = Run(start + "--learn-rounding b.tflite");
  ASSERT_EQ(plain.status, 0) << plain.err;
  ASSERT_EQ(learned.status, 0) << learned.err;
  EXPECT_EQ(plain.out.find("learned"), std::string::npos) << plain.out;
  EXPECT_NE(learned.out.find("learned the rounding of 2 layers: "), std::string::npos)
      << learned.out;
  EXPECT_GT(SqnrIn(learned.out), SqnrIn(plain.out));
  EXPECT_EQ(Run("verify b.tflite").status, 0);
  Quantize("float.tflite --data p.npy --threads 2 --bits w3a8 --learn-rounding c.tflite");
  EXPECT_TRUE(Same("b.tflite", "c.tflite"));
  Quantize("float.tflite --data p.npy --bits w4a8 --learn-rounding --correct-bias d.onnx");
  EXPECT_NE(Run("quantize float.tflite --bits w4 --learn-rounding e.tflite").status, 0);
}

TEST_F(CliQuantize, ReportsWhatLayersLose) {
  Quantize("float.tflite --data x.npy --report r.json a.tflite");
  const json report = json::parse(Text(In("r.json")));
  EXPECT_EQ(report["samples"], 16);
  ASSERT_EQ(report["layers"].size(), 4u);
  double before = 0;
  for (const json& layer : report["layers"]) {
    const double sqnr =
        layer["sqnr_alone"].is_null() ? HUGE_VAL : layer["sqnr_alone"].get<double>();
    EXPECT_GE(sqnr, before);
    EXPECT_GT(sqnr, 20);
    before = sqnr;
  }
  Quantize("float.tflite --data x.npy --report r.html b.onnx");
  const std::string page = Text(In("r.html"));
  EXPECT_NE(page.find("CONV_2D #0"), std::string::npos);
  // A histogram for each layer.
  size_t histograms = 0;
  for (size_t at = page.find("class=\"h\""); at != std::string::npos;
       at = page.find("class=\"h\"", at + 1)) {
    ++histograms;
  }
  EXPECT_EQ(histograms, 4u);
  EXPECT_EQ(report["layers"][0]["histogram"]["exact"].size(), 50u);
  EXPECT_NE(page.find("</html>"), std::string::npos);
}

// 3 GiB, of which the disk holds nothing: one sample is in memory at a time.
TEST_F(CliQuantize, ReadsFilesOfAnySize) {
  constexpr int64_t kSample = 4 * 4 * 3;
  constexpr int64_t kCount = int64_t{1} << 24;
  Npy("huge.npy", Type::kFloat32, {1, 4, 4, 3}, RandomReals(kSample, -1, 1, 5));
  std::string bytes = Text(In("huge.npy"));
  const size_t shape = bytes.find("(1, 4, 4, 3)");
  ASSERT_NE(shape, std::string::npos);
  const std::string wide = "(" + std::to_string(kCount) + ", 4, 4, 3)";
  // The header has spaces at its end.
  const size_t more = wide.size() - std::string("(1, 4, 4, 3)").size();
  bytes.replace(shape, std::string("(1, 4, 4, 3)").size(), wide);
  const size_t end = bytes.find('\n');
  ASSERT_EQ(bytes.substr(end - more, more), std::string(more, ' '));
  bytes.erase(end - more, more);
  std::ofstream(In("huge.npy"), std::ios::binary) << bytes;
  const auto size = bytes.size() + static_cast<size_t>((kCount - 1) * kSample) * sizeof(float);
  std::error_code error;
  fs::resize_file(In("huge.npy"), size, error);
  if (error) GTEST_SKIP() << "no file of 3 GiB here: " << error.message();
  const Outcome outcome =
      Run("quantize float.tflite --data huge.npy --samples 3 --threads 1 a.tflite");
  fs::remove(In("huge.npy"));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("observed 3 samples"), std::string::npos) << outcome.out;
}

TEST_F(CliQuantize, KeepsAccuracy) {
  const std::string start = "quantize float.tflite --data x.npy --bits w2a2 --threads 1 ";
  const Outcome plain = Run(start + "a.tflite");
  EXPECT_EQ(plain.out.find("accuracy"), std::string::npos) << plain.out;
  const Outcome kept = Run(start + "--max-drop 0 b.tflite");
  ASSERT_EQ(kept.status, 0) << kept.err;
  EXPECT_NE(kept.out.find("accuracy 100.00% of the network of float32"), std::string::npos)
      << kept.out;
  EXPECT_NE(kept.out.find("100.00% now"), std::string::npos) << kept.out;
  EXPECT_NE(kept.out.find("alone it lost"), std::string::npos) << kept.out;
  EXPECT_NE(kept.out.find("in 16 of 16 samples"), std::string::npos) << kept.out;
  // No sample has the answer 3.
  Npy("wrong.npy", Type::kInt64, {16, 1}, std::vector<int64_t>(16, 3));
  const Outcome wrong = Run(start + "--max-drop 0 --labels wrong.npy c.tflite");
  EXPECT_NE(wrong.out.find("accuracy 0.00% of the network"), std::string::npos) << wrong.out;
  EXPECT_TRUE(Same("a.tflite", "c.tflite"));
  Npy("few.npy", Type::kUInt8, {3}, std::vector<uint8_t>(3));
  ExpectError(start + "--max-drop 0 --labels few.npy d.tflite", 1, "3 labels for 16 answers");
  Npy("real.npy", Type::kFloat32, {16}, std::vector<float>(16));
  ExpectError(start + "--max-drop 0 --labels real.npy d.tflite", 1, "labels of float32");
  Npy("high.npy", Type::kInt64, {16}, std::vector<int64_t>(16, 5));
  ExpectError(start + "--max-drop 0 --labels high.npy d.tflite", 1,
              "label 0 is 5; an answer is 0 to 4");
  Npy("far.npy", Type::kInt64, {16}, std::vector<int64_t>(16, int64_t{1} << 32));
  ExpectError(start + "--max-drop 0 --labels far.npy d.tflite", 1,
              "the label 4294967296 is no answer");
  Npy("rows.npy", Type::kInt32, {16, 5}, std::vector<int32_t>(16 * 5));
  ExpectError(start + "--max-drop 0 --labels rows.npy d.tflite", 1,
              "rows.npy: has int32 [16, 5]; labels are one number");
  Npy("none.npy", Type::kInt32, {0}, std::vector<int32_t>());
  ExpectError(start + "--max-drop 0 --labels none.npy d.tflite", 1, "has int32 [0]; labels");
  ExpectError(start + "--labels few.npy d.tflite", 2, "--max-drop");
  const Outcome clear = Run(start + "--min-sqnr 20 e.tflite");
  ASSERT_EQ(clear.status, 0) << clear.err;
  EXPECT_NE(clear.out.find("dB with the rules as given"), std::string::npos) << clear.out;
  EXPECT_GE(SqnrIn(clear.out.substr(clear.out.find("output "))), 20);
  ExpectError(start + "--min-sqnr 20 --max-drop 0 e.tflite", 2, "excludes");
}

TEST_F(CliQuantize, NamesWhatIsWrong) {
  const std::string start = "quantize float.tflite q.tflite ";
  ExpectError("quantize float.tflite", 2, "--output is required");
  ExpectError(start + "--method best", 2, "--method");
  ExpectError(start + "--data x.npy --report r.txt", 1, "ends in neither .html nor .json");
  ExpectError(start + "--bits w8 --report r.json", 1, "compute in float32");
  ExpectError(start + "--bits w8 --correct-bias", 1, "compute in float32");
  ExpectError(start + "--io float16", 2, "--io");
  ExpectError(start + "--data x.npy --bits w9a8", 1, "bits 'w9a8': neither");
  ExpectError("quantize float.tflite q.bin --data x.npy", 1, "q.bin");
  ExpectError(start, 1, "--data: input 'x' float32 [1, 4, 4, 3] has no samples");
  ExpectError(start + "--data none.npy", 1, "none.npy: there is no such file");
  ExpectError(start + "--data x.npy --samples 0", 2, "--samples: Value 0 is not above 0");
  ExpectError(start + "--data float.tflite", 1, "ends in none of .npy, .bmp, .pgm and .ppm");
  Npy("no_sample.npy", Type::kFloat32, {0, 4, 4, 3}, std::vector<float>());
  ExpectError(start + "--data no_sample.npy", 1,
              "no_sample.npy: float32 [0, 4, 4, 3] has no sample");
  ExpectError(start + "--data y=x.npy", 1, "the model has no input 'y'");
  fs::create_directory(In("empty"));
  ExpectError(start + "--data empty", 1, "empty: no .npy");
  Npy("wide.npy", Type::kFloat32, {2, 4, 5, 3}, std::vector<float>(2 * 60));
  ExpectError(start + "--data wide.npy", 1,
              "wide.npy: has float32 [2, 4, 5, 3], but input 'x' takes samples of float32");
  ExpectError(start + "--data x.npy --keep-float tail/", 1, "'tail/' matches no layer");
  const std::string recipe = "[{}]";
  Write("bad.json", {recipe.begin(), recipe.end()});
  ExpectError(start + "--data x.npy --recipe bad.json", 1,
              "bad.json: rule 0 of the recipe lacks 'layers'");
  std::vector<float> ill(48, 1.0f);
  ill[7] = NAN;
  Npy("ill.npy", Type::kFloat32, {1, 4, 4, 3}, ill);
  EXPECT_NE(Run(start + "--data ill.npy").err.find("sample 0: tensor 'x' has NaN in element 7"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(In("q.tflite")));
}

// The ranges that the quantizer writes let the tuner compute layers of float32 with int8.
TEST_F(CliQuantize, RangesAreForTheTuner) {
  const Outcome made = Run("quantize float.tflite int8.tflite --data x.npy --ranges ranges.json");
  ASSERT_EQ(made.status, 0) << made.err;
  const json ranges = json::parse(Text(In("ranges.json")));
  EXPECT_EQ(ranges["format"], "intaglio-ranges-1");
  EXPECT_EQ(ranges["ranges"].size(), 5u) << ranges;
  EXPECT_TRUE(ranges["ranges"].contains("x"));
  const std::string tune = "tune float.tflite plan.json --threads 1 --budget 600 ";
  const Outcome tuned = Run(tune + "--allow int8 --ranges ranges.json --html page.html");
  ASSERT_EQ(tuned.status, 0) << tuned.err;
  // Whatever was fastest, the report has what was tried.
  EXPECT_NE(Text(In("page.html")).find("cpu:qint8/gemm"), std::string::npos);
  // All layers with integers, whatever was found: the outputs of the quantized file.
  json plan = json::parse(Text(In("plan.json")));
  plan["format"] = "intaglio-plan-3";
  plan["ranges"] = ranges["ranges"];
  plan["layers"] = json::array();
  const char* const operators[] = {"CONV_2D", "RESHAPE", "FULLY_CONNECTED", "SOFTMAX"};
  const Outcome inspected = Run("inspect int8.tflite --json");
  ASSERT_EQ(inspected.status, 0) << inspected.err;
  const json layers = json::parse(inspected.out)["layers"];
  ASSERT_EQ(layers.size(), 6u);  // with adapters at both ends
  for (size_t i = 0; i < 4; ++i) {
    const json way = {
        {"routine", layers[i + 1]["routine"]}, {"kernel", ""}, {"threads", 0}, {"ns", 1}};
    const std::string routine = layers[i + 1]["routine"];
    plan["layers"].push_back({{"layer", i},
                              {"operator", operators[i]},
                              {"label", ""},
                              {"schema", routine.substr(0, routine.find('/'))},
                              {"bounded", true},
                              {"chosen", way},
                              {"untuned", way},
                              {"noise", 0}});
  }
  const std::string text = plan.dump();
  Write("plan.json", {text.begin(), text.end()});
  Npy("one.npy", Type::kFloat32, {1, 4, 4, 3}, RandomReals(48, -1, 1, 9));
  const std::string run = " --input one.npy --threads 1 --output ";
  const Outcome planned = Run("run float.tflite --plan plan.json --strict" + run + "a");
  ASSERT_EQ(planned.status, 0) << planned.err;
  ASSERT_EQ(Run("run int8.tflite" + run + "b").status, 0);
  EXPECT_FALSE(Text(In("a/0_y.npy")).empty());
  EXPECT_EQ(Text(In("a/0_y.npy")), Text(In("b/0_y.npy")));
  const std::string need = "--allow int8 and --ranges need each other";
  ExpectError(tune + "--allow int8", 1, need);
  ExpectError(tune + "--ranges ranges.json", 1, need);
  ExpectError(tune + "--allow int8 --ranges none.json", 1, "none.json");
  ExpectError(tune + "--allow int8 --ranges plan.json", 1, "plan.json: the ranges lack");
  ExpectError("quantize float.tflite b.tflite --data x.npy --equalize --ranges r.json", 1,
              "--ranges with --equalize");
  ExpectError("quantize float.tflite b.tflite --data x.npy --smooth --ranges r.json", 1,
              "--ranges with --smooth");
  ExpectError("quantize float.tflite b.tflite --bits w8 --ranges r.json", 1,
              "--ranges of --bits w8");
}

}  // namespace
}  // namespace intaglio::tools
