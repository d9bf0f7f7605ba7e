#include "intaglio/test/cuda/device_convolution.h"
#include "intaglio/test/cuda/device_problem.h"
#include "intaglio/test/cuda/own_pipeline.cuh"

namespace intaglio::test {
namespace {

// The arrays of the pipeline for a result of m x n, sums of k products, on both sides.
struct OwnNumbers {
  TestPipeline numbers;
  std::vector<int8_t> residual;
  int columns;

  OwnNumbers(Random& random, int m, int n, int k)
      : residual(static_cast<size_t>(m * n)), columns(n) {
    numbers.Randomize(random, Scaling::kDoubleRounding, Type::kInt8, n, Axis::kCols,
                      0.01 / (k + 1));
    numbers.bias.resize(static_cast<size_t>(n), 77);
    numbers.mantissa.resize(static_cast<size_t>(n), 1 << 30);
    numbers.exponent.resize(static_cast<size_t>(n), -9);
    for (auto& x : residual) x = static_cast<int8_t>(random());
  }
  auto OnHost() const {
    return OwnPipeline(numbers.bias.data(), numbers.mantissa.data(), numbers.exponent.data(),
                       residual.data(), columns);
  }
};

struct DeviceNumbers {
  DeviceArray<int32_t> bias, mantissa, exponent;
  DeviceArray<int8_t> residual;
  int columns;

  explicit DeviceNumbers(const OwnNumbers& host)
      : bias(host.numbers.bias),
        mantissa(host.numbers.mantissa),
        exponent(host.numbers.exponent),
        residual(host.residual),
        columns(host.columns) {}
  auto OnDevice() const {
    return OwnPipeline(bias.data(), mantissa.data(), exponent.data(), residual.data(), columns);
  }
};

std::string CheckProduct(const cuda::Stream& stream, Context& context, Random& random,
                         int max_rows) {
  DeviceProblem p(random, max_rows, Type::kInt8);
  const OwnNumbers host(random, p.m, p.n, p.k);
  const Status reference = Gemm(context, p.lhs->view(), p.rhs->view(), p.want(), host.OnHost());
  if (!reference.ok()) return reference.message();
  const DeviceNumbers device(host);
  const Status status = Gemm(stream, p.lhs_view, p.rhs_view, p.dst_view, device.OnDevice());
  return status.ok() ? p.Compare() : status.message();
}

std::string CheckConvolution(const cuda::Stream& stream, Context& context, Random& random,
                             bool whole) {
  DeviceConvolution c(random, whole);
  const OwnNumbers host(random, c.rows(), c.filters, c.depth());
  const Status reference = Gemm(context, c.host_view, c.weights->view(), c.want(), host.OnHost());
  if (!reference.ok()) return reference.message();
  const DeviceNumbers device(host);
  const Status status = Gemm(stream, c.view, c.weights_view, c.dst_view, device.OnDevice());
  return status.ok() ? c.Compare() : status.message();
}

}  // namespace

Tally VerifyFused(cuda::Stream& stream, const cuda::KernelRow& row, int cases) {
  Tally tally;
  Context context(8);
  Random random(12);
  for (int i = 0; i < cases; ++i) {
    const Status forced = stream.Force(row.name, random() % 3 == 0 ? 2 : 1);
    tally.Count(forced.ok() ? CheckProduct(stream, context, random, row.max_rows)
                            : forced.message());
    if (row.images == cuda::Images::kNone) continue;
    tally.Count(CheckConvolution(stream, context, random,
                                 row.images == cuda::Images::kWholeChunks || i % 2 == 0));
  }
  (void)stream.Force("", 0);
  return tally;
}

}  // namespace intaglio::test
