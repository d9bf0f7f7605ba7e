#include <cuda_runtime_api.h>

#include "intaglio/gemm/cuda/gemm.h"
#include "intaglio/gemm/prepack.h"
#include "intaglio/kernels/cuda/kernel_table_cuda.h"
#include "intaglio/test/cuda/device_convolution.h"
#include "intaglio/test/cuda/device_problem.h"

namespace intaglio::test {
namespace {

// A pipeline with its arrays on the device.
struct DevicePipeline {
  StandardPipeline standard;
  DeviceArray<int32_t> bias, mantissa, exponent;
  DeviceArray<float> scale;
  DeviceArray<double> real;

  explicit DevicePipeline(const TestPipeline& host)
      : standard(host.standard),
        bias(host.bias),
        mantissa(host.mantissa),
        exponent(host.exponent),
        scale(host.scale),
        real(host.real) {
    if (standard.bias != nullptr) standard.bias = bias.data();
    if (!standard.per_channel) return;  // one value, read on the host
    standard.mantissa = mantissa.data();
    standard.exponent = exponent.data();
    standard.scale = scale.data();
    standard.real = real.data();
  }
};

struct Outcome {
  Scaling scaling;
  Type output;
};
constexpr Outcome kOutcomes[] = {
    {Scaling::kDoubleRounding, Type::kInt8},  {Scaling::kDoubleRounding, Type::kUInt8},
    {Scaling::kSingleRounding, Type::kInt8},  {Scaling::kFloatHalfEven, Type::kUInt8},
    {Scaling::kDoubleRounding, Type::kInt16}, {Scaling::kReal64, Type::kInt8},
    {Scaling::kToFloat, Type::kFloat32},      {Scaling::kNone, Type::kInt32}};

enum class Form { kUnpacked, kPacked, kBound };

// How the call is made.
struct Call {
  Form form;
  Side side;                              // that is packed
  std::vector<int32_t> zero_points = {};  // of its channels, or none of their own

  Call(Random& random, const DeviceProblem& p, const StandardPipeline& s, bool may_pack_left)
      : form(static_cast<Form>(random() % 3)),
        side(may_pack_left && random() % 2 == 0 ? Side::kLhs : Side::kRhs) {
    const Axis axis = side == Side::kLhs ? Axis::kRows : Axis::kCols;
    if (form == Form::kBound && (s.axis != axis || s.scaling == Scaling::kReal64)) {
      form = Form::kPacked;
    }
    if (form == Form::kUnpacked || random() % 2 == 0) return;
    for (int c = 0; c < (side == Side::kLhs ? p.m : p.n); ++c) {
      zero_points.push_back(
          RandomZeroPoint(random, (side == Side::kLhs ? p.lhs_view : p.rhs_view).type));
    }
  }
};

Status RunOnCpu(Context& context, DeviceProblem& p, const StandardPipeline& s, const Call& call) {
  const ConstMatrix lhs = p.lhs->view();
  const ConstMatrix rhs = p.rhs->view();
  if (call.form == Form::kUnpacked) return Gemm(context, lhs, rhs, p.want(), s);
  const bool left = call.side == Side::kLhs;
  const auto packed = Prepack(call.side, left ? lhs : rhs, {call.zero_points, ""});
  if (!packed.ok()) return packed.status();
  return left ? Gemm(context, *packed, rhs, p.want(), s) : Gemm(context, lhs, *packed, p.want(), s);
}

Status RunOnDevice(const cuda::Stream& stream, DeviceProblem& p, const StandardPipeline& s,
                   const Call& call) {
  const ConstMatrix& lhs = p.lhs_view;
  const ConstMatrix& rhs = p.rhs_view;
  if (call.form == Form::kUnpacked) return Gemm(stream, lhs, rhs, p.dst_view, s);
  const bool left = call.side == Side::kLhs;
  const auto packed =
      cuda::PackedMatrix::Pack(stream, call.side, left ? lhs : rhs, call.zero_points);
  if (!packed.ok()) return packed.status();
  const auto multiply = [&](const auto& pipeline) {
    return left ? Gemm(stream, *packed, rhs, p.dst_view, pipeline)
                : Gemm(stream, lhs, *packed, p.dst_view, pipeline);
  };
  if (call.form == Form::kPacked) return multiply(s);
  const ConstMatrix& other = left ? rhs : lhs;
  const auto bound = cuda::BoundPipeline::Bind(stream, *packed, s, other.type, other.zero_point);
  return bound.ok() ? multiply(*bound) : bound.status();
}

std::string CheckOne(cuda::Stream& stream, Context& context, Random& random,
                     const std::string& kernel, int max_rows) {
  const Outcome outcome = kOutcomes[random() % std::size(kOutcomes)];
  DeviceProblem p(random, max_rows, outcome.output);
  const Axis axis = max_rows == 0 && random() % 3 == 0 ? Axis::kRows : Axis::kCols;
  TestPipeline host;
  host.Randomize(random, outcome.scaling, outcome.output, axis == Axis::kCols ? p.n : p.m, axis,
                 0.01 / (p.k + 1));
  const Call call(random, p, host.standard, max_rows == 0);
  const Status reference = RunOnCpu(context, p, host.standard, call);
  if (!reference.ok()) return reference.message();
  const DevicePipeline device(host);
  const int splits = random() % 3 == 0 ? Uniform(random, 1, 5) : 0;
  if (const Status s = stream.Force(kernel, splits); !s.ok()) return s.message();
  const Status status = RunOnDevice(stream, p, device.standard, call);
  const std::string difference = status.ok() ? p.Compare() : p.Text() + ": " + status.message();
  if (difference.empty()) return "";
  return difference + ", form " + std::to_string(static_cast<int>(call.form)) + ", side " +
         std::to_string(static_cast<int>(call.side)) + ", splits " + std::to_string(splits) +
         ", scaling " + std::to_string(static_cast<int>(outcome.scaling));
}

std::string CheckBatch(cuda::Stream& stream, Context& context, Random& random,
                       const std::string& kernel, int max_rows) {
  constexpr int kBatch = 3;
  const int m = std::min(7, max_rows > 0 ? max_rows : 7);
  const int n = Uniform(random, 1, 150);
  const int k = Uniform(random, 1, 300);
  const TestMatrix lhs(random, Type::kUInt8, kBatch * m, k, Order::kRowMajor, (16 - k % 16) % 16,
                       9);
  const TestMatrix rhs(random, Type::kInt8, k, kBatch * n, Order::kColMajor, 0, -3);
  TestResult result(Type::kInt32, kBatch * m, n, Order::kRowMajor, 0);
  DeviceMemory device_lhs(SpanBytes(lhs.view()));
  DeviceMemory device_rhs(SpanBytes(rhs.view()));
  DeviceMemory device_dst(SpanBytes(result.view()));
  device_lhs.Upload(lhs.view().data, SpanBytes(lhs.view()));
  device_rhs.Upload(rhs.view().data, SpanBytes(rhs.view()));
  ConstMatrix l = lhs.view();
  ConstMatrix r = rhs.view();
  MutableMatrix d = result.view();
  l.rows = d.rows = m;
  r.cols = n;
  const cuda::Batch batch{kBatch, m * l.stride, n * r.stride, m * d.stride};
  for (int b = 0; b < kBatch; ++b) {
    ConstMatrix left = l;
    ConstMatrix right = r;
    MutableMatrix want = d;
    left.data = static_cast<const uint8_t*>(l.data) + b * batch.lhs_stride;
    right.data = static_cast<const int8_t*>(r.data) + b * batch.rhs_stride;
    want.data = static_cast<int32_t*>(result.want()) + b * batch.dst_stride;
    const Status status = Gemm(context, left, right, want, StandardPipeline{});
    if (!status.ok()) return status.message();
  }
  l.data = device_lhs.data();
  r.data = device_rhs.data();
  d.data = device_dst.data();
  if (const Status s = stream.Force(kernel, Uniform(random, 0, 2)); !s.ok()) return s.message();
  const Status status = Gemm(stream, l, r, d, StandardPipeline{}, batch);
  if (!status.ok()) return status.message();
  const std::string error = device_dst.Download(result.view().data, SpanBytes(result.view()));
  if (!error.empty()) return error;
  return result.Same() ? "" : "a batch: " + result.Difference();
}

std::string CheckConvolution(const cuda::Stream& stream, Context& context, Random& random,
                             bool whole) {
  DeviceConvolution c(random, whole);
  TestPipeline host;
  host.Randomize(random, Scaling::kDoubleRounding, Type::kInt8, c.filters, Axis::kCols,
                 0.01 / (c.depth() + 1));
  const Status reference = Gemm(context, c.host_view, c.weights->view(), c.want(), host.standard);
  if (!reference.ok()) return reference.message();
  const DevicePipeline device(host);
  const auto packed = cuda::PackedMatrix::Pack(stream, Side::kRhs, c.weights_view);
  if (!packed.ok()) return packed.status().message();
  const Status status = Gemm(stream, c.view, *packed, c.dst_view, device.standard);
  return status.ok() ? c.Compare() : status.message();
}

int MaxRows(const std::string& kernel) {
  const cuda::KernelRow* row = cuda::FindKernel(kernel);
  return row == nullptr ? 0 : row->max_rows;
}

}  // namespace

Tally VerifyKernel(cuda::Stream& stream, const std::string& kernel, int cases) {
  Tally tally;
  Context context(8);
  Random random(static_cast<unsigned>(kernel.size()) + 1);
  for (int i = 0; i < cases; ++i) {
    tally.Count(CheckOne(stream, context, random, kernel, MaxRows(kernel)));
    if (i % 8 == 0) tally.Count(CheckBatch(stream, context, random, kernel, MaxRows(kernel)));
  }
  (void)stream.Force("", 0);
  return tally;
}

Tally VerifyConvolutions(cuda::Stream& stream, const cuda::KernelRow* row, int cases) {
  Tally tally;
  Context context(8);
  Random random(5);
  const std::string kernel = row == nullptr ? "" : row->name;
  const bool whole_only = row != nullptr && row->images == cuda::Images::kWholeChunks;
  for (int i = 0; i < cases; ++i) {
    const Status forced = stream.Force(kernel, i % 4 == 0 ? 3 : 0);
    tally.Count(forced.ok() ? CheckConvolution(stream, context, random, whole_only || i % 2 == 0)
                            : forced.message());
  }
  (void)stream.Force("", 0);
  return tally;
}

}  // namespace intaglio::test
