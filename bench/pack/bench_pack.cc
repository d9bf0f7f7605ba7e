// Packing: constant weights for every usable kernel, and rows that a kernel cannot read in place.
// Rates count the bytes read; their bound is the rate of plain reads.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "intaglio/bench/gemm/problem.h"
#include "intaglio/bench/harness/options.h"
#include "intaglio/bench/harness/report.h"
#include "intaglio/bench/peak/peak.h"
#include "intaglio/gemm/gemm.h"
#include "intaglio/gemm/plan/dispatch.h"
#include "intaglio/pack/rows.h"

namespace intaglio::bench {
namespace {

constexpr char kUsage[] =
    "bench_pack: packing of constant weights and of rows\n"
    "  --sizes=MxK,...       of the matrix\n";

// A packed matrix carries at most these per channel beside its weights: a sum and a zero point.
constexpr double kVectorBytes = 2 * sizeof(int32_t);

struct Packing {
  Contender contender;
  double plain_bytes;
  double packed_bytes;
  double channels;  // 0: rows, which carry no vectors
};

[[noreturn]] void Stop(const Status& status) {
  std::fprintf(stderr, "%s\n", status.message().c_str());
  std::exit(1);
}

Packing WeightPacking(const Kernel& kernel, const Problem& p) {
  const ConstMatrix weights{p.weights.data(), p.weight_type, p.k(), p.m(), p.k(),
                            Order::kColMajor, p.weight_zero};
  const PackOptions options{{}, kernel.name};
  const auto packed = Prepack(Side::kRhs, weights, options);
  if (!packed.ok()) Stop(packed.status());
  return {{std::string("weights.") + kernel.name,
           [weights, options] {
             const auto again = Prepack(Side::kRhs, weights, options);
             if (!again.ok()) Stop(again.status());
           }},
          static_cast<double>(p.weights.size()),
          static_cast<double>(packed->bytes()),
          static_cast<double>(p.m())};
}

// All rows of a matrix as large as the weights, into one buffer that is used again.
Packing RowPacking(const Kernel& kernel, const Problem& p, AlignedVector<uint8_t>& buffer) {
  const RowSource source = RowSource::From(
      ConstMatrix{p.weights.data(), p.weight_type, p.m(), p.k(), p.k(), Order::kRowMajor, 0});
  const int padded = kernel.panel.Groups(p.k()) * kernel.panel.depth_step;
  const size_t bytes =
      static_cast<size_t>(p.m()) * static_cast<size_t>(padded) * RowElementBytes(kernel.row_format);
  buffer.resize(std::max(buffer.size(), bytes));
  return {{std::string("rows.") + kernel.name,
           [source, padded, &kernel, &buffer, rows = p.m()] {
             PackRows(source, kernel.row_format, 0, rows, padded, buffer.data());
           }},
          static_cast<double>(p.weights.size()),
          static_cast<double>(bytes),
          0};
}

void RunSize(const Problem& p, const Options& options, Context& context, Report& report) {
  AlignedVector<uint8_t> buffer;
  std::vector<Packing> packings;
  for (const Kernel* kernel : RankedKernels()) {
    if (!WhyNot(*kernel).empty()) continue;
    packings.push_back(WeightPacking(*kernel, p));
    packings.push_back(RowPacking(*kernel, p, buffer));
  }
  std::vector<Contender> contenders;
  for (const Packing& packing : packings) contenders.push_back(packing.contender);
  const auto timings = Interleave(contenders, options.MakeBudget(1));
  const double bandwidth = ReadBandwidth(context, p.weights.size());
  std::printf("%dx%d, plain read %.1f GB/s\n", p.m(), p.k(), bandwidth);
  for (size_t i = 0; i < packings.size(); ++i) {
    const Packing& packing = packings[i];
    const double rate = packing.plain_bytes / timings[i].min;
    const double ratio =
        (packing.packed_bytes - packing.channels * kVectorBytes) / packing.plain_bytes;
    std::printf("  %-24s %8.2f GB/s %6.1f%% of plain reads, %.3f x the plain bytes%s\n",
                packing.contender.name.c_str(), rate, bandwidth > 0 ? 100 * rate / bandwidth : 0,
                ratio, packing.channels > 0 ? " beside the vectors" : "");
    report.Add({"pack/" + std::to_string(p.m()) + "x" + std::to_string(p.k()) + "/" +
                    packing.contender.name,
                timings[i],
                1,
                {{"gb_per_s", rate},
                 {"read_gb_per_s", bandwidth},
                 {"plain_bytes", packing.plain_bytes},
                 {"packed_bytes", packing.packed_bytes},
                 {"ratio", ratio}},
                ""});
  }
}

int Main(int argc, char** argv) {
  const Options options(argc, argv, {"sizes"}, kUsage);
  Report report(options);
  Context context(1);
  for (const std::string& size : options.List(
           "sizes", "64x32,64x64,64x576,256x256,512x512,1000x2048,512x4608,1024x1024,4096x4096")) {
    Shape shape{"pack", 0, 1, 0, false};
    if (std::sscanf(size.c_str(), "%dx%d", &shape.m, &shape.k) != 2 || shape.m < 1 || shape.k < 1) {
      std::fprintf(stderr, "--sizes: %s is not MxK\n", size.c_str());
      return 2;
    }
    RunSize(MakeProblem(shape, Type::kUInt8, Type::kInt8, OutputKind::kByte, 1), options, context,
            report);
  }
  return report.Finish() ? 0 : 1;
}

}  // namespace
}  // namespace intaglio::bench

int main(int argc, char** argv) { return intaglio::bench::Main(argc, argv); }
