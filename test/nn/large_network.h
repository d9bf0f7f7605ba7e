// A network whose layers are large enough for several threads, and its result on one input.
#ifndef INTAGLIO_TEST_NN_LARGE_NETWORK_H_
#define INTAGLIO_TEST_NN_LARGE_NETWORK_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "intaglio/nn/ops/builder.h"
#include "intaglio/nn/runtime/model.h"

namespace intaglio::nn {

// int8 [1,24,24,16] -> CONV_2D 3x3, DEPTHWISE_CONV_2D, ADD, TANH, CONV_2D 1x1.
inline Graph MakeLargeNetwork() {
  Builder b("large");
  const auto weights = [&](Shape shape) {
    std::vector<int8_t> values(*CountBytes(shape, Type::kInt8));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int8_t>(i * 37 % 251 - 125);
    return b.Const<int8_t>("weights", values, shape, PerTensor(0.01f, 0));
  };
  const Value x = b.Input("x", Type::kInt8, {1, 24, 24, 16}, PerTensor(0.02f, -1));
  const Value wide = b.Conv2D(x, weights({64, 3, 3, 16}), kNoBias, {.padding = Padding::Same()},
                              PerTensor(0.1f, 3));
  const Value deep = b.DepthwiseConv2D(wide, weights({1, 3, 3, 64}), kNoBias,
                                       {.padding = Padding::Same()}, PerTensor(0.1f, -2));
  const Value sum = b.Tanh(b.Add(wide, deep, {}, PerTensor(0.02f, 0)));
  b.Output(b.Conv2D(sum, weights({32, 1, 1, 64}), kNoBias, {}, PerTensor(0.05f, 0)), "y");
  Result<Graph> graph = b.Finish();
  return std::move(*graph);
}

// Runs the network on a fixed input; returns nothing if it fails.
inline std::vector<int8_t> RunLargeNetwork(Model& model) {
  std::vector<int8_t> x(24 * 24 * 16);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int8_t>(i * 101 % 256 - 128);
  std::vector<int8_t> y(24 * 24 * 32);
  const InputBuffer in[] = {MakeInput(std::span<const int8_t>(x))};
  const OutputBuffer out[] = {MakeOutput(std::span<int8_t>(y))};
  return model.Run(in, out).ok() ? y : std::vector<int8_t>();
}

}  // namespace intaglio::nn

#endif  // INTAGLIO_TEST_NN_LARGE_NETWORK_H_
