// The loops of wide.h in vectors of 32 bytes, for CPUs with AVX2 and FMA.
#include "intaglio/nn/ops/support/wide_table.h"
#include "intaglio/nn/ops/support/wide_tables.h"

namespace intaglio::nn::wide {
namespace {
struct Avx2;
}  // namespace

constinit const WideRoutines kAvx2 = MakeRoutines<Avx2, 32, Unfused>();
constinit const WideRoutines kAvx2Fused = MakeRoutines<Avx2, 32, Fused>();

}  // namespace intaglio::nn::wide
