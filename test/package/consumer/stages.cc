// A user's own stages, compiled with any flags: in which registers they run, what they cost
// compared with the standard pipeline, and that a product is rounded before anything is added to
// it.
#include <intaglio/gemm/describe.h>
#include <intaglio/gemm/gemm.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace intaglio;

constexpr int kRows = 3136;
constexpr int kDepth = 64;
constexpr int kCols = 64;

struct Leaky {
  template <class R>
  typename R::I32 Apply(typename R::I32 x, const Place&) const {
    return R::Select(R::Greater(R::Set(0), x), R::template ShiftRight<3>(x), x);
  }
};

struct TimesAndMore {
  float scale;
  float more;

  template <class R>
  typename R::F32 Apply(typename R::F32 x, const Place&) const {
    return R::AddF(R::MulF(x, R::SetF(scale)), R::SetF(more));
  }
};

bool Is(bool right, const char* what) {
  if (!right) std::printf("wrong: %s\n", what);
  return right;
}

// The time of the fastest of several calls, in microseconds.
template <class Call>
double Time(const Call& call) {
  double best = 1e9;
  for (int i = 0; i < 20; ++i) {
    const auto start = std::chrono::steady_clock::now();
    if (!call().ok()) return -1;
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count());
  }
  return best;
}

std::string WidestRegisters() {
#if defined(INTAGLIO_STAGES_BY_FLAGS)
  return kNativeRegisters;
#elif defined(__x86_64__)
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) return "avx512";
  if (__builtin_cpu_supports("avx2")) return "avx2";
  return __builtin_cpu_supports("sse4.1") ? "sse4.1" : "scalar";
#else
  return kNativeRegisters;
#endif
}

bool RunsInTheWidestRegisters(Context& context) {
  std::vector<int8_t> x(kRows * kDepth, 3);
  std::vector<int8_t> w(kDepth * kCols, -2);
  std::vector<int8_t> y(kRows * kCols);
  const auto lhs = MakeConstMatrix(x.data(), kRows, kDepth);
  const auto rhs = MakeConstMatrix(w.data(), kDepth, kCols);
  const auto dst = MakeMatrix(y.data(), kRows, kCols);
  const Requantize requantize{{1 << 30, -2}};
  const Pipeline custom(requantize, Leaky{}, AddZeroPoint{-7}, CastTo<int8_t>{});
  const Pipeline standard(requantize, AddZeroPoint{-7}, CastTo<int8_t>{});
  const auto how = DescribeGemm(context, lhs, rhs, dst, custom);
  if (!Is(how.ok(), "a description")) return false;
  const double ordinary = Time([&] { return Gemm(context, lhs, rhs, dst, standard); });
  const double own = Time([&] { return Gemm(context, lhs, rhs, dst, custom); });
  std::printf("stages by %s: %.0f us, the standard pipeline %.0f us, %.1f times\n",
              how->stage_registers.c_str(), own, ordinary, own / ordinary);
  // -384 / 8, ties away from zero, is -48; -48 / 8 - 7 is -13.
  const bool right = std::all_of(y.begin(), y.end(), [](int8_t v) { return v == -13; });
  return Is(right, "a product") &&
         Is(std::getenv("INTAGLIO_ISA") != nullptr || how->stage_registers == WidestRegisters(),
            "the registers");
}

bool RoundsTwice(Context& context) {
  constexpr int kMost = 67;  // four vectors of AVX-512, and part of one
  std::vector<int8_t> x;
  for (int i = 0; i < kMost; ++i) x.push_back(static_cast<int8_t>(i - 30));
  const int8_t one = 1;
  std::vector<float> y(kMost);
  const TimesAndMore stage{0.1f, -0.7f};
  const Status status =
      Gemm(context, MakeConstMatrix(&one, 1, 1), MakeConstMatrix(x.data(), 1, kMost),
           MakeMatrix(y.data(), 1, kMost), Pipeline(ScaleToFloat{1.3f}, stage, CastTo<float>{}));
  if (!Is(status.ok(), "a product of floats")) return false;
  for (int i = 0; i < kMost; ++i) {
    volatile float value = static_cast<float>(x[static_cast<size_t>(i)]) * 1.3f;
    value = value * stage.scale;
    value = value + stage.more;
    if (!Is(y[static_cast<size_t>(i)] == value, "rounded once")) return false;
  }
  return true;
}

}  // namespace

int main() {
  Context context(1);
  return RunsInTheWidestRegisters(context) && RoundsTwice(context) ? 0 : 1;
}
