// A call of Kernel::tile on operands packed by hand, and what it has to give.
#ifndef INTAGLIO_TEST_KERNELS_TILE_CASE_H_
#define INTAGLIO_TEST_KERNELS_TILE_CASE_H_

#include "intaglio/kernels/reference/reference.h"
#include "intaglio/test/kernels/every_kernel.h"
#include "intaglio/test/kernels/guarded.h"
#include "intaglio/test/kernels/panel_oracle.h"

namespace intaglio::test {

// One call: operands by depth, as the numbers that a kernel sees (int8 panels; rows of its format).
struct TileCase {
  const Kernel& kernel;
  int vectors;
  int rows;
  int depth;
  ChannelParams params;
  EpilogueParams epilogue{Type::kInt32, 0, INT32_MIN, INT32_MAX};
  std::vector<int> panel;  // [channel][depth]
  std::vector<int> row;    // [row][depth]
  std::vector<int32_t> row_sums;
  std::vector<int32_t> row_terms;
  int gap = 24;
  bool with_operands = true;
  bool guarded = false;  // panel and rows end where memory does
  // Where rows overlap: what they lie in, and how (TileArgs::windows).
  std::vector<uint8_t> lines;
  std::vector<int32_t> begin;
  WindowRows windows;

  TileCase(const Kernel& k, int vectors, int rows, int depth)
      : kernel(k), vectors(vectors), rows(rows), depth(depth), params(k.panel.lanes * vectors) {
    panel.resize(static_cast<size_t>(width() * depth));
    row.resize(static_cast<size_t>(rows * depth));
  }

  int width() const { return kernel.panel.lanes * vectors; }
  int lowest_row() const { return kernel.row_format == RowFormat::kUnsigned8 ? 0 : -128; }
  int highest_row() const {
    const bool narrow =
        kernel.row_format == RowFormat::kSigned8 || kernel.row_format == RowFormat::kSigned8By8;
    return narrow ? 127 : 255;
  }

  template <class PanelValue, class RowValue>
  void Fill(const PanelValue& panel_value, const RowValue& row_value) {
    for (int c = 0; c < width(); ++c) {
      for (int k = 0; k < depth; ++k) panel[static_cast<size_t>(c * depth + k)] = panel_value(c, k);
    }
    for (int r = 0; r < rows; ++r) {
      for (int k = 0; k < depth; ++k) row[static_cast<size_t>(r * depth + k)] = row_value(r, k);
    }
  }
  void FillRandom(Random& random, int lowest = -128) {
    Fill([&](int, int) { return Uniform(random, lowest, 127); },
         [&](int, int) { return Uniform(random, lowest_row(), highest_row()); });
  }

  // Rows of `runs` runs each, which begin anywhere in memory of `extra` bytes more than one takes.
  void Overlap(Random& random, int runs, int extra) {
    const auto element = static_cast<int>(RowElementBytes(kernel.row_format));
    const int run = depth / runs;  // elements
    const auto bytes = [&](int count) { return ptrdiff_t{count} * element; };
    windows = {nullptr, runs, bytes(Uniform(random, 1, 2 * run + 1))};
    const ptrdiff_t row_bytes = (runs - 1) * windows.line_step + bytes(run);
    lines.resize(static_cast<size_t>(row_bytes + bytes(extra)));
    const int count = static_cast<int>(lines.size()) / element;
    for (int i = 0; i < count; ++i) {
      PutElement(element == 1 ? Type::kUInt8 : Type::kInt16, lines.data(), i,
                 Uniform(random, lowest_row(), highest_row()));
    }
    for (int r = 0; r < rows; ++r) {
      const int first = r == rows / 2 ? extra : Uniform(random, 0, extra);
      begin.push_back(static_cast<int32_t>(bytes(first)));
      for (int k = 0; k < depth; ++k) {
        const uint8_t* at =
            lines.data() + begin.back() + k / run * windows.line_step + bytes(k % run);
        int16_t value = *at;
        if (element == 2) std::memcpy(&value, at, 2);
        row[static_cast<size_t>(r * depth + k)] = value;
      }
    }
    windows.begin = begin.data();
  }

  int groups() const { return (depth + kernel.panel.depth_step - 1) / kernel.panel.depth_step; }

  std::vector<int8_t> PackedPanel() const {
    const int step = kernel.panel.depth_step;
    const int lanes = kernel.panel.lanes;
    std::vector<int8_t> bytes(static_cast<size_t>(groups() * width() * step), 0);
    for (int j = 0; j < vectors; ++j) {
      for (int l = 0; l < lanes; ++l) {
        const int c = HandChannel(lanes, vectors, j, l);
        for (int k = 0; k < depth; ++k) {
          const int at = ((k / step * vectors + j) * lanes + l) * step + k % step;
          bytes[static_cast<size_t>(at)] =
              static_cast<int8_t>(panel[static_cast<size_t>(c * depth + k)]);
        }
      }
    }
    return bytes;
  }

  // Eight rows, of each 8 depths in turn.
  std::vector<uint8_t> InterleavedRows() const {
    std::vector<uint8_t> bytes(static_cast<size_t>((rows + 7) / 8 * groups()) * 64, 0x5a);
    for (int r = 0; r < rows; ++r) {
      for (int k = 0; k < groups() * 8; ++k) {
        bytes[static_cast<size_t>((r / 8 * groups() + k / 8) * 64 + r % 8 * 8 + k % 8)] =
            static_cast<uint8_t>(k < depth ? row[static_cast<size_t>(r * depth + k)] : 0);
      }
    }
    return bytes;
  }

  // Rows of the kernel's format, `extra` bytes between them.
  std::vector<uint8_t> PackedRows(ptrdiff_t& stride, int extra) const {
    const size_t element = RowElementBytes(kernel.row_format);
    stride = static_cast<ptrdiff_t>(element) * groups() * kernel.panel.depth_step + extra;
    if (kernel.row_format == RowFormat::kSigned8By8) {
      stride -= extra;
      return InterleavedRows();
    }
    std::vector<uint8_t> bytes(static_cast<size_t>(rows * stride - extra), 0);
    for (int r = 0; r < rows; ++r) {
      for (int k = 0; k < depth; ++k) {
        const int value = row[static_cast<size_t>(r * depth + k)];
        uint8_t* to = bytes.data() + r * stride + static_cast<ptrdiff_t>(element) * k;
        if (element == 1) {
          *to = static_cast<uint8_t>(value);
        } else {
          const auto word = static_cast<int16_t>(value);
          std::memcpy(to, &word, 2);
        }
      }
    }
    return bytes;
  }

  // What the accumulators of a row and a channel hold beside the products.
  int64_t Terms(int r, int c) const {
    int64_t sum = params.offset[static_cast<size_t>(c)];
    if (!row_sums.empty()) {
      sum += int64_t{params.negative_zero_point[static_cast<size_t>(c)]} *
             row_sums[static_cast<size_t>(r)];
    }
    if (!row_terms.empty()) sum += row_terms[static_cast<size_t>(r)];
    return sum;
  }

  // What the call has to write.
  void Want(GuardedRows& out) const {
    ReferenceGemm(
        rows, width(), depth, [&](int r, int k) { return row[static_cast<size_t>(r * depth + k)]; },
        [&](int k, int c) { return panel[static_cast<size_t>(c * depth + k)]; },
        [&](int r, int c, int32_t sum) {
          params.Finish(epilogue, Wrap(sum + Terms(r, c)), c, out.want(r), c);
        });
  }

  void Check() const {
    GuardedRows out(epilogue.output, rows, width(), gap);
    const std::vector<int8_t> panel_bytes = PackedPanel();
    ptrdiff_t row_stride = 0;
    const std::vector<uint8_t> row_bytes = begin.empty() ? PackedRows(row_stride, 4) : lines;
    TileArgs args;
    args.epilogue = epilogue;
    PanelParams joined = params.InLanes(kernel.panel.lanes, vectors);
    JoinForms(vectors, joined, args.epilogue);
    const ParamsList lanes(kernel.panel.width(), {joined});
    const Guarded panel_memory(guarded ? panel_bytes.size() : 0);
    const Guarded row_memory(guarded ? row_bytes.size() : 0);
    if (guarded) {
      std::copy(panel_bytes.begin(), panel_bytes.end(), panel_memory.data());
      std::copy(row_bytes.begin(), row_bytes.end(), row_memory.data());
    }
    args.panel =
        guarded ? reinterpret_cast<const int8_t*>(panel_memory.data()) : panel_bytes.data();
    args.vectors = vectors;
    args.panel_has_lowest = std::find(panel.begin(), panel.end(), -128) != panel.end();
    args.rows = guarded ? row_memory.data() : row_bytes.data();
    args.row_stride = row_stride;
    args.windows = windows;
    args.fetch_ahead = (depth + rows) % 2 == 1;  // which changes nothing but the speed, as does
    args.fetch_rows = depth % 3 == 1;
    args.row_count = rows;
    args.groups = groups() / windows.lines;
    args.row_sums = row_sums.empty() ? nullptr : row_sums.data();
    args.row_terms = row_terms.empty() ? nullptr : row_terms.data();
    std::vector<int32_t> own_terms(static_cast<size_t>(rows));
    if (kernel.own_terms != nullptr) {
      kernel.own_terms(args, own_terms.data());
      args.own_terms = own_terms.data();
    }
    args.params = lanes.At(0);
    args.dst = out.dst();
    args.dst_stride = out.stride();
    const AlignedBuffer operands = AlignedBuffer::Allocate(2 * panel_bytes.size() + 1);
    args.operands = with_operands ? operands.data() : nullptr;
    TileRun(kernel).Tile(args);
    Want(out);
    ASSERT_TRUE(out.Same()) << kernel.name << ", " << vectors << " vectors, " << rows << " rows of "
                            << windows.lines << " runs, depth " << depth << ", form "
                            << static_cast<int>(params.form) << ", " << NameOf(epilogue.output)
                            << ": " << out.Difference();
  }
};

}  // namespace intaglio::test

#endif  // INTAGLIO_TEST_KERNELS_TILE_CASE_H_
