// What the machine at hand can do at most: the rate of the instructions that products are made of,
// and of plain reads.
#ifndef INTAGLIO_BENCH_PEAK_PEAK_H_
#define INTAGLIO_BENCH_PEAK_PEAK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "intaglio/bench/harness/interleave.h"
#include "intaglio/gemm/context.h"

namespace intaglio::bench {

// What an instruction computes, and with it what "ops" are.
enum class PeakOf {
  kProducts,  // of 8-bit integers: multiplications and additions
  kFloats,    // multiplications and additions
  kBytes,     // a vector of bytes: as many
};

// A loop of independent instructions in registers.
struct PeakLoop {
  const char* name;
  double ops;      // of one iteration
  uint32_t needs;  // CpuFeature bits of kernels/kernel.h
  PeakOf of;
  void (*run)(int64_t iterations);
};

// A loop that reads `bytes` bytes (a multiple of 1024, 64-byte aligned) and does nothing else.
struct ReadLoop {
  const char* name;
  uint32_t needs;
  void (*run)(const void* memory, size_t bytes);
};

// All loops of this build's architecture, the widest first. Empty where nobody has written any.
std::span<const PeakLoop> PeakLoops();
std::span<const ReadLoop> ReadLoops();

bool Runs(const PeakLoop& loop);
bool Runs(const ReadLoop& loop);

// The loop that bounds products of 8-bit integers by a kernel of the table; the best 8-bit loop of
// the machine for the empty name. Null where there is none.
const PeakLoop* PeakOfKernel(std::string_view kernel);
// The best loop of floats, or of bytes: the rate of plain vector instructions.
const PeakLoop* BestPeak(PeakOf of);
// The best plain read.
const ReadLoop* BestRead();

// A loop on all threads of a context, to run among the contenders whose share of it is asked for.
// The context must outlive it.
struct PeakContender {
  Contender contender;
  double ops_per_call;
};
PeakContender MakePeakContender(const PeakLoop& loop, Context& context);

// Plain reads of `bytes` bytes in all, the same ones on every call, by all threads of a context,
// and plain writes of `written` others: a copy of as many as both are. Only where BestRead() is not
// null.
Contender MakeReadContender(size_t bytes, Context& context, size_t written = 0);

// What watches for quiet moments, by the rate of plain vector instructions on all threads of a
// context, which must outlive it. Null for no patience, and where there is no such loop.
std::unique_ptr<QuietWatch> MakeQuietWatch(double patience, Context& context);

// GB/s (1e9) of plain reads by all threads of a context, each of its own `bytes / threads` bytes,
// best of several passes.
constexpr double kReadSeconds = 0.02;
double ReadBandwidth(Context& context, size_t bytes, double seconds = kReadSeconds);

}  // namespace intaglio::bench

#endif  // INTAGLIO_BENCH_PEAK_PEAK_H_
