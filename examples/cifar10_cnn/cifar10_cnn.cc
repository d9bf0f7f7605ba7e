// The CNN for CIFAR-10 that proposals for fully integral networks are discussed with, by hand and
// in two forms: from float32 pixels to float32 scores, and of integers from end to end. Both give
// the same bits, and so does the integer part that Partition finds in the first.
//
//   5x5 convolution to 32, max pool, ReLU; 5x5 convolution to 32, ReLU, average pool;
//   5x5 convolution to 64, ReLU, average pool; fully connected to 10.
//
// The weights are random numbers from a seed, not trained ones: the arithmetic is that of the
// trained network, its answers mean nothing.
#include <intaglio/nn/ops/builder.h>
#include <intaglio/nn/passes/partition.h>
#include <intaglio/nn/runtime/model.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace nn = intaglio::nn;
using intaglio::Result;
using intaglio::Status;
using intaglio::Type;

enum class Form { kReal, kInteger };

constexpr int kPixels = 32 * 32 * 3;
const nn::Quantization kPixel = nn::PerTensor(1.0f / 128, 0);  // [-1, 1)

class Cifar10 {
 public:
  explicit Cifar10(Form form) : b_(form == Form::kReal ? "cifar10_real" : "cifar10_integer") {
    const bool is_real = form == Form::kReal;
    const nn::Value pixels =
        is_real
            ? b_.Quantize(b_.Input("pixels", Type::kFloat32, {1, 32, 32, 3}), Type::kInt8, kPixel)
            : b_.Input("pixels", Type::kInt8, {1, 32, 32, 3}, kPixel);
    const nn::Value scores = Layers(pixels);
    b_.Output(is_real ? b_.Dequantize(scores) : scores, "scores");
  }

  Result<nn::Graph> Finish() { return b_.Finish(); }

 private:
  nn::Value Layers(nn::Value x) {
    // SAME is what pads 5x5 windows by 2, and 3x3 windows with stride 2 by 1 at the bottom and
    // right.
    x = Convolve(x, "convolution", 3, 32, nn::Activation::kNone);
    x = b_.MaxPool2D(x, {.filter = {3, 3}, .stride = {2, 2}, .padding = nn::Padding::Same()});
    x = b_.Relu(x, scale_);
    x = Convolve(x, "convolution1", 32, 32, nn::Activation::kRelu);
    x = AveragePool(x);
    x = Convolve(x, "convolution2", 32, 64, nn::Activation::kRelu);
    x = AveragePool(x);
    x = b_.Reshape(x, {1, 1024});
    const nn::Constant weights = b_.Const<int8_t>("inner_product", Weights(10 * 1024), {10, 1024},
                                                  nn::PerAxis(Scales(10), 0));
    return b_.FullyConnected(x, weights, Bias("inner_product_bias", 10), {}, Spread(1024));
  }

  nn::Value Convolve(nn::Value x, const std::string& name, int in, int out,
                     nn::Activation activation) {
    const int depth = 5 * 5 * in;
    const nn::Constant filter = b_.Const<int8_t>(name, Weights(static_cast<size_t>(out * depth)),
                                                 {out, 5, 5, in}, nn::PerAxis(Scales(out), 0));
    const nn::Constant bias = Bias(name + "_bias", out);
    scale_ = Spread(depth);
    return b_.Conv2D(x, filter, bias, {.padding = nn::Padding::Same(), .activation = activation},
                     scale_);
  }

  // Zeros at the bottom and right count in the average: a layer pads with them.
  nn::Value AveragePool(nn::Value x) {
    const nn::Value padded = b_.Pad(x, {.paddings = {{0, 0}, {0, 1}, {0, 1}, {0, 0}}});
    return b_.AveragePool2D(padded, {.filter = {3, 3}, .stride = {2, 2}});
  }

  // Channels differ in their scales, by up to a factor of two.
  std::vector<float> Scales(int count) {
    std::vector<float> scales;
    for (int i = 0; i < count; ++i) {
      scales.push_back(kWeight * (1.0f + static_cast<float>(random_() % 1024) / 1024));
    }
    return scales;
  }
  std::vector<int8_t> Weights(size_t count) {
    std::vector<int8_t> weights(count);
    for (int8_t& w : weights) w = static_cast<int8_t>(static_cast<int>(random_() % 255) - 127);
    return weights;
  }
  nn::Constant Bias(std::string name, int count) {
    std::vector<int32_t> bias;
    for (int i = 0; i < count; ++i) bias.push_back(static_cast<int32_t>(random_() % 4001) - 2000);
    return b_.Const<int32_t>(std::move(name), bias, {count});
  }

  // A quantization for sums of `depth` products of such weights with numbers around 1/2, as a
  // calibration would find it.
  static nn::Quantization Spread(int depth) {
    const float deviation = std::sqrt(static_cast<float>(depth)) * kWeight * 110.0f * 0.5f;
    return nn::PerTensor(3 * deviation / 127, 0);
  }

  static constexpr float kWeight = 1.0f / 2048;

  nn::Builder b_;
  std::mt19937 random_{42};
  nn::Quantization scale_;
};

// The value; ends the program where there is none.
template <class T>
T OrFail(Result<T> result) {
  if (result.ok()) return std::move(*result);
  std::fprintf(stderr, "%s\n", result.status().message().c_str());
  std::exit(1);
}

template <class Out, class In>
std::vector<Out> Run(const nn::Graph& graph, const std::vector<In>& in,
                     const nn::PrepareOptions& options = {}) {
  nn::Model model = OrFail(nn::Model::Prepare(graph, options));
  std::vector<Out> out(static_cast<size_t>(*nn::CountElements(model.output(0).shape)));
  const nn::InputBuffer inputs[] = {nn::MakeInput<In>(in)};
  const nn::OutputBuffer outputs[] = {nn::MakeOutput<Out>(out)};
  const Status status = model.Run(inputs, outputs);
  if (status.ok()) return out;
  std::fprintf(stderr, "%s\n", status.message().c_str());
  std::exit(1);
}

const nn::PrepareOptions kIntegerOnly = {.integer_only = true};

template <class T>
int Compare(const char* what, const std::vector<T>& a, const std::vector<T>& b) {
  std::printf("%s: %s\n", what, a == b ? "the same bits" : "OTHER BITS");
  return a == b ? 0 : 1;
}

}  // namespace

int main() {
  const nn::Graph real = OrFail(Cifar10(Form::kReal).Finish());
  const nn::Graph integer = OrFail(Cifar10(Form::kInteger).Finish());

  // A picture as the camera gives it, and as the real form wants it.
  std::mt19937 random(7);
  std::vector<uint8_t> camera(kPixels);
  for (uint8_t& byte : camera) byte = static_cast<uint8_t>(random());
  std::vector<float> pixels;
  for (const uint8_t byte : camera) pixels.push_back((static_cast<float>(byte) - 128) / 128);

  const std::vector<float> scores = Run<float>(real, pixels);
  for (const float score : scores) std::printf("%8.4f", static_cast<double>(score));
  std::printf("\n");

  const nn::Parts parts = OrFail(nn::Partition(real));
  const std::vector<int8_t> quantized = Run<int8_t>(parts.quantize_inputs, pixels);
  const std::vector<int8_t> by_hand = Run<int8_t>(integer, quantized, kIntegerOnly);
  const std::vector<int8_t> by_partition =
      Run<int8_t>(parts.quantized_main, quantized, kIntegerOnly);
  int failed = Compare("real form and integer form by hand", scores,
                       Run<float>(parts.dequantize_outputs, by_hand));
  failed |= Compare("integer form by hand and by Partition", by_hand, by_partition);

  // No real number anywhere: the camera's bytes stand for (byte - 128) / 128.
  const nn::Sensor sensor{.type = Type::kUInt8, .mean = 128, .scale = 1.0 / 128};
  const nn::Parts sensed = OrFail(nn::Partition(real, {.sensors = {sensor}}));
  const std::vector<int8_t> from_bytes =
      Run<int8_t>(sensed.quantized_main, Run<int8_t>(sensed.quantize_inputs, camera, kIntegerOnly),
                  kIntegerOnly);
  return failed | Compare("camera bytes and real pixels", from_bytes, by_partition);
}
