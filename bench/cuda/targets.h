// What the figures of bench_cuda are held against.
#ifndef INTAGLIO_BENCH_CUDA_TARGETS_H_
#define INTAGLIO_BENCH_CUDA_TARGETS_H_

#include <map>
#include <string>
#include <vector>

#include "intaglio/bench/cuda/cases.h"

namespace intaglio::bench {

// Names of contenders that targets compare.
inline constexpr char kFused[] = "ours, fused to int8";
inline constexpr char kRaw[] = "ours, int32";
inline constexpr char kLt[] = "cuBLASLt, int32";
inline constexpr char kLtRequantized[] = "cuBLASLt, int32 + requantize";
inline constexpr char kLaunch[] = "memset of 4 bytes";

struct Figures {
  Case product;
  std::map<std::string, double> us;  // by contender; without those that do not work
};

// A line per target of an H200: what was reached, what is wanted, and "met", "MISSED" or "n/a".
// `memory` is the card's bandwidth in bytes per microsecond.
std::string TargetLines(const std::vector<Figures>& all, double memory);

}  // namespace intaglio::bench

#endif  // INTAGLIO_BENCH_CUDA_TARGETS_H_
