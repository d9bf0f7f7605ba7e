#include "intaglio/bench/ops/op_case.h"

#include <cstdio>
#include <cstdlib>

#include "intaglio/bench/ops/layer.h"
#include "intaglio/gemm/depthwise.h"
#include "intaglio/gemm/dispatch.h"
#include "intaglio/gemm/gemm.h"
#include "intaglio/gemm/lines.h"

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

namespace {

// Two operands and results by two kernels, of which the scalar one is right.
struct LineData {
  static constexpr int kSide = 56;
  static constexpr ptrdiff_t kChannels = 256;
  static constexpr ptrdiff_t kCount = kSide * kSide * kChannels;

  LineData() {
    for (ptrdiff_t i = 0; i < kCount; ++i) {
      a.push_back(static_cast<uint8_t>(i * 37 >> 3));
      b.push_back(static_cast<uint8_t>(i * 101 >> 4));
    }
    out.resize(a.size());
    right.resize(a.size());
  }

  AlignedVector<uint8_t> a, b, out, right;
};

// run(lines, out) with the best kernel is measured, and must give what it gives with the scalar
// one.
OpCase LineCase(const char* name, int operands, const std::shared_ptr<LineData>& data,
                const std::function<void(const LineRoutines&, uint8_t*)>& run) {
  const auto best = LinesOf("");
  const auto scalar = LinesOf("scalar");
  if (!best.ok() || !scalar.ok()) Stop(best.status());
  OpCase made;
  made.name = std::string(name) + "/56x56x256";
  made.ops = static_cast<double>(LineData::kCount);
  made.bytes = (operands + 1.0) * static_cast<double>(LineData::kCount);
  made.run = [=, lines = *best] { run(*lines, data->out.data()); };
  made.check = [=, lines = *scalar] {
    run(*lines, data->right.data());
    return data->out == data->right ? std::string() : "a line differs from the scalar kernel's";
  };
  return made;
}

// 3 x 3 windows inside the image.
template <class Function>
void Pool(const LineData& data, uint8_t* out, const Function& pool) {
  constexpr int kSide = LineData::kSide;
  for (int y = 1; y + 1 < kSide; ++y) {
    for (int x = 1; x + 1 < kSide; ++x) {
      const void* taps[9];
      for (int t = 0; t < 9; ++t) {
        taps[t] = data.a.data() + ((y - 1 + t / 3) * kSide + x - 1 + t % 3) * LineData::kChannels;
      }
      pool(taps, out + (y * kSide + x) * LineData::kChannels);
    }
  }
}

}  // namespace

std::vector<OpCase> LineCases() {
  const auto data = std::make_shared<LineData>();
  const LineOutput output{true, 3, -128, 127};
  SumOfBytes sum;
  sum.zero_a = 120;
  sum.zero_b = 131;
  sum.scale_a = sum.scale_b = {1 << 30, 0};
  sum.scale = {1518500250, -19};
  const LinePair line{data->a.data(), data->b.data(), false, nullptr, LineData::kCount};
  const auto add = [=](const SumOfBytes& s) {
    return [=](const LineRoutines& lines, uint8_t* out) {
      LinePair to = line;
      to.out = out;
      lines.add(s, output, to);
    };
  };
  const ProductOfBytes product{120, 131, {1518500250, -6}};
  const auto multiply = [=](const LineRoutines& lines, uint8_t* out) {
    LinePair to = line;
    to.out = out;
    lines.multiply(product, output, to);
  };
  const auto pool = [=](auto function) {
    return [=](const LineRoutines& lines, uint8_t* out) {
      Pool(*data, out, [&](const void* const* taps, uint8_t* to) {
        (lines.*function)(taps, 9, output, to, LineData::kChannels);
      });
    };
  };
  return {LineCase("add, linear", 2, data, add(WithLinear(sum, 0))),
          LineCase("add, by its definition", 2, data, add(sum)),
          LineCase("multiply", 2, data, multiply),
          LineCase("max pool 3x3", 1, data, pool(&LineRoutines::largest)),
          LineCase("average pool 3x3", 1, data, pool(&LineRoutines::average))};
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
