// A product with a stage of its own, checked element by element. Prints the kernel that computes
// it.
#include <intaglio/gemm/describe.h>
#include <intaglio/gemm/gemm.h>

#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

using intaglio::Status;

// x, or 0 where x is odd.
struct ZeroOdd {
  template <class R>
  INTAGLIO_INLINE typename R::I32 Apply(typename R::I32 x, const intaglio::Place&) const {
    const auto half = R::template ShiftRight<1>(x);
    const auto is_odd = R::Greater(x, R::template ShiftLeft<1>(half));
    return R::Select(is_odd, R::Set(0), x);
  }
};

constexpr int kRows = 7;
constexpr int kDepth = 19;
constexpr int kChannels = 45;

}  // namespace

int main() {
  std::vector<int8_t> x;
  std::vector<int8_t> w;
  for (int i = 0; i < kRows * kDepth; ++i) x.push_back(static_cast<int8_t>(i * 37 % 21 - 10));
  for (int i = 0; i < kDepth * kChannels; ++i) w.push_back(static_cast<int8_t>(i * 53 % 7 - 3));
  std::vector<int16_t> y(kRows * kChannels);
  intaglio::Context context(1);
  const auto lhs = intaglio::MakeConstMatrix(x.data(), kRows, kDepth);
  const auto rhs = intaglio::MakeConstMatrix(w.data(), kDepth, kChannels);
  const auto dst = intaglio::MakeMatrix(y.data(), kRows, kChannels);
  const intaglio::Pipeline pipeline(ZeroOdd{}, intaglio::CastTo<int16_t>{});
  const auto described = intaglio::DescribeGemm(context, lhs, rhs, dst, pipeline);
  const Status status = intaglio::Gemm(context, lhs, rhs, dst, pipeline);
  if (!described.ok() || !status.ok()) return std::printf("%s\n", status.message().c_str()), 1;
  bool right = true;
  for (int i = 0; i < kRows * kChannels; ++i) {
    int sum = 0;
    for (int k = 0; k < kDepth; ++k)
      sum += x[i / kChannels * kDepth + k] * w[k * kChannels + i % kChannels];
    right = right && y[i] == (sum % 2 == 0 ? sum : 0);
  }
  std::printf("%s: %s\n", described->kernel.c_str(), right ? "right" : "wrong");
  return right ? 0 : 1;
}
