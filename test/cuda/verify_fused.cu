#include "intaglio/test/cuda/device_problem.h"
#include "intaglio/test/cuda/own_pipeline.cuh"

namespace intaglio::test {
namespace {

std::string CheckFused(cuda::Stream& stream, Context& context, Random& random,
                       const std::string& kernel) {
  const cuda::KernelRow* row = cuda::FindKernel(kernel);
  DeviceProblem p(random, row == nullptr ? 0 : row->max_rows, Type::kInt8);
  TestPipeline numbers;
  numbers.Randomize(random, Scaling::kDoubleRounding, Type::kInt8, p.n, Axis::kCols,
                    0.01 / (p.k + 1));
  numbers.bias.resize(static_cast<size_t>(p.n), 77);
  numbers.mantissa.resize(static_cast<size_t>(p.n), 1 << 30);
  numbers.exponent.resize(static_cast<size_t>(p.n), -9);
  std::vector<int8_t> residual(static_cast<size_t>(p.m * p.n));
  for (auto& x : residual) x = static_cast<int8_t>(random());
  const auto host = OwnPipeline(numbers.bias.data(), numbers.mantissa.data(),
                                numbers.exponent.data(), residual.data(), p.n);
  const Status reference = Gemm(context, p.lhs->view(), p.rhs->view(), p.want(), host);
  if (!reference.ok()) return reference.message();
  const DeviceArray<int32_t> bias(numbers.bias), mantissa(numbers.mantissa),
      exponent(numbers.exponent);
  const DeviceArray<int8_t> device_residual(residual);
  const auto device =
      OwnPipeline(bias.data(), mantissa.data(), exponent.data(), device_residual.data(), p.n);
  if (const Status s = stream.Force(kernel, random() % 3 == 0 ? 2 : 1); !s.ok()) return s.message();
  const Status status = Gemm(stream, p.lhs_view, p.rhs_view, p.dst_view, device);
  if (!status.ok()) return status.message();
  return p.Compare();
}

}  // namespace

Tally VerifyFused(cuda::Stream& stream, const std::string& kernel, int cases) {
  Tally tally;
  Context context(8);
  Random random(12);
  for (int i = 0; i < cases; ++i) tally.Count(CheckFused(stream, context, random, kernel));
  (void)stream.Force("", 0);
  return tally;
}

}  // namespace intaglio::test
