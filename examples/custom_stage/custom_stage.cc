// An output stage of one's own, written outside the library: a leaky ReLU in integers, used in a
// matrix product and in a depthwise convolution.
#include <intaglio/fixedpoint/quantize_multiplier.h>
#include <intaglio/fixedpoint/requantize.h>
#include <intaglio/gemm/depthwise.h>
#include <intaglio/gemm/gemm.h>

#include <cmath>
#include <cstdio>
#include <vector>

namespace {

// x if x >= 0, else slope * x, rounded by RequantMode::kDoubleRounding.
//
// A stage is a plain struct with one operation on a vector of R::kLanes values. R is a register
// vocabulary (fixedpoint/registers.h): the scalar one, or that of an instruction set. The program
// chooses the CPU's when it runs, whatever flags this file is compiled with. A stage that is
// written once over R gives the same bits in all vocabularies. So it uses R's operations only: no
// `if` on a value, but a mask and a Select.
struct LeakyRelu {
  intaglio::QuantizedMultiplier slope;

  // `at` is the place of lane 0 in the result; a stage with parameters per channel, or one that
  // adds another tensor, reads them there. This one needs none.
  // (INTAGLIO_INLINE makes it code for a GPU as well, where nvcc compiles it.)
  template <class R>
  INTAGLIO_INLINE typename R::I32 Apply(typename R::I32 x, const intaglio::Place&) const {
    const auto below = intaglio::RequantizeDoubleRounding<R>(
        x, R::Set(slope.mantissa), R::Set(slope.left_shift()), R::Set(slope.right_shift()));
    return R::Select(R::Greater(R::Set(0), x), below, x);
  }
};

// The same in floating point, to compare with: off by one at most where a half is rounded.
bool Near(int got, double x, double zero_point) {
  const double wanted = std::fmin(127, std::fmax(-128, (x < 0 ? 0.125 * x : x) + zero_point));
  return std::abs(got - wanted) <= 1.01;
}

constexpr double kScale = 0.02;
constexpr int kZeroPoint = -20;

}  // namespace

int main() {
  using namespace intaglio;
  const auto scale = QuantizeMultiplier(kScale);
  const auto slope = QuantizeMultiplier(0.125);
  if (!scale.ok() || !slope.ok()) return 1;

  // Stages stand in the order in which they are applied; the last names the type of the result.
  // With one that the library does not know, the pipeline runs over tiles of accumulators in L1.
  const Pipeline pipeline(Requantize{*scale}, LeakyRelu{*slope}, AddZeroPoint{kZeroPoint},
                          CastTo<int8_t>{});

  // 6 x 12 = 6 x 4 times 4 x 12.
  constexpr int kM = 6;
  constexpr int kK = 4;
  constexpr int kN = 12;
  std::vector<int8_t> x;
  std::vector<int8_t> w;
  for (int i = 0; i < kM * kK; ++i) x.push_back(static_cast<int8_t>(i * 37 % 101 - 50));
  for (int i = 0; i < kK * kN; ++i) w.push_back(static_cast<int8_t>(i * 53 % 91 - 45));
  std::vector<int8_t> y(kM * kN);
  Context context(/*threads=*/2);
  Status status = Gemm(context, MakeConstMatrix(x.data(), kM, kK),
                       MakeConstMatrix(w.data(), kK, kN), MakeMatrix(y.data(), kM, kN), pipeline);
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    return 1;
  }
  int products = 0;
  for (int i = 0; i < kM * kN; ++i) {
    const int8_t* left = x.data() + i / kN * kK;
    int sum = 0;
    for (int k = 0; k < kK; ++k) sum += left[k] * w.data()[k * kN + i % kN];
    products += Near(y.data()[i], kScale * sum, kZeroPoint);
    std::printf("%5d%s", y.data()[i], i % kN == kN - 1 ? "\n" : "");
  }

  // A depthwise convolution takes the same pipeline.
  constexpr int kSide = 4;
  constexpr int kChannels = 6;
  std::vector<int8_t> image;
  for (int i = 0; i < kSide * kSide * kChannels; ++i) {
    image.push_back(static_cast<int8_t>(i * 29 % 256 - 128));
  }
  const int8_t filters[kChannels] = {-90, -3, 0, 5, 40, 127};  // one tap each
  const auto packed = PackedDepthwise::Pack(MakeConstMatrix(filters, 1, kChannels),
                                            /*kernel_width=*/1, /*multiplier=*/1);
  if (!packed.ok()) return 1;
  Im2col view;
  view.data = image.data();
  view.height = view.width = view.out_height = view.out_width = kSide;
  view.channels = view.group_channels = kChannels;
  std::vector<int8_t> out(image.size());
  status = Depthwise(context, view, *packed, out.data(), pipeline);
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    return 1;
  }
  int pixels = 0;
  for (size_t i = 0; i < image.size(); ++i) {
    pixels += Near(out[i], kScale * image[i] * filters[i % kChannels], kZeroPoint);
  }
  const bool right = products == kM * kN && pixels == static_cast<int>(image.size());
  std::printf("%s %d products and %s %d pixels as expected\n", right ? "all" : "only", products,
              right ? "all" : "only", pixels);
  return right ? 0 : 1;
}
