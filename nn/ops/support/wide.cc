#include "intaglio/nn/ops/support/wide.h"

#include "intaglio/nn/ops/support/wide_exp.h"
#include "intaglio/nn/ops/support/wide_lines.h"
#include "intaglio/nn/ops/support/wide_norms.h"
#include "intaglio/nn/ops/support/wide_products.h"
#include "intaglio/nn/ops/support/wide_windows.h"

namespace intaglio::nn {
namespace {

template <int kBytes>
constexpr WideRoutines kRoutines = {kBytes / 4,
                                    wide::Range<kBytes>,
                                    wide::Quantize<kBytes>,
                                    wide::ToReal<kBytes>,
                                    wide::Multiply<kBytes>,
                                    wide::AddTaps<kBytes>,
                                    wide::AddDots<kBytes>,
                                    wide::Pool<kBytes>,
                                    wide::Exp<kBytes>,
                                    wide::Sigmoid<kBytes>,
                                    wide::Logistic<kBytes>,
                                    wide::Erf<kBytes>,
                                    wide::Tanh<kBytes>,
                                    wide::Softmax<kBytes>,
                                    wide::AddScaled<kBytes>,
                                    wide::Normalize<kBytes>};

#if defined(__x86_64__)
[[gnu::target("avx2")]] void RangeAvx2(const float* x, ptrdiff_t count, float* least,
                                       float* greatest) {
  wide::Range<32>(x, count, least, greatest);
}
[[gnu::target("avx2")]] void QuantizeAvx2(const LineQuantizer& q, const float* x, ptrdiff_t count,
                                          int8_t* to) {
  wide::Quantize<32>(q, x, count, to);
}
[[gnu::target("avx2")]] void ToRealAvx2(const LinesToReal& r, const int32_t* acc, ptrdiff_t count,
                                        float* to) {
  wide::ToReal<32>(r, acc, count, to);
}
[[gnu::target("avx2")]] void MultiplyAvx2(const PanelProduct& p, const float* x, ptrdiff_t x_stride,
                                          int rows, float* out, ptrdiff_t out_stride) {
  wide::Multiply<32>(p, x, x_stride, rows, out, out_stride);
}
[[gnu::target("avx2")]] void AddTapsAvx2(const WindowTaps& w, ptrdiff_t channels, float* out) {
  wide::AddTaps<32>(w, channels, out);
}
[[gnu::target("avx2")]] void AddDotsAvx2(const float* const* rows, ptrdiff_t count, const float* x,
                                         ptrdiff_t depth, float* y) {
  wide::AddDots<32>(rows, count, x, depth, y);
}
[[gnu::target("avx2")]] void PoolAvx2(PoolKind kind, const WindowPixels& w, ptrdiff_t channels,
                                      float* out) {
  wide::Pool<32>(kind, w, channels, out);
}
[[gnu::target("avx2")]] void ExpAvx2(const float* x, ptrdiff_t count, float* to) {
  wide::Exp<32>(x, count, to);
}
[[gnu::target("avx2")]] void SigmoidAvx2(const float* x, ptrdiff_t count, float* to) {
  wide::Sigmoid<32>(x, count, to);
}
[[gnu::target("avx2")]] void LogisticAvx2(const float* x, ptrdiff_t count, float* to) {
  wide::Logistic<32>(x, count, to);
}
[[gnu::target("avx2")]] void ErfAvx2(const float* x, ptrdiff_t count, float* to) {
  wide::Erf<32>(x, count, to);
}
[[gnu::target("avx2")]] void TanhAvx2(const float* x, ptrdiff_t count, float* to) {
  wide::Tanh<32>(x, count, to);
}
[[gnu::target("avx2")]] void SoftmaxAvx2(float beta, const float* x, ptrdiff_t count, float* to) {
  wide::Softmax<32>(beta, x, count, to);
}
[[gnu::target("avx2")]] void AddScaledAvx2(const ScaledSum& sum, const float* b, ptrdiff_t count,
                                           float* a) {
  wide::AddScaled<32>(sum, b, count, a);
}
[[gnu::target("avx2")]] void NormalizeAvx2(const RowNormalizer& n, const float* x, ptrdiff_t count,
                                           float* to) {
  wide::Normalize<32>(n, x, count, to);
}
constexpr WideRoutines kAvx2 = {
    8,           RangeAvx2,   QuantizeAvx2,  ToRealAvx2,   MultiplyAvx2, AddTapsAvx2,
    AddDotsAvx2, PoolAvx2,    ExpAvx2,       SigmoidAvx2,  LogisticAvx2, ErfAvx2,
    TanhAvx2,    SoftmaxAvx2, AddScaledAvx2, NormalizeAvx2};

[[gnu::target("avx512f,avx512bw")]] void RangeAvx512(const float* x, ptrdiff_t count, float* least,
                                                     float* greatest) {
  wide::Range<64>(x, count, least, greatest);
}
[[gnu::target("avx512f,avx512bw")]] void QuantizeAvx512(const LineQuantizer& q, const float* x,
                                                        ptrdiff_t count, int8_t* to) {
  wide::Quantize<64>(q, x, count, to);
}
[[gnu::target("avx512f,avx512bw")]] void ToRealAvx512(const LinesToReal& r, const int32_t* acc,
                                                      ptrdiff_t count, float* to) {
  wide::ToReal<64>(r, acc, count, to);
}
[[gnu::target("avx512f,avx512bw")]] void MultiplyAvx512(const PanelProduct& p, const float* x,
                                                        ptrdiff_t x_stride, int rows, float* out,
                                                        ptrdiff_t out_stride) {
  wide::Multiply<64>(p, x, x_stride, rows, out, out_stride);
}
[[gnu::target("avx512f,avx512bw")]] void AddTapsAvx512(const WindowTaps& w, ptrdiff_t channels,
                                                       float* out) {
  wide::AddTaps<64>(w, channels, out);
}
[[gnu::target("avx512f,avx512bw")]] void AddDotsAvx512(const float* const* rows, ptrdiff_t count,
                                                       const float* x, ptrdiff_t depth, float* y) {
  wide::AddDots<64>(rows, count, x, depth, y);
}
[[gnu::target("avx512f,avx512bw")]] void PoolAvx512(PoolKind kind, const WindowPixels& w,
                                                    ptrdiff_t channels, float* out) {
  wide::Pool<64>(kind, w, channels, out);
}
[[gnu::target("avx512f,avx512bw")]] void ExpAvx512(const float* x, ptrdiff_t count, float* to) {
  wide::Exp<64>(x, count, to);
}
[[gnu::target("avx512f,avx512bw")]] void SigmoidAvx512(const float* x, ptrdiff_t count, float* to) {
  wide::Sigmoid<64>(x, count, to);
}
[[gnu::target("avx512f,avx512bw")]] void LogisticAvx512(const float* x, ptrdiff_t count,
                                                        float* to) {
  wide::Logistic<64>(x, count, to);
}
[[gnu::target("avx512f,avx512bw")]] void ErfAvx512(const float* x, ptrdiff_t count, float* to) {
  wide::Erf<64>(x, count, to);
}
[[gnu::target("avx512f,avx512bw")]] void TanhAvx512(const float* x, ptrdiff_t count, float* to) {
  wide::Tanh<64>(x, count, to);
}
[[gnu::target("avx512f,avx512bw")]] void SoftmaxAvx512(float beta, const float* x, ptrdiff_t count,
                                                       float* to) {
  wide::Softmax<64>(beta, x, count, to);
}
[[gnu::target("avx512f,avx512bw")]] void AddScaledAvx512(const ScaledSum& sum, const float* b,
                                                         ptrdiff_t count, float* a) {
  wide::AddScaled<64>(sum, b, count, a);
}
[[gnu::target("avx512f,avx512bw")]] void NormalizeAvx512(const RowNormalizer& n, const float* x,
                                                         ptrdiff_t count, float* to) {
  wide::Normalize<64>(n, x, count, to);
}
constexpr WideRoutines kAvx512 = {16,
                                  RangeAvx512,
                                  QuantizeAvx512,
                                  ToRealAvx512,
                                  MultiplyAvx512,
                                  AddTapsAvx512,
                                  AddDotsAvx512,
                                  PoolAvx512,
                                  ExpAvx512,
                                  SigmoidAvx512,
                                  LogisticAvx512,
                                  ErfAvx512,
                                  TanhAvx512,
                                  SoftmaxAvx512,
                                  AddScaledAvx512,
                                  NormalizeAvx512};
#endif

}  // namespace

const WideRoutines& WideRoutinesOf(std::string_view kernel) {
#if defined(__x86_64__)
  if (kernel.starts_with("avx512") || kernel.starts_with("amx")) return kAvx512;
  if (kernel.starts_with("avx")) return kAvx2;
#endif
  (void)kernel;
  return kRoutines<16>;
}

}  // namespace intaglio::nn
