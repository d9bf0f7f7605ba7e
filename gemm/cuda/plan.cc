#include "intaglio/gemm/cuda/plan.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "intaglio/kernels/cuda/finish_split.h"
#include "intaglio/kernels/cuda/image_lines.h"
#include "intaglio/pack/panels.h"
#include "intaglio/pack/validate.h"

namespace intaglio::cuda {
namespace {

constexpr size_t kAlign = 256;  // of the workspace's parts

// The rows can be read where they lie.
bool InPlace(const Canonical& c) {
  const ConstMatrix& m = c.rows;
  if (c.from_image) return true;
  if (m.order != Order::kRowMajor && c.depth() != 1) return false;
  const auto at = reinterpret_cast<uintptr_t>(m.data);
  const bool aligned = at % kChunk == 0 && (m.rows == 1 || m.stride % kChunk == 0);
  return aligned && (c.batch == 1 || c.row_batch % kChunk == 0) &&
         (m.order == Order::kRowMajor || m.rows == 1);
}

bool HasZeroPoints(const Canonical& c) {
  return c.packed != nullptr ? c.packed->zero_points != nullptr : StoredZeroPoint(c.channels) != 0;
}

// Hands out parts of the workspace.
class Layout {
 public:
  explicit Layout(size_t& bytes) : bytes_(bytes) {}
  size_t Take(size_t count, size_t size, int batch = 1) {
    const size_t at = bytes_;
    bytes_ += (count * size * static_cast<size_t>(batch) + kAlign - 1) / kAlign * kAlign;
    return at;
  }

 private:
  size_t& bytes_;
};

// Kernels that the device and the product allow.
bool Serves(const KernelRow& row, const DeviceInfo& device, const Canonical& c) {
  if (device.capability < row.capability) return false;
  if (row.only && device.capability != row.capability) return false;
  if (row.max_rows > 0 && c.row_count() > row.max_rows) return false;
  if (c.from_image && row.images != Images::kAny &&
      (row.images == Images::kNone || !HasWholeChunks(c.image))) {
    return false;
  }
  return c.depth() > 0 || row.id == KernelId::kDp4a64x64;
}

bool FitsGrid(const KernelRow& row, const Canonical& c, int splits) {
  const int64_t row_tiles = DivideUp(c.row_count(), row.tile_rows);
  const int64_t channel_tiles = DivideUp(c.channel_count(), row.tile_channels);
  const int64_t tiles = row_tiles * channel_tiles;
  return tiles <= std::numeric_limits<int32_t>::max() / (int64_t{c.batch} * splits);
}

// Splits are whole lines of the 128-byte swizzle, so that no copy crosses the end of one.
int DepthPerSplit(int depth, int splits) {
  return std::max(RoundUp(DivideUp(depth, splits), 2 * kDepthUnit), 2 * kDepthUnit);
}

void ChooseKernel(const DeviceInfo& device, const Canonical& c, const std::string& forced_kernel,
                  int forced_splits, const IsThere& is_there, Plan& plan) {
  double best = std::numeric_limits<double>::infinity();
  for (const KernelRow& row : kKernelTable) {
    if (!forced_kernel.empty() && forced_kernel != row.name) continue;
    if (!Serves(row, device, c) || !is_there(row)) continue;
    for (const int splits : {1, 2, 3, 4, 6, 8, 12, 16}) {
      const int wanted = forced_splits > 0 ? forced_splits : splits;
      const int per_split = DepthPerSplit(c.depth(), wanted);
      const int real = std::max(1, DivideUp(c.depth(), per_split));
      if (real != wanted && forced_splits == 0 && splits > 1) continue;
      if (!FitsGrid(row, c, real)) continue;
      const double clocks =
          ExpectedClocks(row, device, c.row_count(), c.channel_count(), c.depth(), c.batch, real);
      if (clocks < best) {
        best = clocks;
        plan.kernel = &row;
        plan.splits = real;
        plan.depth_per_split = per_split;
      }
    }
  }
}

}  // namespace

double ExpectedClocks(const KernelRow& row, const DeviceInfo& device, int rows, int channels,
                      int depth, int batch, int splits) {
  constexpr double kStart = 2000;          // of a tile: until the first round, and after the last
  constexpr double kLatency = 1000;        // of a copy
  constexpr double kFinishLaunch = 4000;   // of the kernel that adds splits
  constexpr double kBytesPerClock = 2400;  // of device memory
  const double tiles = static_cast<double>(DivideUp(rows, row.tile_rows)) *
                       DivideUp(channels, row.tile_channels) * batch * splits;
  const double on_each = std::ceil(tiles / device.multiprocessors);
  const double rounds = DivideUp(DivideUp(depth, splits), row.tile_depth);
  const double macs =
      static_cast<double>(row.tile_rows) * row.tile_channels * row.tile_depth * rounds;
  // Blocks that share a multiprocessor hide each other's latencies.
  const double waves = std::ceil(on_each / row.blocks);
  const double compute = on_each * macs / row.rate + waves * kStart;
  const double copies = waves * (rounds * kLatency / (row.stages - 1) + kStart);
  const double results = static_cast<double>(rows) * channels * batch;
  const double bytes = (static_cast<double>(rows) + channels) * depth * batch + results;
  double clocks = std::max({compute, copies, bytes / kBytesPerClock + kStart});
  if (splits > 1) clocks += kFinishLaunch + 8.0 * results * splits / kBytesPerClock;
  return clocks;
}

Result<Plan> MakePlan(const DeviceInfo& device, const Canonical& c, const PipelineNeeds& needs,
                      const std::string& forced_kernel, int forced_splits,
                      const IsThere& is_there) {
  Plan plan;
  ChooseKernel(device, c, forced_kernel, forced_splits, is_there, plan);
  if (plan.kernel == nullptr) {
    return Unsupported("no kernel for a product of " + std::to_string(c.dst.rows) + " x " +
                       std::to_string(c.dst.cols) + " on a device of compute capability " +
                       std::to_string(device.capability / 10) + "." +
                       std::to_string(device.capability % 10) +
                       (forced_kernel.empty() ? "" : " is named '" + forced_kernel + "'"));
  }
  plan.through_memory = needs.in_memory || plan.splits > 1;

  const auto rows = static_cast<size_t>(c.row_count());
  const auto channels = static_cast<size_t>(c.channel_count());
  const size_t groups = (channels + kChannelGroup - 1) / kChannelGroup;
  Layout layout(plan.workspace_bytes);
  // An operand that all of a batch share is prepared once.
  const int row_copies = c.row_batch == 0 ? 1 : c.batch;
  const int channel_copies = c.channel_batch == 0 ? 1 : c.batch;
  if (InPlace(c)) {
    plan.row_stride = c.rows.rows == 1 ? RoundUp(c.depth(), kChunk) : c.rows.stride;
    plan.row_batch = c.row_batch;
  } else {
    plan.row_stride = RoundUp(c.depth(), kChunk);
    plan.row_batch = c.row_batch == 0 ? 0 : c.row_count() * plan.row_stride;
    plan.rows = layout.Take(rows, static_cast<size_t>(plan.row_stride), row_copies);
  }
  plan.padded_depth = RoundUp(c.depth(), kDepthUnit);
  const bool row_zero = c.rows.zero_point != 0;
  if (c.packed == nullptr) {
    const size_t bytes = groups * kChannelGroup * static_cast<size_t>(plan.padded_depth);
    plan.channel_batch = c.channel_batch == 0 ? 0 : static_cast<ptrdiff_t>(bytes);
    plan.channels = layout.Take(bytes, 1, channel_copies);
    if (row_zero) plan.channel_sums = layout.Take(channels, sizeof(int32_t), channel_copies);
  }
  const bool zero_points = HasZeroPoints(c);
  if (zero_points) plan.row_sums = layout.Take(rows, sizeof(int32_t), c.batch);
  if (!needs.bound && (needs.params || row_zero || zero_points)) {
    plan.params = layout.Take(groups, sizeof(PanelParams), channel_copies);
  }
  if (plan.through_memory) {
    plan.partials = layout.Take(rows * groups * kChannelGroup * static_cast<size_t>(plan.splits),
                                sizeof(int32_t), c.batch);
  }
  return plan;
}

std::string Describe(const Plan& plan) {
  std::string text = plan.kernel->name;
  if (plan.splits > 1) text += ", " + std::to_string(plan.splits) + " splits";
  if (plan.rows != Plan::kNone) text += ", rows copied";
  if (plan.channels != Plan::kNone) text += ", channels packed";
  if (plan.through_memory) text += ", finished from memory";
  return text + ", " + std::to_string(plan.workspace_bytes) + " bytes of workspace";
}

}  // namespace intaglio::cuda
