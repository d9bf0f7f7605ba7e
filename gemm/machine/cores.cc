#include "intaglio/gemm/machine/cores.h"

#include <atomic>

#if defined(__linux__)
#include <sched.h>
#endif

#include "intaglio/fixedpoint/make_once.h"
#include "intaglio/gemm/machine/cpu.h"
#include "intaglio/gemm/plan/dispatch.h"

namespace intaglio {
namespace {

int CurrentCpu() {
#if defined(__linux__)
  return sched_getcpu();
#else
  return -1;
#endif
}

constinit std::atomic<const MixedCores*> known_cores = nullptr;

const MixedCores& Cores() {
  return MakeOnce(known_cores, [] {
    const std::vector<bool> none;
    return std::make_unique<MixedCores>(
        MixedCores{IsaIsNamed() ? none : Cpu().in_order_cpus, CurrentCpu, KernelTable()});
  });
}

}  // namespace

const Kernel* InOrderForm(const Kernel& kernel) {
  if (Cores().in_order.empty() || (kernel.needs & kInOrder) != 0) return nullptr;
  for (const Kernel* row : Cores().rows) {
    if (row->needs == (kernel.needs | kInOrder)) return row;
  }
  return nullptr;
}

const Kernel& KernelForThisCore(const Kernel& kernel) {
  const Kernel* form = InOrderForm(kernel);
  if (form == nullptr) return kernel;
  const std::vector<bool>& in_order = Cores().in_order;
  const auto at = static_cast<size_t>(Cores().current());  // negative: beyond all
  return at < in_order.size() && in_order[at] ? *form : kernel;
}

const MixedCores* ReplaceCores(const MixedCores* cores) {
  Cores();
  return known_cores.exchange(cores);
}

}  // namespace intaglio
