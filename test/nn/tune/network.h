// A network of a few integer layers for the tests of the tuner.
#ifndef INTAGLIO_TEST_NN_TUNE_NETWORK_H_
#define INTAGLIO_TEST_NN_TUNE_NETWORK_H_

#include <chrono>
#include <utility>
#include <vector>

#include "intaglio/test/nn/testing.h"

namespace intaglio::nn::tune {

// More than is ever used: tunings of this network end when everything was tried often enough. So
// what is tried does not depend on the machine, which may be an emulator.
inline constexpr std::chrono::seconds kPlenty(600);

inline Constant Int8Weights(Builder& b, Random& random, const Shape& shape, int axis,
                            int channels) {
  std::vector<float> scales;
  for (int i = 0; i < channels; ++i) scales.push_back(random.Scale(0.002, 0.02));
  return Const(b, random.Tensor(Type::kInt8, shape), PerAxis(scales, axis));
}

inline Graph MakeNetwork(unsigned seed = 7) {
  Random random(seed);
  Builder b("tuned");
  const Value x = b.Input("x", Type::kInt8, {1, 12, 12, 16}, PerTensor(0.02f, 3));
  const Value wide = b.DepthwiseConv2D(x, Int8Weights(b, random, {1, 3, 3, 16}, 3, 16), kNoBias,
                                       {.padding = Padding::Same()}, PerTensor(0.1f, -5));
  const Value mixed = b.Conv2D(wide, Int8Weights(b, random, {32, 3, 3, 16}, 0, 32), kNoBias, {},
                               PerTensor(0.3f, 2));
  const Value flat = b.Reshape(mixed, {1, 10 * 10 * 32});
  b.Output(b.FullyConnected(flat, Int8Weights(b, random, {10, 3200}, 0, 10), kNoBias, {},
                            PerTensor(0.5f, 1)),
           "y");
  Result<Graph> graph = b.Finish();
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return std::move(*graph);
}

inline std::vector<int8_t> RunOnce(const Graph& graph, const PrepareOptions& options = {}) {
  Result<Model> model = Model::Prepare(graph, options);
  if (!model.ok()) {
    ADD_FAILURE() << model.status().message();
    return {};
  }
  Random random(11);
  std::vector<int8_t> x(*CountBytes(model->input(0).shape, Type::kInt8));
  for (int8_t& element : x) element = static_cast<int8_t>(random.Element(Type::kInt8));
  std::vector<int8_t> y(*CountBytes(model->output(0).shape, Type::kInt8));
  const InputBuffer in[] = {MakeInput(x)};
  const OutputBuffer out[] = {MakeOutput(y)};
  const Status status = model->Run(in, out);
  EXPECT_TRUE(status.ok()) << status.message();
  return y;
}

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_TEST_NN_TUNE_NETWORK_H_
