// The loops of wide.h in vectors of 64 bytes, for CPUs with AVX-512.
#include "intaglio/nn/ops/support/wide_table.h"
#include "intaglio/nn/ops/support/wide_tables.h"

namespace intaglio::nn::wide {
namespace {
struct Avx512;
}  // namespace

constinit const WideRoutines kAvx512 = MakeRoutines<Avx512, 64, Unfused>();
constinit const WideRoutines kAvx512Fused = MakeRoutines<Avx512, 64, Fused>();

}  // namespace intaglio::nn::wide
