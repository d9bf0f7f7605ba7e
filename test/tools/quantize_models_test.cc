// Networks of float32 that are quantized here, against the files of integers that TFLite's
// converter made of the same networks: both have to be as near to the network of float32.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <string>

#include "intaglio/nn/formats/load.h"
#include "intaglio/nn/formats/save.h"
#include "intaglio/nn/quantize/agreement.h"
#include "intaglio/nn/quantize/quantize_graph.h"
#include "intaglio/test/nn/shared_models.h"
#include "intaglio/tools/image.h"
#include "intaglio/tools/samples.h"

namespace intaglio::nn::quantize {
namespace {

namespace fs = std::filesystem;

fs::path SharedFile(const std::string& name) {
  for (const fs::path& file : test::SharedModelFiles()) {
    if (file.filename() == name) return file;
  }
  return {};
}

Graph Load(const std::string& name) {
  Result<Graph> graph = LoadGraph(SharedFile(name).string());
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return graph.ok() ? std::move(*graph) : Graph();
}

fs::path Inputs() { return SharedFile("ad01_fp32.tflite").parent_path() / ".." / ".." / "inputs"; }

InputBytes ToSample(const std::vector<float>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {{bytes.begin(), bytes.end()}};
}

tools::Image Crop(const tools::Image& image, int x, int y, int size) {
  tools::Image crop{size, size, image.channels, {}};
  for (int row = y; row < y + size; ++row) {
    const auto begin = image.samples.begin() + (row * image.width + x) * image.channels;
    crop.samples.insert(crop.samples.end(), begin, begin + size * image.channels);
  }
  return crop;
}

// Random squares of photographs, as numbers from 0 to `most`.
std::vector<InputBytes> Photographs(size_t count, int size, float most) {
  std::vector<tools::Image> images;
  for (const char* const name : {"cat.bmp", "bird.bmp", "grace_hopper.bmp"}) {
    const Result<tools::Image> image = tools::ReadImage((Inputs() / "images" / name).string());
    EXPECT_TRUE(image.ok()) << image.status().message();
    if (image.ok()) images.push_back(tools::WithChannels(*image, 3));
  }
  std::mt19937 random(1);
  std::vector<InputBytes> samples;
  while (!images.empty() && samples.size() < count) {
    const tools::Image& image = images[samples.size() % images.size()];
    const int least = std::min(image.width, image.height);
    const auto below = [&](int end) {
      return static_cast<int>(random() % static_cast<unsigned>(end));
    };
    const int side = least / 4 + below(least - least / 4 + 1);
    const tools::Image crop = tools::Resize(
        Crop(image, below(image.width - side + 1), below(image.height - side + 1), side), size,
        size);
    std::vector<float> values;
    for (const uint8_t sample : crop.samples) values.push_back(sample * most / 255);
    samples.push_back(ToSample(values));
  }
  return samples;
}

NextSample Between(const std::vector<InputBytes>& samples, size_t begin, size_t end) {
  return [&samples, i = begin, end](InputBytes& inputs) mutable -> Result<bool> {
    if (i >= end) return false;
    inputs = samples[i++];
    return true;
  };
}

struct Pair {
  std::string exact, theirs;
  std::vector<InputBytes> samples;  // the first half calibrates, the second compares
  double decibels;                  // that ours may be worse
};

OutputAgreement CompareWith(const Graph& exact, Graph actual, const Pair& pair) {
  Result<Model> x = Model::Prepare(exact);
  Result<Model> y = Model::Prepare(std::move(actual));
  EXPECT_TRUE(x.ok() && y.ok()) << x.status().message() << y.status().message();
  if (!x.ok() || !y.ok()) return {};
  const size_t count = pair.samples.size();
  const Result<Agreement> agreement =
      Compare(*x, *y, Between(pair.samples, count / 2, count), count);
  EXPECT_TRUE(agreement.ok()) << agreement.status().message();
  return agreement.ok() ? agreement->outputs.at(0) : OutputAgreement();
}

InputBytes OutputsOf(const Graph& graph, const InputBytes& sample) {
  Result<Model> model = Model::Prepare(graph);
  InputBytes outputs;
  EXPECT_TRUE(model.ok() && RunOn(*model, sample, outputs).ok());
  return outputs;
}

void ExpectAsGood(const Pair& pair) {
  SCOPED_TRACE(pair.exact);
  Graph graph = Load(pair.exact);
  Simplify(graph);
  const size_t half = pair.samples.size() / 2;
  const Result<Calibration> calibration = Calibrate(graph, Between(pair.samples, 0, half));
  ASSERT_TRUE(calibration.ok()) << calibration.status().message();
  const Result<Quantized> ours = QuantizeGraph(graph, calibration->ranges, {});
  ASSERT_TRUE(ours.ok()) << ours.status().message();
  for (const Outcome& layer : ours->layers) EXPECT_TRUE(layer.quantized) << layer.reason;
  const OutputAgreement a = CompareWith(graph, ours->graph, pair);
  const OutputAgreement b = CompareWith(graph, Load(pair.theirs), pair);
  std::printf("%s: SQNR %.1f dB (TFLite's %.1f), the same place in %zu of %zu (%zu)\n",
              pair.exact.c_str(), a.similarity.Sqnr(), b.similarity.Sqnr(), a.same_place,
              pair.samples.size() - half, b.same_place);
  EXPECT_GE(a.similarity.Sqnr(), b.similarity.Sqnr() - pair.decibels);
  EXPECT_GE(a.similarity.Cosine(), 0.98);
  // The written file is the same network.
  const Result<std::vector<uint8_t>> bytes = ExportGraph(ours->graph, Format::kTflite);
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  const auto owner = std::make_shared<const std::vector<uint8_t>>(*bytes);
  const Result<Graph> read = ImportGraph(*owner, owner, "ours", Format::kTflite);
  ASSERT_TRUE(read.ok()) << read.status().message();
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(OutputsOf(ours->graph, pair.samples[i]) == OutputsOf(*read, pair.samples[i]));
  }
}

class QuantizeModels : public testing::Test {
 protected:
  void SetUp() override {
    if (SharedFile("ad01_fp32.tflite").empty()) GTEST_SKIP() << test::NoSharedModels();
  }
};

TEST_F(QuantizeModels, ResNet) {
  ExpectAsGood(
      {"pretrainedResnet.tflite", "pretrainedResnet_quant.tflite", Photographs(256, 32, 255), 1});
}

TEST_F(QuantizeModels, MobileNet) {
  ExpectAsGood({"vww_96_float.tflite", "vww_96_int8.tflite", Photographs(128, 96, 1), 2});
}

TEST_F(QuantizeModels, Autoencoder) {
  const Graph graph = Load("ad01_fp32.tflite");
  Result<tools::Samples> opened =
      tools::Samples::Open(graph, {(Inputs() / "ad01_fp32").string()}, {});
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  Pair pair{"ad01_fp32.tflite", "ad01_int8.tflite", {}, 1};
  InputBytes sample = *BuffersFor(graph, graph.inputs);
  while (*opened->Next(sample)) pair.samples.push_back(sample);
  ExpectAsGood(pair);
}

}  // namespace
}  // namespace intaglio::nn::quantize
