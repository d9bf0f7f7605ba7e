#include "intaglio/pack/populate.h"

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

}  // namespace intaglio
