#include "intaglio/nn/ops/support/wide.h"

#include "intaglio/nn/ops/support/wide_table.h"
#include "intaglio/nn/ops/support/wide_tables.h"

namespace intaglio::nn {
namespace {

struct Baseline;
constexpr WideRoutines kBaseline = wide::MakeRoutines<Baseline, 16, wide::Unfused>();
#if defined(__aarch64__)
constexpr WideRoutines kBaselineFused = wide::MakeRoutines<Baseline, 16, wide::Fused>();
#endif

}  // namespace

const WideRoutines& WideRoutinesOf([[maybe_unused]] std::string_view kernel,
                                   [[maybe_unused]] FloatSums sums) {
#if defined(__x86_64__)
  const bool fused = sums == FloatSums::kFused;
  if (kernel.starts_with("avx512") || kernel.starts_with("amx")) {
    return fused ? wide::kAvx512Fused : wide::kAvx512;
  }
  if (kernel.starts_with("avx")) return fused ? wide::kAvx2Fused : wide::kAvx2;
#elif defined(__aarch64__)
  if (sums == FloatSums::kFused) return kBaselineFused;
#endif
  return kBaseline;
}

}  // namespace intaglio::nn
