#include "intaglio/gemm/plan/dispatch.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "intaglio/fixedpoint/make_once.h"
#include "intaglio/gemm/machine/cpu.h"
#include "intaglio/gemm/stage_registers.h"
#include "intaglio/kernels/kernel_table.h"

namespace intaglio {
namespace {

const char* Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// What a process finds out only once.
struct Facts {
  std::vector<const Kernel*> ranked;
  // The first row that INTAGLIO_ISA allows: 0, the first of all, if it is not set; -1 if it names
  // no row.
  int first_allowed_row;
  bool verbose;
};

std::vector<const Kernel*> Ranked() {
  std::vector<const Kernel*> rows;
  for (const Kernel* kernel : KernelTable()) {
    if (ServesAll(*kernel)) rows.push_back(kernel);
  }
  std::stable_partition(rows.begin(), rows.end() - 1, [](const Kernel* kernel) {
    return (kernel->needs & kPreferences & ~Cpu().features) == 0;
  });
  return rows;
}

int FirstAllowedRow(const std::vector<const Kernel*>& ranked) {
  const std::string_view cap = Environment("INTAGLIO_ISA");
  if (cap.empty()) return 0;
  for (size_t row = 0; row < ranked.size(); ++row) {
    if (cap == ranked[row]->name) return static_cast<int>(row);
  }
  return -1;
}

const Facts& Known() {
  static constinit std::atomic<const Facts*> facts = nullptr;
  return MakeOnce(facts, [] {
    const bool verbose = std::string_view(Environment("INTAGLIO_VERBOSE")) == "1";
    auto made = std::make_unique<Facts>(Facts{Ranked(), 0, verbose});
    made->first_allowed_row = FirstAllowedRow(made->ranked);
    return made;
  });
}

std::string KernelNames() {
  std::string names;
  for (const Kernel* kernel : RankedKernels()) {
    names += names.empty() ? "" : ", ";
    names += kernel->name;
  }
  return names;
}

std::string MissingFeatures(const Kernel& kernel) {
  static constexpr struct {
    CpuFeature bit;
    const char* name;
  } kNames[] = {{kSse41, "SSE4.1"},
                {kAvx2, "AVX2 and FMA"},
                {kAvxVnni, "AVX-VNNI"},
                {kAvx512Bw, "AVX-512 F, BW, DQ, VL"},
                {kAvx512Vnni, "AVX512-VNNI"},
                {kAmxInt8, "AMX-INT8"},
                {kNeon, "NEON"},
                {kDotprod, "dotprod"},
                {kI8mm, "i8mm"}};
  std::string missing;
  for (const auto& [bit, name] : kNames) {
    if ((kernel.needs & ~Cpu().features & bit) == 0) continue;
    missing += missing.empty() ? "" : ", ";
    missing += name;
  }
  return missing.empty() ? "" : "this CPU has no " + missing;
}

// Last, because it may ask the OS.
std::string Refused(const Kernel& kernel) {
  return MayUse(kernel.needs & ~kPreferences) ? "" : "the OS does not let this process use it";
}

}  // namespace

std::span<const Kernel* const> RankedKernels() { return Known().ranked; }

std::string WhyNot(const Kernel& kernel) {
  const std::string missing = MissingFeatures(kernel);
  if (!missing.empty()) return missing;
  const auto table = RankedKernels();
  for (size_t row = 0; row < table.size(); ++row) {
    if (table[row] == &kernel && static_cast<int>(row) < Known().first_allowed_row) {
      return std::string("INTAGLIO_ISA=") + Environment("INTAGLIO_ISA");
    }
  }
  return Refused(kernel);
}

bool IsaIsNamed() { return *Environment("INTAGLIO_ISA") != '\0'; }

Result<const Kernel*> BestKernel() {
  if (Known().first_allowed_row < 0) {
    return InvalidArgument(std::string("INTAGLIO_ISA=") + Environment("INTAGLIO_ISA") +
                           " is none of " + KernelNames());
  }
  static constinit std::atomic<const Kernel*> best = nullptr;
  const Kernel* kernel = best.load(std::memory_order_relaxed);
  if (kernel != nullptr) return kernel;
  for (size_t row = 0; kernel == nullptr; ++row) {  // the last kernel needs no CPU feature
    if (WhyNot(*RankedKernels()[row]).empty()) kernel = RankedKernels()[row];
  }
  best.store(kernel, std::memory_order_relaxed);
  return kernel;
}

Result<const Kernel*> KernelNamed(std::string_view name) {
  if (name.empty() || Known().first_allowed_row < 0) return BestKernel();
  for (const Kernel* kernel : RankedKernels()) {
    if (name != kernel->name) continue;
    std::string why_not = MissingFeatures(*kernel);
    if (why_not.empty()) why_not = Refused(*kernel);
    if (why_not.empty()) return kernel;
    return Unsupported("kernel " + std::string(name) + ": " + why_not);
  }
  return InvalidArgument("kernel " + std::string(name) + " is none of " + KernelNames());
}

Result<const Kernel*> KernelFor(const PanelFormat& format) {
  // Of several that read the format, the one that this process uses otherwise.
  const auto best = BestKernel();
  if (!best.ok() || (*best)->panel == format) return best;
  for (const Kernel* kernel : RankedKernels()) {
    const KernelList rows = CandidatesOf(*kernel);
    const auto reads = [&](const Kernel* row) { return row->panel == format; };
    // The last one that does, since it serves every product by such panels.
    const auto row = std::find_if(rows.rbegin(), rows.rend(), reads);
    if (row != rows.rend() && MayUse(kernel->needs & ~kPreferences)) return *row;
  }
  return Unsupported("packed matrix: no kernel of this machine reads its panels");
}

RegisterSet StageRegisters() noexcept try {
  const auto best = BestKernel();
  const uint32_t needs = best.ok() ? (*best)->needs : 0;
  if ((needs & kAvx512Bw) != 0) return RegisterSet::kAvx512;
  if ((needs & kAvx2) != 0) return RegisterSet::kAvx2;
  if ((needs & kSse41) != 0) return RegisterSet::kSse41;
  return (needs & kNeon) != 0 ? RegisterSet::kNeon : RegisterSet::kScalar;
} catch (const std::bad_alloc&) {
  return RegisterSet::kScalar;
}

bool Verbose() { return Known().verbose; }

}  // namespace intaglio
