#include "intaglio/bindings/c/saved_weights.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "intaglio/bindings/c/checksum.h"
#include "intaglio/gemm/plan/dispatch.h"
#include "intaglio/pack/panels.h"

namespace intaglio::c {
namespace {

constexpr char kMagic[8] = {'I', 'N', 'T', 'G', 'P', 'A', 'C', 'K'};
constexpr uint32_t kVersion = 1;
constexpr uint32_t kByteOrder = 0x01020304;  // reads otherwise where bytes have another order
constexpr uint32_t kSafePairs = 1;
constexpr uint32_t kTiles = 2;

// What the bytes begin with. The panels follow at the next multiple of 64, then the sums and zero
// points of all channels, then a Range for each panel.
struct Head {
  char magic[8];
  uint32_t version;
  uint32_t byte_order;
  uint64_t bytes;     // all of them, this head included
  uint64_t checksum;  // of all of them, with 0 here
  char kernel[32];
  uint32_t side;
  int32_t channels;
  int32_t depth;
  int32_t lanes;
  int32_t vectors;
  int32_t depth_step;
  uint32_t flags;
  uint32_t unused[9];
};
constexpr size_t kPanelsAt = sizeof(Head);
static_assert(kPanelsAt % AlignedBuffer::kAlignment == 0);

constexpr size_t kChannelBytes = 2 * sizeof(int32_t);  // its sum and its zero point

struct Range {
  int64_t magnitude;
  int64_t has_lowest;
};

// Where everything lies.
struct Parts {
  size_t sums;
  size_t zero_points;
  size_t ranges;
  size_t end;
};

Parts PartsOf(size_t panel_bytes, size_t channels, size_t panels) {
  Parts parts{};
  parts.sums = kPanelsAt + RoundUp(panel_bytes, AlignedBuffer::kAlignment);
  parts.zero_points = parts.sums + channels * sizeof(int32_t);
  parts.ranges = parts.sums + channels * kChannelBytes;
  parts.end = parts.ranges + panels * sizeof(Range);
  return parts;
}

size_t PanelBytes(const Panels& panels) {
  const size_t group_bytes =
      static_cast<size_t>(panels.format.lanes) * static_cast<size_t>(panels.format.depth_step);
  size_t vectors = 0;
  for (const PanelRange& range : panels.ranges) vectors += static_cast<size_t>(range.vectors);
  return vectors * group_bytes * static_cast<size_t>(panels.groups);
}

Parts PartsOf(const Panels& panels) {
  return PartsOf(PanelBytes(panels), panels.sums.size(), panels.ranges.size());
}

// The checksum of the head with 0 in its place, and of what follows it.
uint64_t ChecksumOf(Head head, std::span<const uint8_t> bytes) {
  head.checksum = 0;
  const auto* first = reinterpret_cast<const uint8_t*>(&head);
  return Checksum(bytes.subspan(sizeof(Head)), Checksum({first, sizeof(Head)}));
}

Head HeadOf(const PackedMatrix& matrix, size_t bytes) {
  const Panels& panels = matrix.panels();
  Head head{};
  std::copy_n(kMagic, sizeof(kMagic), head.magic);
  head.version = kVersion;
  head.byte_order = kByteOrder;
  head.bytes = bytes;
  const std::string kernel = KernelOf(matrix);
  std::copy_n(kernel.data(), std::min(kernel.size(), sizeof(head.kernel) - 1), head.kernel);
  head.side = static_cast<uint32_t>(matrix.side());
  head.channels = panels.channels;
  head.depth = panels.depth;
  head.lanes = panels.format.lanes;
  head.vectors = panels.format.vectors;
  head.depth_step = panels.format.depth_step;
  head.flags = (panels.format.safe_pairs ? kSafePairs : 0) | (panels.format.tiles ? kTiles : 0);
  return head;
}

PanelFormat FormatOf(const Head& head) {
  return {head.lanes, head.vectors, head.depth_step, (head.flags & kSafePairs) != 0,
          (head.flags & kTiles) != 0};
}

Status Damaged(const std::string& what) { return InvalidArgument("packed weights: " + what); }

Result<Head> ReadHead(std::span<const uint8_t> bytes) {
  Head head;
  if (bytes.size() < sizeof(head)) {
    return Damaged(std::to_string(bytes.size()) + " bytes, less than a head has");
  }
  std::memcpy(&head, bytes.data(), sizeof(head));
  if (!std::equal(kMagic, kMagic + sizeof(kMagic), head.magic)) {
    return Damaged("these bytes are none");
  }
  if (head.byte_order != kByteOrder) {
    return Unsupported("packed weights: they come from a machine with another order of bytes");
  }
  if (head.version != kVersion) {
    return Unsupported("packed weights: they have version " + std::to_string(head.version) +
                       ", this build reads " + std::to_string(kVersion));
  }
  if (head.bytes != bytes.size()) {
    return Damaged(std::to_string(bytes.size()) + " bytes, but they were saved with " +
                   std::to_string(head.bytes));
  }
  if (head.checksum != ChecksumOf(head, bytes)) return Damaged("the checksum does not match");
  head.kernel[sizeof(head.kernel) - 1] = '\0';
  return head;
}

Status CheckKernel(const Head& head) {
  if (KernelFor(FormatOf(head)).ok()) return {};
  const std::string name = head.kernel;
  std::string reason = "this build has no such kernel with such panels";
  for (const Kernel* kernel : RankedKernels()) {
    // Rows that serve some products are named after the one behind them: "amx-int8-words".
    const std::string relatives = std::string(kernel->name) + "-";
    if (name != kernel->name && !name.starts_with(relatives)) continue;
    const std::string why_not = WhyNot(*kernel);
    if (!why_not.empty()) reason = why_not;
  }
  return Unsupported("packed weights: they were packed for the kernel " + name + ": " + reason +
                     "; pack the matrix again");
}

// Lays the panels out anew, so that no size and no offset is taken from the bytes.
Status LayOut(const Head& head, size_t bytes, Panels& panels, Parts& parts) {
  if (head.side > 1 || head.channels < 0 || head.depth < 0) return Damaged("a size is negative");
  // Without depth a few bytes could ask for any number of channels, and so for any memory.
  if (static_cast<size_t>(head.channels) > bytes / kChannelBytes) {
    return Damaged("the sizes in the head do not add up");
  }
  auto layout = LayOutPanels(FormatOf(head), head.channels, head.depth);
  if (!layout.ok()) return layout.status();
  panels.format = FormatOf(head);
  panels.channels = head.channels;
  panels.depth = head.depth;
  panels.groups = panels.format.Groups(head.depth);
  panels.ranges = std::move(layout->ranges);
  parts = PartsOf(layout->bytes, static_cast<size_t>(head.channels), panels.ranges.size());
  if (parts.end != bytes) return Damaged("the sizes in the head do not add up");
  return {};
}

Status ReadChannels(std::span<const uint8_t> bytes, const Parts& parts, Panels& panels) {
  const auto channels = static_cast<size_t>(panels.channels);
  panels.sums.resize(channels);
  panels.zero_points.resize(channels);
  if (channels == 0) return {};
  std::memcpy(panels.sums.data(), bytes.data() + parts.sums, channels * sizeof(int32_t));
  std::memcpy(panels.zero_points.data(), bytes.data() + parts.zero_points,
              channels * sizeof(int32_t));
  for (const int32_t zero_point : panels.zero_points) {
    if (zero_point < -128 || zero_point > 127) return Damaged("a zero point is out of range");
    panels.has_zero_points |= zero_point != 0;
    panels.one_zero_point &= zero_point == panels.zero_points[0];
  }
  return {};
}

Status ReadRanges(std::span<const uint8_t> bytes, const Parts& parts, Panels& panels) {
  const uint8_t* at = bytes.data() + parts.ranges;
  for (PanelRange& panel : panels.ranges) {
    Range range;
    std::memcpy(&range, at, sizeof(range));
    at += sizeof(range);
    if (range.magnitude < 0 || range.magnitude > int64_t{255} * panels.depth) {
      return Damaged("a magnitude is out of range");
    }
    panel.magnitude = range.magnitude;
    panel.has_lowest = range.has_lowest != 0;
  }
  return {};
}

Status TakePanels(std::span<const uint8_t> bytes, std::shared_ptr<const void> owner,
                  Panels& panels) {
  const size_t panel_bytes = PanelBytes(panels);
  const uint8_t* from = bytes.data() + kPanelsAt;
  if (reinterpret_cast<uintptr_t>(from) % AlignedBuffer::kAlignment == 0) {
    panels.data = AlignedBuffer::Borrow(from, panel_bytes, std::move(owner));
    return {};
  }
  panels.data = AlignedBuffer::Allocate(panel_bytes);
  if (panels.data.data() == nullptr) return OutOfMemory("no memory for packed weights");
  std::memcpy(panels.data.data(), from, panel_bytes);
  return {};
}

}  // namespace

size_t CountSavedBytes(const PackedMatrix& matrix) { return PartsOf(matrix.panels()).end; }

Status SaveWeights(const PackedMatrix& matrix, std::span<uint8_t> bytes) try {
  const Panels& panels = matrix.panels();
  const Parts parts = PartsOf(panels);
  if (panels.runs != 1) {
    return Unsupported("packed weights: those for convolutions of one height are not saved");
  }
  if (bytes.size() != parts.end) {
    return InvalidArgument("packed weights: " + std::to_string(parts.end) + " bytes to save, but " +
                           std::to_string(bytes.size()) + " were given");
  }
  std::fill(bytes.begin(), bytes.end(), uint8_t{0});
  const auto copy = [&](size_t to, const void* from, size_t count) {
    if (count > 0) std::memcpy(bytes.data() + to, from, count);
  };
  copy(kPanelsAt, panels.data.data(), PanelBytes(panels));
  copy(parts.sums, panels.sums.data(), panels.sums.size() * sizeof(int32_t));
  copy(parts.zero_points, panels.zero_points.data(), panels.zero_points.size() * sizeof(int32_t));
  size_t at = parts.ranges;
  for (const PanelRange& panel : panels.ranges) {
    const Range range{panel.magnitude, panel.has_lowest ? 1 : 0};
    copy(at, &range, sizeof(range));
    at += sizeof(range);
  }
  Head head = HeadOf(matrix, bytes.size());
  head.checksum = ChecksumOf(head, bytes);
  copy(0, &head, sizeof(head));
  return {};
} catch (const std::bad_alloc&) {
  return OutOfMemory("no memory to save packed weights");
}

Result<PackedMatrix> LoadWeights(std::span<const uint8_t> bytes,
                                 std::shared_ptr<const void> owner) try {
  const Result<Head> head = ReadHead(bytes);
  if (!head.ok()) return head.status();
  INTAGLIO_RETURN_IF_ERROR(CheckKernel(*head));
  auto panels = std::make_shared<Panels>();
  Parts parts{};
  INTAGLIO_RETURN_IF_ERROR(LayOut(*head, bytes.size(), *panels, parts));
  INTAGLIO_RETURN_IF_ERROR(ReadChannels(bytes, parts, *panels));
  INTAGLIO_RETURN_IF_ERROR(ReadRanges(bytes, parts, *panels));
  INTAGLIO_RETURN_IF_ERROR(TakePanels(bytes, std::move(owner), *panels));
  return PackedMatrix(static_cast<Side>(head->side), std::move(panels));
} catch (const std::bad_alloc&) {
  return OutOfMemory("no memory for packed weights");
}

std::string KernelOf(const PackedMatrix& matrix) {
  const auto kernel = KernelFor(matrix.panels().format);
  return kernel.ok() ? (*kernel)->name : "";
}

}  // namespace intaglio::c
