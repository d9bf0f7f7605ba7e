#include "intaglio/bench/ops/op_case.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "intaglio/bench/ops/layer.h"
#include "intaglio/gemm/byte_elementwise.h"
#include "intaglio/gemm/depthwise.h"
#include "intaglio/gemm/gemm.h"
#include "intaglio/gemm/plan/dispatch.h"
#include "intaglio/gemm/winograd.h"

namespace intaglio::bench {
namespace {

constexpr LayerSize kDepthwise[] = {
    {112, 32, 32, 3, 3, 1},   {112, 64, 64, 3, 3, 2},  {56, 128, 128, 3, 3, 1},
    {56, 128, 128, 3, 3, 2},  {28, 256, 256, 3, 3, 1}, {14, 512, 512, 3, 3, 1},
    {7, 1024, 1024, 3, 3, 1}, {48, 8, 8, 3, 3, 1},     {112, 16, 16, 3, 3, 1},
    {56, 72, 72, 5, 5, 1},    {56, 144, 144, 5, 5, 2}, {28, 120, 120, 5, 5, 1},
    {28, 240, 240, 5, 5, 1},  {14, 480, 480, 5, 5, 1}, {14, 672, 672, 5, 5, 1},
    {7, 960, 960, 5, 5, 1},
};
constexpr LayerSize kConvolutions[] = {
    {224, 3, 64, 7, 7, 2},   {56, 64, 64, 3, 3, 1},   {56, 64, 64, 1, 1, 1},
    {28, 128, 128, 3, 3, 1}, {28, 128, 128, 3, 3, 2}, {14, 256, 256, 3, 3, 1},
    {7, 512, 512, 3, 3, 1},  {17, 128, 128, 1, 7, 1}, {17, 160, 192, 7, 1, 1},
    {17, 192, 192, 1, 7, 1}, {12, 192, 192, 1, 7, 1}, {35, 48, 64, 5, 5, 1},
    {28, 32, 64, 5, 5, 1},   {14, 32, 64, 5, 5, 1},   {8, 384, 384, 1, 3, 1},
};

[[noreturn]] void Stop(const Status& status) {
  std::fprintf(stderr, "%s\n", status.message().c_str());
  std::exit(1);
}
void StopUnlessOk(const Status& status) {
  if (!status.ok()) Stop(status);
}

const PeakLoop* PeakOfBestKernel() {
  const auto kernel = BestKernel();
  return PeakOfKernel(kernel.ok() ? (*kernel)->name : "");
}

OpCase Common(const char* kind, const std::shared_ptr<Layer>& layer) {
  OpCase made;
  made.name = std::string(kind) + "/" + layer->name();
  made.ops = 2 * layer->macs();
  made.read = layer->read();
  made.written = layer->written();
  made.check = [layer] { return layer->Check(); };
  return made;
}

// Four vectors to one of bytes: packing saturates, and nothing else clamps.
constexpr Mix kPacking = {.permutations = 3};
constexpr Mix kToBytes = kPacking + Mix{.saturated_sums = 2};  // with a zero point
// Of four vectors of accumulators: a group of one column of 3 x 3 taps each, three times;
// conversion to float, product and conversion back.
constexpr Mix kTaps3x3 = Mix{.products = 3 * 4 + 4, .conversions = 2 * 4} + kToBytes;
// Of a column's rows, interleaved to groups of four: eight unpacks, and the top bits of each row
// flipped. Four rows serve two lines where lines are neighbours, three serve one line else; an
// output has `stride` columns of its own.
constexpr Mix kDepthwiseAlong = kTaps3x3 + 0.5 * Mix{.plain = 4, .shuffles = 8};
constexpr Mix kDepthwiseApart = kTaps3x3 + 2 * Mix{.plain = 3, .shuffles = 8};
// 25 taps are seven groups of four at least; loading and pairing come on top.
constexpr Mix kDepthwiseFives = Mix{.products = 7 * 4 + 4, .conversions = 2 * 4} + kToBytes;

}  // namespace

std::vector<OpCase> DepthwiseCases(Context& context) {
  std::vector<OpCase> cases;
  for (const LayerSize& size : kDepthwise) {
    const auto layer = std::make_shared<Layer>(size, true);
    OpCase made = Common("depthwise", layer);
    const double products = std::exchange(made.ops, 0);
    made.elements = made.written;
    if (size.kernel_width == 5) {
      made.TakeMix<kDepthwiseFives>();
    } else if (size.stride == 1) {
      made.TakeMix<kDepthwiseAlong>();
    } else {
      made.TakeMix<kDepthwiseApart>();
    }
    made.elements = products;
    const auto packed = PackedDepthwise::Pack(
        MakeConstMatrix(layer->filters(), layer->taps(), layer->out_channels()), size.kernel_width,
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
template <const Mix& kMix>
OpCase LineCase(const char* name, const std::shared_ptr<LineData>& data,
                const std::function<void(const LineRoutines&, uint8_t*)>& run) {
  const auto best = LinesOf("");
  const auto scalar = LinesOf("scalar");
  if (!best.ok() || !scalar.ok()) Stop(best.status());
  OpCase made;
  made.name = std::string(name) + "/56x56x256";
  made.elements = static_cast<double>(LineData::kCount);
  made.TakeMix<kMix>();
  made.read = 2 * made.elements;
  made.written = made.elements;
  made.run = [=, lines = *best] { run(*lines, data->out.data()); };
  made.check = [=, lines = *scalar] {
    run(*lines, data->right.data());
    return data->out == data->right ? std::string() : "a line differs from the scalar kernel's";
  };
  return made;
}

// Of a vector of results: both operands are flipped, paired and widened.
constexpr Mix kPairing = {.plain = 2, .shuffles = 6};
// Each of both operands by itself.
constexpr Mix kWidening = {.plain = 2, .shuffles = 12};
// Of each of its four vectors: two products of pairs that add, two shifts
// (fixedpoint/sum_of_bytes.h).
constexpr Mix kLinearSum = 4 * Mix{.products = 2, .shifts = 2};
// Doubling; two products, of the odd lanes by a shuffle; two sums, a merge; the sign's shift and
// subtraction; the second shift (DoubleRoundingBounded of fixedpoint/requantize_bounded.h).
constexpr Mix kScaling = {.plain = 4, .products = 2, .shuffles = 2, .shifts = 2};
// Zero points, shifts, the sum.
constexpr Mix kDefinedSum = 4 * (3 * kScaling + Mix{.plain = 3, .shifts = 2});
// Of pairs, zero points included.
constexpr Mix kPairProduct = {.products = 2, .shifts = 1};
constexpr Mix kDefinedProduct = 4 * (kPairProduct + kScaling);
// The multiply-add, the truncation and the origin, which has the zero point (fixedpoint/
// fit_double_rounding.h).
constexpr Mix kFittedProduct =
    4 * (kPairProduct + Mix{.plain = 1, .products = 1, .conversions = 1});

constexpr Mix kAddLinear = kPairing + kLinearSum + kToBytes;
constexpr Mix kAddDefined = kWidening + kDefinedSum + kToBytes;
constexpr Mix kMultiplyFitted = kPairing + kFittedProduct + kPacking;
constexpr Mix kMultiplyDefined = kPairing + kDefinedProduct + kToBytes;

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
  const ProductOfBytes product{.zero_a = 120, .zero_b = 131, .scale = {1518500250, -6}};
  const auto multiply = [=](const ProductOfBytes& p) {
    return [=](const LineRoutines& lines, uint8_t* out) {
      LinePair to = line;
      to.out = out;
      lines.multiply(p, output, to);
    };
  };
  return {LineCase<kAddLinear>("add, linear", data, add(WithLinear(sum, 0, false))),
          LineCase<kAddDefined>("add, by its definition", data, add(sum)),
          LineCase<kMultiplyFitted>("multiply", data, multiply(WithFit(product, output))),
          LineCase<kMultiplyDefined>("multiply, by its definition", data, multiply(product))};
}

namespace {

// The same convolution by Winograd's algorithm, where the best kernel has it. It takes fewer
// multiplications than the bound counts.
void AddWinograd(const std::shared_ptr<Layer>& layer, const ConstMatrix& filters, Context& context,
                 std::vector<OpCase>& cases) {
  if (WhyNotWinograd(layer->view(), filters, {}) != nullptr) return;
  OpCase made = Common("winograd", layer);
  made.loop = PeakOfBestKernel();
  const auto packed = PackedWinograd::Pack(
      filters, {},
      {.kernel_height = layer->view().kernel_height, .kernel_width = layer->view().kernel_width});
  if (!packed.ok()) Stop(packed.status());
  const auto bound =
      BoundPipeline::Bind(*packed, layer->pipeline(), layer->view().type, layer->view().zero_point);
  if (!bound.ok()) Stop(bound.status());
  made.run = [layer, filters = *packed, pipeline = *bound, &context] {
    StopUnlessOk(Winograd(context, layer->view(), filters, layer->result(), pipeline));
  };
  cases.push_back(std::move(made));
}

}  // namespace

std::vector<OpCase> ConvolutionCases(Context& context) {
  std::vector<OpCase> cases;
  for (const LayerSize& size : kConvolutions) {
    const auto layer = std::make_shared<Layer>(size, false);
    OpCase made = Common("convolution", layer);
    made.loop = PeakOfBestKernel();
    const ConstMatrix matrix = MakeConstMatrix(layer->filters(), layer->taps() * size.in_channels,
                                               size.out_channels, Order::kColMajor);
    const auto packed = Prepack(Side::kRhs, matrix);
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
    AddWinograd(layer, matrix, context, cases);
  }
  return cases;
}

}  // namespace intaglio::bench
