#include "intaglio/bench/ops/op_case.h"

#include <cstdio>
#include <cstdlib>

#include "intaglio/bench/ops/layer.h"
#include "intaglio/gemm/depthwise.h"
#include "intaglio/gemm/dispatch.h"
#include "intaglio/gemm/gemm.h"

namespace intaglio::bench {
namespace {

constexpr LayerSize kDepthwise[] = {
    {112, 32, 32, 3, 1},  {112, 64, 64, 3, 2},  {56, 128, 128, 3, 1},  {56, 128, 128, 3, 2},
    {28, 256, 256, 3, 1}, {14, 512, 512, 3, 1}, {7, 1024, 1024, 3, 1},
};
constexpr LayerSize kConvolutions[] = {
    {224, 3, 64, 7, 2},   {56, 64, 64, 3, 1},   {56, 64, 64, 1, 1},  {28, 128, 128, 3, 1},
    {28, 128, 128, 3, 2}, {14, 256, 256, 3, 1}, {7, 512, 512, 3, 1},
};

[[noreturn]] void Stop(const Status& status) {
  std::fprintf(stderr, "%s\n", status.message().c_str());
  std::exit(1);
}
void StopUnlessOk(const Status& status) {
  if (!status.ok()) Stop(status);
}

std::string BestName() {
  const auto kernel = BestKernel();
  return kernel.ok() ? (*kernel)->name : "";
}

OpCase Common(const char* kind, const std::shared_ptr<Layer>& layer) {
  OpCase made;
  made.name = std::string(kind) + "/" + layer->name();
  made.ops = 2 * layer->macs();
  made.bytes = layer->bytes();
  made.check = [layer] { return layer->Check(); };
  return made;
}

}  // namespace

std::vector<OpCase> DepthwiseCases(Context& context) {
  std::vector<OpCase> cases;
  for (const LayerSize& size : kDepthwise) {
    const auto layer = std::make_shared<Layer>(size, true);
    OpCase made = Common("depthwise", layer);
    made.loop = PeakOfKernel(BestName());
    const auto packed = PackedDepthwise::Pack(
        MakeConstMatrix(layer->filters(), layer->taps(), layer->out_channels()), size.kernel_side,
        1);
    if (!packed.ok()) Stop(packed.status());
    const auto bound = BoundPipeline::Bind(*packed, layer->pipeline(), layer->view().type,
                                           layer->view().zero_point);
    if (!bound.ok()) Stop(bound.status());
    made.run = [layer, filters = *packed, pipeline = *bound, &context] {
      StopUnlessOk(Depthwise(context, layer->view(), filters, layer->result(), pipeline));
    };
    cases.push_back(std::move(made));
  }
  return cases;
}

std::vector<OpCase> ConvolutionCases(Context& context) {
  std::vector<OpCase> cases;
  for (const LayerSize& size : kConvolutions) {
    const auto layer = std::make_shared<Layer>(size, false);
    OpCase made = Common("convolution", layer);
    made.loop = PeakOfKernel(BestName());
    const auto packed =
        Prepack(Side::kRhs, MakeConstMatrix(layer->filters(), layer->taps() * size.in_channels,
                                            size.out_channels, Order::kColMajor));
    if (!packed.ok()) Stop(packed.status());
    const auto bound = BoundPipeline::Bind(*packed, layer->pipeline(), layer->view().type,
                                           layer->view().zero_point);
    if (!bound.ok()) Stop(bound.status());
    made.run = [layer, filters = *packed, pipeline = *bound, &context] {
      StopUnlessOk(Gemm(context, layer->view(), filters,
                        MakeMatrix(layer->result(), layer->out_pixels(), layer->out_channels()),
                        pipeline));
    };
    cases.push_back(std::move(made));
  }
  return cases;
}

}  // namespace intaglio::bench
