// Offsets beyond 2^31: the last rows of a large product against the CPU's product of them alone.
#include <algorithm>
#include <vector>

#include "intaglio/gemm/cuda/gemm.h"
#include "intaglio/gemm/cuda/memory.h"
#include "intaglio/test/cuda/device_problem.h"

namespace intaglio::test {
namespace {

constexpr int kRows = 131200;
constexpr int kLong = 16400;  // kRows times this is over 2^31
constexpr int kShort = 32;
constexpr int kLast = 70;  // rows that are compared

std::string CheckLarge(const cuda::Stream& stream, int depth, int channels, bool& there) {
  const auto row_bytes = static_cast<size_t>(kRows) * static_cast<size_t>(depth);
  const auto dst_bytes = static_cast<size_t>(kRows) * static_cast<size_t>(channels);
  const auto rows = cuda::Allocate(row_bytes);
  const auto dst = cuda::Allocate(dst_bytes);
  there = rows.ok() && dst.ok();
  if (!there) return "";
  Random random(13);
  const TestMatrix last(random, Type::kInt8, kLast, depth, Order::kRowMajor, 0, 0);
  const TestMatrix weights(random, Type::kInt8, depth, channels, Order::kColMajor, 0, 0);
  DeviceMemory device_weights(SpanBytes(weights.view()));
  device_weights.Upload(weights.view().data, SpanBytes(weights.view()));
  const auto last_bytes = static_cast<size_t>(kLast * depth);
  Status status = cuda::Fill(stream, rows->get(), 1, row_bytes - last_bytes);
  if (status.ok()) {
    status = cuda::Copy(stream, static_cast<char*>(rows->get()) + (row_bytes - last_bytes),
                        last.view().data, last_bytes);
  }
  if (!status.ok()) return status.message();

  const int32_t mantissa = 1 << 30;
  const int32_t exponent = -12;
  StandardPipeline pipeline;
  pipeline.scaling = Scaling::kDoubleRounding;
  pipeline.mantissa = &mantissa;
  pipeline.exponent = &exponent;
  pipeline.output = Type::kInt8;
  std::vector<int8_t> want(static_cast<size_t>(kLast * channels));
  std::vector<int8_t> got(want.size());
  Context context(8);
  status = Gemm(context, last.view(), weights.view(), MakeMatrix(want.data(), kLast, channels),
                pipeline);
  if (!status.ok()) return status.message();
  ConstMatrix on_device = weights.view();
  on_device.data = device_weights.data();
  status = Gemm(stream, MakeConstMatrix(static_cast<const int8_t*>(rows->get()), kRows, depth),
                on_device, MakeMatrix(static_cast<int8_t*>(dst->get()), kRows, channels), pipeline);
  if (status.ok()) {
    status = cuda::Copy(stream, got.data(),
                        static_cast<char*>(dst->get()) + (dst_bytes - got.size()), got.size());
  }
  if (status.ok()) status = cuda::Wait(stream);
  if (!status.ok()) return status.message();
  return got == want ? "" : "the last rows differ at depth " + std::to_string(depth);
}

}  // namespace

Tally VerifyLarge(cuda::Stream& stream, const std::string& kernel) {
  Tally tally;
  const Status forced = stream.Force(kernel, 1);
  if (!forced.ok()) tally.Count(forced.message());
  for (const bool deep : {true, false}) {
    bool there = false;
    const std::string failure =
        CheckLarge(stream, deep ? kLong : kShort, deep ? kShort : kLong, there);
    if (there) tally.Count(failure);
  }
  (void)stream.Force("", 0);
  return tally;
}

}  // namespace intaglio::test
