// The operators around the product, each with the bound that its machine sets.
#ifndef INTAGLIO_BENCH_OPS_OP_CASE_H_
#define INTAGLIO_BENCH_OPS_OP_CASE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "intaglio/bench/peak/mix.h"
#include "intaglio/bench/peak/peak.h"
#include "intaglio/gemm/context.h"

namespace intaglio::bench {

// No way of computing it takes less than to copy its input to its output, and to read or to fill
// what is left of the larger, in caches that hold what is at hand; none that we know takes less
// than its ops at the loop's rate. Of PeakOf::kBytes ops are the vector instructions that it takes,
// but for loads and stores, times the bytes of a vector: so many per byte of the result. Then
// `elements` are what a rate is given of.
struct OpCase {
  // Bounded by so many vector instructions per vector of results, if they were bytes.
  template <const Mix& kMix>
  void TakeMix() {
    loop = PeakOfMix<kMix>();
    ops = Total(kMix) * elements;
  }

  std::string name;
  double ops = 0;
  double elements = 0;  // of the result
  double read = 0;      // bytes, each once
  double written = 0;
  double repeats = 1;  // of the same: ops, elements and bytes are those of one
  const PeakLoop* loop = nullptr;
  std::function<void()> run;
  std::function<std::string()> check;  // empty where a sample of results is right
};

// Depthwise layers of MobileNet v1 and, with 5x5 taps, of MobileNet v3 and EfficientNet.
std::vector<OpCase> DepthwiseCases(Context& context);

// Convolutions of ResNet-50 and Inception by way of the im2col view; the bound is the product's.
std::vector<OpCase> ConvolutionCases(Context& context);

// Additions and products of bytes: one thread, as the routines are.
std::vector<OpCase> LineCases();

// The runtime's operators that pool, move, convert and normalize.
std::vector<OpCase> NnCases(Context& context);

}  // namespace intaglio::bench

#endif  // INTAGLIO_BENCH_OPS_OP_CASE_H_
