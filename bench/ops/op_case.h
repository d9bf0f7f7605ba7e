// The operators around the product, each with the bound that its machine sets.
#ifndef INTAGLIO_BENCH_OPS_OP_CASE_H_
#define INTAGLIO_BENCH_OPS_OP_CASE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "intaglio/bench/peak/peak.h"
#include "intaglio/gemm/context.h"

namespace intaglio::bench {

// No way of computing it takes less than
//   max(ops / loop's rate, bytes / rate of plain reads of that many bytes).
struct OpCase {
  std::string name;
  double ops = 0;
  double bytes = 0;  // input and output, each once
  const PeakLoop* loop = nullptr;
  std::function<void()> run;
  std::function<std::string()> check;  // empty where a sample of results is right
};

// Depthwise layers of MobileNet v1. The bound is that of a 16-bit multiply-add instruction half of
// whose products are of use: channels do not sum.
std::vector<OpCase> DepthwiseCases(Context& context);

// Convolutions of ResNet-50 by way of the im2col view; the bound is the product's.
std::vector<OpCase> ConvolutionCases(Context& context);

// Additions, products and pools of bytes, which are bound by memory: one thread, as the routines
// are.
std::vector<OpCase> LineCases();

// The runtime's operators that move, convert and normalize bytes: bound by memory.
std::vector<OpCase> NnCases(Context& context);

}  // namespace intaglio::bench

#endif  // INTAGLIO_BENCH_OPS_OP_CASE_H_
