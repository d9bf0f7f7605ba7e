// ADD, SUB and MUL of tensors that broadcast.
#include <memory>
#include <string>

#include "intaglio/nn/cuda/layers.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/ops/support/broadcast.h"
#include "intaglio/nn/ops/support/byte_product.h"
#include "intaglio/nn/ops/support/byte_sum.h"
#include "intaglio/nn/ops/support/checks.h"

namespace intaglio::nn::cuda {
namespace {

Result<device::BroadcastLines> LinesOf(const LayerView& layer) {
  const Loops<3> loops = BroadcastLoops<3>(layer);
  device::BroadcastLines lines;
  lines.line = loops.inner_extent();
  for (size_t o = 0; o < 2; ++o) lines.repeats[o] = loops.inner_strides()[o] == 0;
  const size_t outer = loops.rank() == 0 ? 0 : loops.rank() - 1;
  if (outer > device::BroadcastLines::kOuter) {
    return layer.Unsupported("the CUDA backend does not broadcast " +
                             ToString(layer.input(0).shape) + " and " +
                             ToString(layer.input(1).shape) + ": too many dimensions change");
  }
  for (size_t d = 0; d < outer; ++d) {
    const size_t from = outer - 1 - d;
    lines.extent[d] = loops.extent(from);
    lines.lines *= loops.extent(from);
    for (size_t o = 0; o < 2; ++o) lines.stride[o][d] = loops.strides(from)[o];
  }
  return lines;
}

template <class Function>
Result<PreparedLayer> PreparePair(const Stream& stream, const LayerView& layer, const Function& f,
                                  const LineOutput& output) {
  const Result<device::BroadcastLines> lines = LinesOf(layer);
  if (!lines.ok()) return lines.status();
  const auto a = ConstantOf(stream, layer, 0);
  if (!a.ok()) return a.status();
  const auto b = ConstantOf(stream, layer, 1);
  if (!b.ok()) return b.status();
  PreparedLayer prepared = PrepareJob(
      stream, [f, output, lines = *lines, a = *a, b = *b](const RunArguments& arguments) {
        const auto operand = [&](const std::shared_ptr<const uint8_t>& constant, size_t input) {
          return constant != nullptr ? constant.get()
                                     : static_cast<const uint8_t*>(arguments.inputs[input]);
        };
        return device::PairJob<Function>{f,
                                         output,
                                         lines,
                                         operand(a, 0),
                                         operand(b, 1),
                                         static_cast<uint8_t*>(arguments.outputs[0])};
      });
  for (size_t i = 0; i < 2; ++i) {
    const Tensor& input = layer.input(i);
    if (input.constant) prepared.constant_bytes += input.data_bytes;
    if (!input.constant && input.shape == layer.output().shape) {
      prepared.in_place_inputs |= 1u << i;
    }
  }
  return prepared;
}

}  // namespace

namespace {

Result<PreparedLayer> PrepareSum(const Stream& stream, const LayerView& layer,
                                 Activation activation, int sign) {
  const Result<ByteSum> sum = ByteSumOf(layer, activation, sign);
  if (!sum.ok()) return sum.status();
  return PreparePair(stream, layer, device::SumOfPair{sum->sum}, sum->output);
}

}  // namespace

Result<PreparedLayer> PrepareAdd(const Stream& stream, const LayerView& layer) {
  return PrepareSum(stream, layer, layer.op<Add>().activation, 1);
}

Result<PreparedLayer> PrepareSub(const Stream& stream, const LayerView& layer) {
  return PrepareSum(stream, layer, layer.op<Sub>().activation, -1);
}

Result<PreparedLayer> PrepareProduct(const Stream& stream, const LayerView& layer) {
  const Result<ByteProduct> product = ByteProductOf(layer);
  if (!product.ok()) return product.status();
  return PreparePair(stream, layer, device::ProductOfPair{product->product}, product->output);
}

}  // namespace intaglio::nn::cuda
