#include "intaglio/pack/pages.h"

#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace intaglio {

void Populate([[maybe_unused]] void* memory, [[maybe_unused]] size_t bytes) {
#if defined(MADV_POPULATE_WRITE)
  constexpr size_t kFewBytes = 32 << 10;
  if (memory == nullptr || bytes < kFewBytes) return;
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto start = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t first = (start + page - 1) / page * page;
  const uintptr_t last = (start + bytes) / page * page;
  // What fails here is done by the faults.
  if (first < last) {
    (void)madvise(reinterpret_cast<void*>(first), last - first, MADV_POPULATE_WRITE);
  }
#endif
}

bool WishLargePages([[maybe_unused]] void* memory, [[maybe_unused]] size_t bytes) {
#if defined(MADV_HUGEPAGE)
  return madvise(memory, bytes / kLargePageBytes * kLargePageBytes, MADV_HUGEPAGE) == 0;
#else
  return false;
#endif
}

}  // namespace intaglio
