#include "intaglio/gemm/machine/cpu.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <iterator>

#include "intaglio/fixedpoint/make_once.h"
#include "intaglio/gemm/machine/cpu_arm.h"
#include "intaglio/kernels/cpu_feature.h"

#if defined(__x86_64__)
#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif
#elif defined(__linux__) && (defined(__aarch64__) || defined(__arm__))
#define INTAGLIO_ASK_LINUX_ON_ARM
#include <sched.h>
#include <sys/auxv.h>
#endif

namespace intaglio {
namespace {

#if defined(__x86_64__)
struct Registers {
  uint32_t eax, ebx, ecx, edx;
};

Registers CpuId(uint32_t leaf, uint32_t subleaf) {
  Registers r{};
  __get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx);
  return r;
}

constexpr bool Bit(uint32_t word, int bit) { return ((word >> bit) & 1) != 0; }

// The register sets that the OS saves (XCR0): without it an instruction exists but must not be
// used.
uint32_t SavedState() {
  uint32_t low;
  uint32_t high;
  asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

uint32_t Features() {
  const Registers basic = CpuId(1, 0);
  const Registers extended = CpuId(7, 0);
  const Registers more = CpuId(7, 1);
  const bool os_saves = Bit(basic.ecx, 27);
  const uint32_t saved = os_saves ? SavedState() : 0;
  const bool ymm = (saved & 0x06) == 0x06;
  const bool zmm = (saved & 0xe6) == 0xe6;

  uint32_t features = 0;
  if (Bit(basic.ecx, 19)) features |= kSse41;
  if (ymm && Bit(extended.ebx, 5) && Bit(basic.ecx, 12)) features |= kAvx2;
  if (ymm && Bit(more.eax, 4)) features |= kAvxVnni;
  const bool avx512 = Bit(extended.ebx, 16) && Bit(extended.ebx, 17) && Bit(extended.ebx, 30) &&
                      Bit(extended.ebx, 31);  // F, DQ, BW, VL
  if (zmm && avx512) features |= kAvx512Bw;
  if (zmm && avx512 && Bit(extended.ecx, 11)) features |= kAvx512Vnni;
  if (zmm && avx512 && Bit(extended.ecx, 1)) features |= kAvx512Vbmi;
  const bool tiles = (saved & 0x60000) == 0x60000;
  const bool amx = Bit(extended.edx, 24) && Bit(extended.edx, 25);
  if (tiles && amx && (features & kAvx512Vbmi) != 0) features |= kAmxInt8;
  return features;
}

struct Model {
  enum : uint8_t { kAmd, kIntel, kOther } vendor;
  uint32_t family;
  uint32_t model;  // of the family
};

Model ModelOfCpu() {
  const Registers vendor = CpuId(0, 0);
  const auto is = [&](uint32_t ebx, uint32_t edx, uint32_t ecx) {
    return vendor.ebx == ebx && vendor.edx == edx && vendor.ecx == ecx;
  };
  const uint32_t signature = CpuId(1, 0).eax;
  const bool is_amd = is(0x68747541, 0x69746e65, 0x444d4163);    // "AuthenticAMD"
  const bool is_intel = is(0x756e6547, 0x49656e69, 0x6c65746e);  // "GenuineIntel"
  return {is_amd     ? Model::kAmd
          : is_intel ? Model::kIntel
                     : Model::kOther,
          (signature >> 8 & 0xf) + (signature >> 20 & 0xff),
          (signature >> 4 & 0xf) + (signature >> 12 & 0xf0)};
}

constexpr uint32_t kZen1 = 0x17;  // families: and Zen 2
constexpr uint32_t kZen3 = 0x19;  // and Zen 4
constexpr uint32_t kZen5 = 0x1a;

CpuInfo::Hints HintsWanted() {
  const Model cpu = ModelOfCpu();
  if (cpu.vendor != Model::kAmd) return CpuInfo::Hints::kAlways;
  return cpu.family < kZen5 ? CpuInfo::Hints::kNever : CpuInfo::Hints::kForVectors;
}

bool MultipliesOnce() {
  const Model cpu = ModelOfCpu();
  if (cpu.vendor == Model::kAmd) return cpu.family == kZen1;
  if (cpu.vendor != Model::kIntel || cpu.family != 6) return false;
  constexpr uint8_t kHaswellAndBroadwell[] = {0x3c, 0x3f, 0x45, 0x46, 0x3d, 0x47, 0x4f, 0x56};
  return std::find(std::begin(kHaswellAndBroadwell), std::end(kHaswellAndBroadwell), cpu.model) !=
         std::end(kHaswellAndBroadwell);
}

bool MultipliesAreScarce() {
  const Model cpu = ModelOfCpu();
  return MultipliesOnce() || (cpu.vendor == Model::kAmd && cpu.family == kZen3);
}

bool AskForTiles() {
#if defined(__linux__)
  constexpr int kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr int kTileData = 18;               // its bit of XCR0
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}
#endif

#if defined(INTAGLIO_ASK_LINUX_ON_ARM)
uint64_t MainIdRegister([[maybe_unused]] uint64_t hwcap) {
  uint64_t midr = 0;
#if defined(__aarch64__)
  constexpr uint64_t kHwcapCpuid = 1u << 11;  // the OS answers reads of ID registers
  if ((hwcap & kHwcapCpuid) != 0) asm("mrs %0, midr_el1" : "=r"(midr));
#endif
  return midr;
}

std::vector<int> AllowedCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

CpuInfo Ask() {
  const uint64_t hwcap = getauxval(AT_HWCAP);
  return Interpret({sizeof(void*) == 8, hwcap, getauxval(AT_HWCAP2), MainIdRegister(hwcap),
                    "/sys/devices/system/cpu", AllowedCpus()});
}
#else
#if !defined(__x86_64__)
uint32_t Features() { return 0; }
CpuInfo::Hints HintsWanted() { return CpuInfo::Hints::kAlways; }
bool MultipliesOnce() { return false; }
bool MultipliesAreScarce() { return false; }
#endif

size_t CacheBytes([[maybe_unused]] int name, size_t otherwise) {
#if defined(_SC_LEVEL1_DCACHE_SIZE)
  const long bytes = sysconf(name);
  if (bytes > 0) return static_cast<size_t>(bytes);
#endif
  return otherwise;
}

CpuInfo Ask() {
#if defined(_SC_LEVEL1_DCACHE_SIZE)
  return {Features(),
          CacheBytes(_SC_LEVEL1_DCACHE_SIZE, kDefaultL1Bytes),
          CacheBytes(_SC_LEVEL2_CACHE_SIZE, kDefaultL2Bytes),
          HintsWanted(),
          MultipliesAreScarce(),
          MultipliesOnce()};
#else
  return {Features(),    kDefaultL1Bytes,       kDefaultL2Bytes,
          HintsWanted(), MultipliesAreScarce(), MultipliesOnce()};
#endif
}
#endif

}  // namespace

const CpuInfo& Cpu() {
  static constinit std::atomic<const CpuInfo*> info = nullptr;
  return MakeOnce(info, [] { return std::make_unique<CpuInfo>(Ask()); });
}

bool MayUse(uint32_t features) {
  if ((features & ~Cpu().features) != 0) return false;
#if defined(__x86_64__)
  if ((features & kAmxInt8) != 0) {
    enum : int { kNotAsked, kGiven, kRefused };
    static constinit std::atomic<int> answer = kNotAsked;
    if (answer == kNotAsked) answer = AskForTiles() ? kGiven : kRefused;
    return answer == kGiven;
  }
#endif
  return true;
}

}  // namespace intaglio
