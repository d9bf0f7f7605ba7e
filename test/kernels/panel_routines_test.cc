// Kernel::pack, Kernel::pack_rows and Kernel::sum_rows of every row of the table against the
// routines of pack/.
#include <cstring>

#include "intaglio/test/kernels/every_kernel.h"
#include "intaglio/test/kernels/guarded.h"
#include "intaglio/test/kernels/panel_oracle.h"

namespace intaglio::test {
namespace {

struct Totals {
  std::vector<int8_t> panel;
  std::vector<int32_t> sums;
  int64_t magnitude;
  bool operator==(const Totals&) const = default;
};

// All that the routines write, between guards, and all that they return.
Totals Pack(const PanelRoutines& routines, const PanelSource& s,
            const std::vector<int32_t>& zero_points) {
  constexpr size_t kGuard = 64;
  const size_t bytes = static_cast<size_t>(s.group_bytes()) * static_cast<size_t>(s.groups());
  Totals t{std::vector<int8_t>(bytes + 2 * kGuard, 0x5a),
           std::vector<int32_t>(static_cast<size_t>(s.channels) + 1, 77), 0};
  int8_t* panel = t.panel.data() + kGuard;
  routines.fill(s, panel);
  routines.sum(s, panel, t.sums.data());
  t.magnitude = routines.measure(s, panel, zero_points.data());
  return t;
}

void Check(const Kernel& kernel, Random& random, int vectors, int channels, int depth, int gap,
           bool depth_runs, bool is_unsigned, bool extreme) {
  SCOPED_TRACE(std::to_string(vectors) + " vectors, " + std::to_string(channels) + " channels of " +
               std::to_string(depth) + (depth_runs ? ", by channel" : ", by depth") + ", gap " +
               std::to_string(gap));
  const ptrdiff_t stride = (depth_runs ? depth : channels) + gap;
  const int lines = depth_runs ? channels : depth;
  // The last line has no gap after it: a read past its end is a fault.
  const Guarded memory(depth == 0 ? 0 : static_cast<size_t>(lines * stride - gap));
  for (ptrdiff_t i = 0; depth > 0 && i < lines * stride - gap; ++i) {
    memory.data()[i] = static_cast<uint8_t>(extreme ? 0x80 : Uniform(random, 0, 255));
  }
  std::vector<int32_t> zero_points;
  for (int c = 0; c < channels; ++c) {
    zero_points.push_back(extreme ? 127 : Uniform(random, -128, 127));
  }
  const PanelSource source{memory.data(),
                           depth_runs ? stride : 1,
                           depth_runs ? 1 : stride,
                           static_cast<uint8_t>(is_unsigned ? 0x80 : 0),
                           channels,
                           depth,
                           vectors,
                           kernel.panel};
  const Totals want = Pack({}, source, zero_points);
  const Totals got = Pack(kernel.pack, source, zero_points);
  EXPECT_EQ(got.panel, want.panel);
  EXPECT_EQ(got.sums, want.sums);
  EXPECT_EQ(got.magnitude, want.magnitude);
}

class PanelRoutinesTest : public EveryKernel {};

TEST_P(PanelRoutinesTest, EqualTheDefinition) {
  Random random(1);
  for (const int vectors : PanelVectors()) {
    for (int round = 0; round < 300 && !HasFailure(); ++round) {
      const int channels = Uniform(random, 1, lanes() * vectors);
      const int depth = round % 8 == 0 ? Uniform(random, 240, 530) : Uniform(random, 0, 70);
      Check(kernel(), random, vectors, channels, depth, Uniform(random, 0, 3), round % 2 == 0,
            round / 2 % 2 == 0, round % 16 == 0);
    }
    for (int round = 0; round < 40 && !HasFailure(); ++round) {
      Check(kernel(), random, vectors, lanes() * vectors, round, round % 3, round % 2 == 0,
            round / 2 % 2 == 0, false);
    }
  }
}

TEST_P(PanelRoutinesTest, DeeperThanOneTotal) {
  Random random(2);
  Check(kernel(), random, 1, std::min(3, lanes()), (1 << 18) * kernel().panel.depth_step + 5, 0,
        true, false, true);
}

TEST_P(PanelRoutinesTest, RowSumsEqualTheDefinition) {
  if (kernel().sum_rows == SumRows) GTEST_SKIP() << kernel().name << " has no routine of its own";
  Random random(3);
  const RowFormat format = kernel().row_format;
  const auto element = static_cast<int>(RowElementBytes(format));
  for (int round = 0; round < 300 && !HasFailure(); ++round) {
    const int count = Uniform(random, 1, 10);
    const int depth = round % 8 == 0 ? Uniform(random, 240, 530) : Uniform(random, 0, 70);
    const int stride = (depth + Uniform(random, 0, 3)) * element;
    SCOPED_TRACE(std::to_string(count) + " rows of " + std::to_string(depth));
    const int bytes = (count - 1) * stride + depth * element;
    const Guarded memory(static_cast<size_t>(bytes));
    for (int i = 0; i < bytes; ++i) {
      const int byte = round % 16 == 0 ? 0xff : Uniform(random, 0, 255);
      // An int16 holds no more than an 8-bit type does.
      memory.data()[i] =
          static_cast<uint8_t>(element == 2 && i % 2 == 1 ? (byte % 2 == 0 ? 0 : 0xff) : byte);
    }
    std::vector<int32_t> want(static_cast<size_t>(count) + 1, 77);
    std::vector<int32_t> got = want;
    SumRows(format, memory.data(), stride, count, depth, want.data());
    kernel().sum_rows(format, memory.data(), stride, count, depth, got.data());
    EXPECT_EQ(got, want);
  }
}

TEST_P(PanelRoutinesTest, PackedRowsEqualTheDefinition) {
  if (kernel().pack_rows == PackRows) GTEST_SKIP() << kernel().name << " has no routine of its own";
  Random random(4);
  const RowFormat format = kernel().row_format;
  for (int round = 0; round < 300 && !HasFailure(); ++round) {
    const int rows = Uniform(random, 1, 12);
    const int depth = round % 8 == 0 ? Uniform(random, 240, 530) : Uniform(random, 1, 70);
    const bool row_major = round % 4 != 0;
    const int stride = (row_major ? depth : rows) + Uniform(random, 0, 1) * Uniform(random, 0, 3);
    SCOPED_TRACE(std::to_string(rows) + " rows of " + std::to_string(depth));
    const auto bytes_read =
        static_cast<size_t>(((row_major ? rows : depth) - 1) * stride + (row_major ? depth : rows));
    const Guarded memory(bytes_read);
    for (size_t i = 0; i < bytes_read; ++i) {
      memory.data()[i] = static_cast<uint8_t>(Uniform(random, 0, 255));
    }
    const ConstMatrix matrix{
        memory.data(), round % 2 == 0 ? Type::kInt8 : Type::kUInt8,     rows, depth,
        stride,        row_major ? Order::kRowMajor : Order::kColMajor, 0};
    const RowSource source = RowSource::From(matrix);
    const int first = Uniform(random, 0, rows - 1);
    const int padded = kernel().panel.Groups(depth) * kernel().panel.depth_step;
    const size_t bytes = static_cast<size_t>((rows - first) * padded) * RowElementBytes(format);
    std::vector<uint8_t> want(bytes + 64, 0xa5);
    std::vector<uint8_t> got = want;
    PackRows(source, format, first, rows - first, padded, want.data());
    kernel().pack_rows(source, format, first, rows - first, padded, got.data());
    EXPECT_EQ(got, want);
  }
}

// A view of an image of any size, padded, strided, dilated and grouped.
Im2col AnyView(Random& random) {
  Im2col v;
  v.type = random() % 2 == 0 ? Type::kInt8 : Type::kUInt8;
  v.zero_point = v.type == Type::kInt8 ? -7 : 200;
  v.batch = Uniform(random, 1, 2);
  v.height = Uniform(random, 1, 6);
  v.width = Uniform(random, 1, 9);
  v.channels = Uniform(random, 1, 150);
  v.group_channels = random() % 3 == 0 ? Uniform(random, 1, v.channels) : v.channels;
  v.first_channel = v.channels - v.group_channels;
  v.kernel_height = Uniform(random, 1, 3);
  v.kernel_width = Uniform(random, 1, 3);
  v.stride_height = Uniform(random, 1, 2);
  v.stride_width = Uniform(random, 1, 2);
  v.dilation_width = random() % 4 == 0 ? 2 : 1;
  v.pad_top = Uniform(random, 0, 2);
  v.pad_left = Uniform(random, 0, 2);
  v.out_height = (v.height + v.stride_height - 1) / v.stride_height;
  v.out_width = (v.width + v.stride_width - 1) / v.stride_width;
  return v;
}

TEST_P(PanelRoutinesTest, PackedWindowsEqualTheDefinition) {
  if (kernel().pack_rows == PackRows) GTEST_SKIP() << kernel().name << " has no routine of its own";
  Random random(5);
  for (int round = 0; round < 300 && !HasFailure(); ++round) {
    Im2col view = AnyView(random);
    const Guarded image(ImageBytes(view));
    for (size_t i = 0; i < ImageBytes(view); ++i) {
      image.data()[i] = static_cast<uint8_t>(Uniform(random, 0, 255));
    }
    view.data = image.data();
    const RowSource source = RowSource::From(view);
    const int first = Uniform(random, 0, source.rows() - 1);
    const int count = Uniform(random, 1, source.rows() - first);
    const int padded = kernel().panel.Groups(source.depth()) * kernel().panel.depth_step;
    const size_t bytes = static_cast<size_t>(count * padded) * RowElementBytes(kernel().row_format);
    std::vector<uint8_t> want(bytes + 64, 0xa5);
    std::vector<uint8_t> got = want;
    PackRows(source, kernel().row_format, first, count, padded, want.data());
    kernel().pack_rows(source, kernel().row_format, first, count, padded, got.data());
    EXPECT_EQ(got, want) << kernel().name << ", " << source.rows() << " rows of " << source.depth();
  }
}

INTAGLIO_INSTANTIATE_EVERY_ROW(PanelRoutinesTest);

}  // namespace
}  // namespace intaglio::test
