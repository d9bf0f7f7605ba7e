#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "intaglio/bench/cuda/networks.h"
#include "intaglio/nn/cuda/backend.h"
#include "intaglio/nn/ops/builder.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/test/cuda/verify.h"

namespace intaglio::test {
namespace {

// The operators that the two networks do not have.
Result<nn::Graph> OtherOperators(int batch) {
  nn::Builder b("others");
  nn::Value x = b.Input("x", Type::kFloat32, {batch, 9, 7, 5});
  x = b.Quantize(x, Type::kInt8, nn::PerTensor(0.1f, -7));
  const nn::Value gate = b.Logistic(b.Mean(x, {{1, 2}, true}, nn::PerTensor(0.05f, 3)));
  x = b.Layer(nn::Mul{}, {x.id, gate.id}, Type::kInt8, nn::PerTensor(0.06f, -5));
  x = b.Add(x, gate, {}, nn::PerTensor(0.07f, 11));
  const nn::Constant shift =
      b.Const<int8_t>("shift", {-7, 100, 3, -128, 55}, {5}, nn::PerTensor(0.02f, 1));
  x = b.Layer(nn::Sub{}, {x.id, shift.id}, Type::kInt8, nn::PerTensor(0.08f, -2));
  x = b.Softmax(x);
  x = b.Pad(x, {{{0, 0}, {1, 2}, {0, 1}, {0, 3}}});
  x = b.AveragePool2D(x, {{3, 2}, {2, 1}, nn::Padding::Same(), nn::Activation::kRelu6});
  x = b.Tanh(x);
  x = b.Quantize(x, Type::kUInt8, nn::PerTensor(0.01f, 120));
  x = b.Reshape(x, {-1, 8});
  b.Output(b.Dequantize(b.Softmax(x)), "y");
  return b.Finish();
}

// Concatenations: of lines, through a table, of a constant; as batches of one, of parts that lie in
// the result from the start, and of one that cannot, since a convolution reads it.
Result<nn::Graph> Concatenations(int batch) {
  nn::Builder b("concatenations");
  const nn::Quantization q = nn::PerTensor(0.1f, 120);
  nn::Value x = b.Input("x", Type::kUInt8, {batch, 4, 4, 4}, q);
  const nn::Value other = b.Quantize(x, Type::kUInt8, nn::PerTensor(0.07f, 99));
  const nn::Value lines[] = {x, other, x};
  x = b.Concatenation(lines, {-1, nn::Activation::kNone}, q);
  const nn::Value relu = b.Relu(x, q);
  const nn::Value blocks[] = {relu, b.MaxPool2D(x, {{1, 1}, {1, 1}}), relu};
  x = b.Concatenation(blocks, {1, nn::Activation::kNone}, q);
  const auto numbers = [batch](int count) {
    return std::vector<uint8_t>(static_cast<size_t>(batch * count), 77);
  };
  const nn::Constant constant = b.Const<uint8_t>("c", numbers(144), {batch, 3, 4, 12}, q);
  const nn::Constant filter =
      b.Const<uint8_t>("filter", numbers(144), {12 * batch, 1, 1, 12}, nn::PerTensor(0.01f, 128));
  const nn::Value y = b.Conv2D(x, filter, nn::kNoBias, {}, nn::PerTensor(0.3f, 250));
  const nn::Value z = b.Mean(y, {{3}, true}, q);
  const nn::Value wide = b.Add(b.MaxPool2D(x, {{1, 1}, {1, 1}}), z, {}, q);
  b.Output(b.Layer(nn::Concatenation{1, nn::Activation::kNone}, {constant.id, x.id, wide.id},
                   Type::kUInt8, q),
           "y");
  return b.Finish();
}

Result<nn::Graph> DequantizeByAxis(int batch) {
  nn::Builder b("an axis dequantized");
  const nn::Quantization q{{0.5f, 0.25f, 0.3f}, {-3, 0, 127}, 1};
  b.Output(b.Dequantize(b.Input("x", Type::kInt8, {batch, 3, 5}, q)), "y");
  return b.Finish();
}

std::vector<uint8_t> RandomNumbers(const nn::Tensor& tensor) {
  std::mt19937 random(3);
  std::vector<uint8_t> bytes(*nn::CountBytes(tensor.shape, tensor.type));
  if (tensor.type != Type::kFloat32) {
    for (auto& byte : bytes) byte = static_cast<uint8_t>(random());
    return bytes;
  }
  std::uniform_real_distribution<float> numbers(-15, 15);
  for (size_t i = 0; i < bytes.size(); i += sizeof(float)) {
    const float x = numbers(random);
    std::memcpy(&bytes[i], &x, sizeof x);
  }
  return bytes;
}

// An empty text, or what went wrong.
std::string Compare(const cuda::Stream& stream, const Result<nn::Graph>& graph) {
  if (!graph.ok()) return graph.status().message();
  const auto backend = nn::cuda::MakeBackend(stream.get());
  if (!backend.ok()) return backend.status().message();
  std::vector<uint8_t> results[2];
  for (const bool on_device : {false, true}) {
    nn::PrepareOptions options;
    if (on_device) options.backend = *backend;
    auto model = nn::Model::Prepare(*graph, options);
    if (!model.ok()) return model.status().message();
    const nn::Tensor& input = model->input(0);
    const nn::Tensor& output = model->output(0);
    const std::vector<uint8_t> in = RandomNumbers(input);
    std::vector<uint8_t>& out = results[on_device ? 1 : 0];
    out.resize(*nn::CountBytes(output.shape, output.type));
    const nn::InputBuffer from{in.data(), in.size(), input.type};
    const nn::OutputBuffer to{out.data(), out.size(), output.type};
    // The second run finds the memory as the first one left it.
    for (int i = 0; i < 2; ++i) {
      if (const Status s = model->Run({&from, 1}, {&to, 1}); !s.ok()) return s.message();
    }
  }
  return results[0] == results[1] ? "" : graph->name + ": the results differ";
}

}  // namespace

Tally VerifyNetworks(const cuda::Stream& stream) {
  Tally tally;
  for (const int batch : {1, 3}) {
    tally.Count(Compare(stream, OtherOperators(batch)));
    tally.Count(Compare(stream, Concatenations(batch)));
    tally.Count(Compare(stream, DequantizeByAxis(batch)));
    for (const int width : {16, 4}) {
      tally.Count(Compare(stream, bench::ResNet50(batch, 64, width)));
      tally.Count(Compare(stream, bench::MobileNetV1(batch, 96, width)));
    }
  }
  return tally;
}

}  // namespace intaglio::test
