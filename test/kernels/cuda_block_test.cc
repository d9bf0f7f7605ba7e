// Whole products by the device's kernels, emulated, against the definitions of the product and of
// the standard pipeline.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "intaglio/kernels/cuda/kernel_table_cuda.h"
#include "intaglio/kernels/cuda/params.h"
#include "intaglio/kernels/reference/reference.h"
#include "intaglio/test/gemm/problem.h"
#include "intaglio/test/kernels/cuda_emulator.h"

namespace intaglio::test {
namespace {

// Operands in the canonical form, with zero points, all at random.
struct Sample {
  Sample(Random& random, int batch, int rows, int channels, int depth, Values values)
      : type(random() % 2 == 0 ? Type::kInt8 : Type::kUInt8),
        row_stride(RoundUp(depth, 16) + 16 * Uniform(random, 0, 2)),
        padded_depth(RoundUp(depth, kDepthUnit)) {
    p.row_count = rows;
    p.channel_count = channels;
    p.depth = depth;
    p.batch = batch;
    p.rows_are_signed = type == Type::kInt8;
    p.row_stride = row_stride;
    p.padded_depth = padded_depth;
    p.depth_per_split = std::max(RoundUp(depth, 128), 128);
    zero_point = RandomZeroPoint(random, type);
    const bool with_zero_points = random() % 2 == 0;
    for (int c = 0; c < channels; ++c) {
      zero_points.push_back(with_zero_points ? Uniform(random, -128, 127) : 0);
    }
    // Past the end of every line but the last lies what must not count; past that, nothing.
    row_bytes.resize(static_cast<size_t>((batch * rows - 1) * row_stride + depth));
    for (auto& b : row_bytes) b = RandomByte(random, type, values);
    lines.assign(static_cast<size_t>(batch * p.groups() * kChannelGroup * padded_depth), 0);
    p.row_batch = rows * row_stride;
    p.channel_batch = p.groups() * kChannelGroup * padded_depth;
    for (int b = 0; b < batch; ++b) {
      for (int c = 0; c < channels; ++c) {
        int8_t* line = Line(b, c);
        int32_t sum = 0;
        for (int k = 0; k < depth; ++k) {
          line[k] = static_cast<int8_t>(RandomByte(random, Type::kInt8, values));
          sum += line[k];
        }
        sums.push_back(sum);
      }
      for (int r = 0; r < rows; ++r) {
        int32_t sum = 0;
        for (int k = 0; k < depth; ++k) sum += Row(b, r, k);
        row_sums.push_back(sum);
      }
    }
    p.rows = row_bytes.data();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(p.rows) % kChunk, 0u);
    p.channels = lines.data();
    if (with_zero_points) p.row_sums = row_sums.data();
  }

  int Row(int b, int r, int k) const {
    const uint8_t byte = row_bytes[static_cast<size_t>(b * p.row_batch + r * row_stride + k)];
    return type == Type::kInt8 ? static_cast<int8_t>(byte) : byte;
  }
  int8_t* Line(int b, int c) {
    return lines.data() + b * p.channel_batch + LineOfChannel(c) * padded_depth;
  }
  std::vector<int64_t> TrueSums(int b) {
    std::vector<int64_t> all;
    ReferenceGemm(
        p.row_count, p.channel_count, p.depth,
        [&](int r, int k) { return Row(b, r, k) - zero_point; },
        [&](int k, int c) { return Line(b, c)[k] - zero_points[static_cast<size_t>(c)]; },
        [&](int, int, int32_t acc) { all.push_back(acc); });
    return all;
  }
  // PanelParams for a pipeline, in their host memory.
  void MakeParams(const StandardPipeline& s, ScalingForm form) {
    params.resize(static_cast<size_t>(p.batch * p.groups()));
    ParamsJob job{};
    job.channels = p.channel_count;
    job.batch = p.batch;
    job.depth = p.depth;
    job.sums = sums.data();
    job.zero_points = zero_points.data();
    job.rows_zero_point = zero_point;
    job.bias = s.bias;
    job.scaling = s.scaling;
    job.per_channel = s.per_channel;
    job.mantissa = s.mantissa;
    job.exponent = s.exponent;
    job.scale = s.scale;
    if (!s.per_channel && s.mantissa != nullptr) job.one = {*s.mantissa, *s.exponent, *s.scale};
    job.form = form;
    job.params = params.data();
    for (int b = 0; b < p.batch; ++b) {
      for (int g = 0; g < p.groups(); ++g) {
        for (int lane = 0; lane < kChannelGroup; ++lane) FillParams(job, b, g, lane);
      }
    }
    p.params = params.data();
    p.params_batch = p.groups();
  }

  Type type;
  int row_stride;
  int padded_depth;
  int32_t zero_point = 0;
  std::vector<int32_t> zero_points, sums, row_sums;
  std::vector<uint8_t> row_bytes;
  std::vector<int8_t> lines;
  std::vector<PanelParams> params;
  DeviceProduct p;
};

ScalingForm GeneralForm(Scaling scaling) {
  switch (scaling) {
    case Scaling::kDoubleRounding:
      return ScalingForm::kDoubleRounding;
    case Scaling::kSingleRounding:
      return ScalingForm::kSingleRounding;
    case Scaling::kFloatHalfEven:
      return ScalingForm::kFloatHalfEven;
    case Scaling::kToFloat:
      return ScalingForm::kToFloat;
    default:
      return ScalingForm::kNone;
  }
}

void CheckProduct(Random& random, const KernelRow& row, int rows, int channels, int depth,
                  bool split) {
  const Values values = random() % 3 == 0 ? Values::kExtremes : Values::kUniform;
  Sample sample(random, 1, rows, channels, depth, values);
  static constexpr std::pair<Scaling, Type> kOutputs[] = {
      {Scaling::kDoubleRounding, Type::kInt8}, {Scaling::kSingleRounding, Type::kUInt8},
      {Scaling::kFloatHalfEven, Type::kInt8},  {Scaling::kDoubleRounding, Type::kInt16},
      {Scaling::kToFloat, Type::kFloat32},     {Scaling::kNone, Type::kInt32}};
  const auto [scaling, output] = kOutputs[random() % std::size(kOutputs)];
  TestPipeline pipeline;
  pipeline.Randomize(random, scaling, output, channels, Axis::kCols, 0.01 / (depth + 1));
  const StandardPipeline& s = pipeline.standard;
  const Order order = random() % 3 == 0 ? Order::kColMajor : Order::kRowMajor;
  TestResult result(output, rows, channels, order, random() % 2 == 0 ? 0 : Uniform(random, 0, 40));
  const MutableMatrix dst = result.view();
  DeviceProduct& p = sample.p;
  p.dst = dst.data;
  p.dst_row_stride = order == Order::kRowMajor ? dst.stride : 1;
  p.dst_channel_stride = order == Order::kRowMajor ? 1 : dst.stride;
  p.wide_stores = order == Order::kRowMajor && reinterpret_cast<uintptr_t>(dst.data) % 16 == 0 &&
                  dst.stride * static_cast<ptrdiff_t>(SizeOf(output)) % 16 == 0;
  sample.MakeParams(s, GeneralForm(scaling));
  const EpilogueParams epilogue{
      output, s.zero_point,
      std::max(s.clamp_min,
               output == Type::kFloat32 ? INT32_MIN : static_cast<int32_t>(Lowest(output))),
      output == Type::kInt8    ? std::min(s.clamp_max, 127)
      : output == Type::kUInt8 ? std::min(s.clamp_max, 255)
      : output == Type::kInt16 ? std::min(s.clamp_max, 32767)
                               : s.clamp_max};
  const StandardFinish finish{epilogue};
  if (split) {
    DeviceProduct parts = p;
    parts.depth_per_split = 128;
    parts.splits = std::max(1, DivideUp(depth, 128));
    const size_t slice = static_cast<size_t>(rows * p.groups()) * kChannelGroup;
    std::vector<WordVector<4>> partials(slice * static_cast<size_t>(parts.splits) / 4,
                                        WordVector<4>{{99, 99, 99, 99}});
    const DeviceProduct into = IntoPartials(parts, reinterpret_cast<int32_t*>(partials.data()));
    Emulate(row.id, into, StandardFinish{{Type::kInt32, 0, INT32_MIN, INT32_MAX}});
    EmulateFinish(p, PartialsOf(into), finish);
  } else {
    Emulate(row.id, p, finish);
  }
  result.Want(s, sample.TrueSums(0));
  ASSERT_TRUE(result.Same()) << result.Difference();
}

class CudaBlocks : public testing::TestWithParam<KernelRow> {};

TEST_P(CudaBlocks, EqualTheReference) {
  const KernelRow& row = GetParam();
  Random random(7);
  const int most = row.max_rows > 0 ? row.max_rows : 2 * row.tile_rows + 3;
  // Whole tiles, one over and one less, and depths around every unit.
  const std::vector<int> all_rows = {1, 15, 16, 17, row.tile_rows - 1, row.tile_rows, most};
  const std::vector<int> depths = {1, 15, 16, 17, 63, 64, 65, 127, 129, 200, 321};
  for (int i = 0; i < 60; ++i) {
    const int rows = std::clamp(OneOf(random, all_rows), 1, most);
    const int channels =
        i % 2 == 0 ? Uniform(random, 1, 80) : row.tile_channels + Uniform(random, -1, 40);
    const int depth = OneOf(random, depths);
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(channels) + " x " +
                 std::to_string(depth) + ", case " + std::to_string(i));
    ASSERT_NO_FATAL_FAILURE(
        CheckProduct(random, row, rows, std::max(1, channels), depth, i % 4 == 3));
  }
}

TEST_P(CudaBlocks, Batches) {
  const KernelRow& row = GetParam();
  Random random(8);
  const int rows = row.max_rows == 1 ? 1 : 3;
  Sample sample(random, 3, rows, 70, 150, Values::kUniform);
  DeviceProduct& p = sample.p;
  std::vector<int32_t> got(static_cast<size_t>(3 * rows * 70), 12345);
  p.dst = got.data();
  p.dst_row_stride = 70;
  p.dst_channel_stride = 1;
  p.dst_batch = rows * 70;
  sample.MakeParams({}, ScalingForm::kNone);
  Emulate(row.id, p, StandardFinish{{Type::kInt32, 0, INT32_MIN, INT32_MAX}});
  for (int b = 0; b < 3; ++b) {
    const std::vector<int64_t> sums = sample.TrueSums(b);
    for (size_t i = 0; i < sums.size(); ++i) {
      ASSERT_EQ(got[static_cast<size_t>(b * rows * 70) + i], sums[i]) << b << " " << i;
    }
  }
}

// A stage of the user's own, told where it is.
struct AddPlace {
  template <class R>
  INTAGLIO_INLINE typename R::I32 Apply(typename R::I32 x, const Place& at) const {
    return R::Add(x, R::Set(at.row * 1000 + at.col));
  }
};

TEST_P(CudaBlocks, PipelinesOfAnyStages) {
  const KernelRow& row = GetParam();
  Random random(9);
  for (const Axis along : {Axis::kCols, Axis::kRows}) {
    const int rows = row.max_rows == 1 ? 1 : 4;
    const int channels = 67;
    Sample sample(random, 1, rows, channels, 40, Values::kUniform);
    DeviceProduct& p = sample.p;
    sample.MakeParams({}, ScalingForm::kNone);
    std::vector<int32_t> bias(static_cast<size_t>(channels));
    for (auto& x : bias) x = Uniform(random, -1000, 1000);
    std::vector<int16_t> got(static_cast<size_t>(rows * channels));
    p.dst = got.data();
    p.dst_row_stride = channels;
    p.dst_channel_stride = 1;
    p.channels_along = along;
    const Pipeline pipeline(AddBias{bias.data(), along}, AddPlace{}, RoundingShift{3},
                            CastTo<int16_t>{});
    Emulate(row.id, p, PipelineFinish<decltype(pipeline)>{pipeline});
    const std::vector<int64_t> sums = sample.TrueSums(0);
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < channels; ++c) {
        const Place at = along == Axis::kCols ? Place{r, c, along} : Place{c, r, along};
        const auto i = static_cast<size_t>(r * channels + c);
        const int32_t want = pipeline.Apply<Scalar>(static_cast<int32_t>(sums[i]), at);
        ASSERT_EQ(got[i], std::clamp(want, -32768, 32767)) << r << " " << c;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, CudaBlocks, testing::ValuesIn(kKernelTable),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace intaglio::test
