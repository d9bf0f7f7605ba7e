#include "intaglio/gemm/machine/cpu_arm.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <utility>

#include "intaglio/kernels/cpu_feature.h"

namespace intaglio {
namespace {

// arch/arm64/include/uapi/asm/hwcap.h of Linux.
constexpr uint64_t kHwcapAsimd = 1u << 1;
constexpr uint64_t kHwcapAsimdDp = 1u << 20;
constexpr uint64_t kHwcap2I8mm = 1u << 13;
// arch/arm/include/uapi/asm/hwcap.h. The last two exist since Linux 6.2.
constexpr uint64_t kHwcap32Neon = 1u << 12;
constexpr uint64_t kHwcap32AsimdDp = 1u << 24;
constexpr uint64_t kHwcap32I8mm = 1u << 27;

uint32_t Features(const ArmReport& r) {
  const bool neon = (r.hwcap & (r.aarch64 ? kHwcapAsimd : kHwcap32Neon)) != 0;
  const bool dotprod = (r.hwcap & (r.aarch64 ? kHwcapAsimdDp : kHwcap32AsimdDp)) != 0;
  const bool i8mm = r.aarch64 ? (r.hwcap2 & kHwcap2I8mm) != 0 : (r.hwcap & kHwcap32I8mm) != 0;
  uint32_t features = 0;
  if (neon) features |= kNeon;
  if (neon && dotprod) features |= kDotprod;
  if (neon && i8mm) features |= kI8mm;
  return features;
}

// Empty where the file cannot be read.
std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string CpuFolder(const ArmReport& r, int cpu) {
  return r.sysfs + "/cpu" + std::to_string(cpu);
}

uint64_t Midr(const ArmReport& r, int cpu) {
  return ParseMidr(ReadText(CpuFolder(r, cpu) + "/regs/identification/midr_el1"));
}

// The size of the data or unified cache of this level, or 0.
size_t CacheSize(const std::string& cpu_folder, std::string_view level) {
  for (int index = 0; index < 8; ++index) {
    const std::string cache = cpu_folder + "/cache/index" + std::to_string(index) + "/";
    const std::string type = ReadText(cache + "type");
    if (type.empty()) return 0;
    if (type.starts_with("Instruction") || !ReadText(cache + "level").starts_with(level)) continue;
    return ParseCacheSize(ReadText(cache + "size"));
  }
  return 0;
}

void TakeSmaller(size_t& bytes, size_t found) {
  if (found != 0 && (bytes == 0 || found < bytes)) bytes = found;
}

}  // namespace

uint64_t ParseMidr(std::string_view text) {
  if (!text.starts_with("0x")) return 0;
  uint64_t value = 0;
  const auto result = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
  return result.ec == std::errc() ? value : 0;
}

size_t ParseCacheSize(std::string_view text) {
  size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value > (size_t{1} << 21)) return 0;
  const char unit = end == text.data() + text.size() ? '\0' : *end;
  return unit == 'K' ? value << 10 : unit == 'M' && value < 1024 ? value << 20 : value;
}

bool IsInOrder(uint64_t midr) {
  const uint64_t implementer = (midr >> 24) & 0xff;
  const uint64_t part = (midr >> 4) & 0xfff;
  // arch/arm64/include/asm/cputype.h of Linux, and the technical reference manuals of the cores.
  static constexpr uint64_t kArm[] = {
      0xc05, 0xc07, 0xc08,  // Cortex-A5, A7, A8
      0xd01, 0xd02, 0xd04,  // A32, A34, A35
      0xd03, 0xd05,         // A53, A55
      0xd46, 0xd80,         // A510, A520
  };
  // Kryo 2xx, 3xx and 4xx Silver, which are made from A53 and A55.
  static constexpr uint64_t kQualcomm[] = {0x801, 0x803, 0x805};
  if (implementer == 0x41)
    return std::find(std::begin(kArm), std::end(kArm), part) != std::end(kArm);
  if (implementer == 0x51) {
    return std::find(std::begin(kQualcomm), std::end(kQualcomm), part) != std::end(kQualcomm);
  }
  return false;
}

CpuInfo Interpret(const ArmReport& report) {
  CpuInfo info{Features(report), 0, 0};
  std::vector<bool> in_order;
  size_t others = 0;
  bool sysfs_is_of_arm = false;
  for (const int cpu : report.cpus) {
    const uint64_t midr = Midr(report, cpu);
    sysfs_is_of_arm |= midr != 0;
    if (!IsInOrder(midr != 0 ? midr : report.midr)) {
      ++others;
      continue;
    }
    in_order.resize(std::max(in_order.size(), static_cast<size_t>(cpu) + 1));
    in_order[static_cast<size_t>(cpu)] = true;
  }
  if (!in_order.empty() && others == 0) info.features |= kInOrder;
  if (others != 0) info.in_order_cpus = std::move(in_order);
  for (const int cpu : report.cpus) {
    if (!sysfs_is_of_arm) break;
    TakeSmaller(info.l1_bytes, CacheSize(CpuFolder(report, cpu), "1"));
    TakeSmaller(info.l2_bytes, CacheSize(CpuFolder(report, cpu), "2"));
  }
  if (info.l1_bytes == 0) info.l1_bytes = kDefaultL1Bytes;
  if (info.l2_bytes == 0) info.l2_bytes = kDefaultL2Bytes;
  info.l2_bytes = std::max(info.l1_bytes, info.l2_bytes);
  return info;
}

}  // namespace intaglio
