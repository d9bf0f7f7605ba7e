// A file of its own: where a compiler sees both, it takes malloc for a wrong partner of delete.
#include "intaglio/test/nn/count_allocations.h"

#include <malloc.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<int64_t> allocations{0};
std::atomic<int64_t> until_failure{0};
std::atomic<int64_t> live{0};
std::atomic<int64_t> peak{0};

void* Counted(void* p) {
  const int64_t now = live += static_cast<int64_t>(malloc_usable_size(p));
  for (int64_t most = peak; now > most && !peak.compare_exchange_weak(most, now);) {
  }
  return p;
}

void Free(void* p) {
  live -= static_cast<int64_t>(malloc_usable_size(p));
  std::free(p);
}

// Counts an allocation; whether it is to fail.
bool Fails() {
  ++allocations;
  return until_failure > 0 && --until_failure == 0;
}

void* Allocate(size_t bytes) {
  if (Fails()) return nullptr;
  return Counted(std::malloc(bytes == 0 ? 1 : bytes));
}

void* Allocate(size_t bytes, std::align_val_t alignment) {
  if (Fails()) return nullptr;
  const auto align = static_cast<size_t>(alignment);
  return Counted(std::aligned_alloc(align, (bytes + align - 1) / align * align));
}

void* OrThrow(void* p) {
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

}  // namespace

namespace intaglio::nn {

int64_t CountAllocations() { return allocations; }
int64_t LiveBytes() { return live; }
int64_t PeakBytes() { return peak; }
void ResetPeak() { peak = live.load(); }
bool FailAllocation(int64_t n) { return until_failure.exchange(n) > 0; }

}  // namespace intaglio::nn

void* operator new(size_t bytes) { return OrThrow(Allocate(bytes)); }
void* operator new[](size_t bytes) { return OrThrow(Allocate(bytes)); }
void* operator new(size_t bytes, std::align_val_t a) { return OrThrow(Allocate(bytes, a)); }
void* operator new[](size_t bytes, std::align_val_t a) { return OrThrow(Allocate(bytes, a)); }
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return Allocate(bytes); }
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept { return Allocate(bytes); }
void* operator new(size_t bytes, std::align_val_t a, const std::nothrow_t&) noexcept {
  return Allocate(bytes, a);
}
void* operator new[](size_t bytes, std::align_val_t a, const std::nothrow_t&) noexcept {
  return Allocate(bytes, a);
}

void operator delete(void* p) noexcept { Free(p); }
void operator delete[](void* p) noexcept { Free(p); }
void operator delete(void* p, size_t) noexcept { Free(p); }
void operator delete[](void* p, size_t) noexcept { Free(p); }
void operator delete(void* p, std::align_val_t) noexcept { Free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { Free(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { Free(p); }
void operator delete[](void* p, size_t, std::align_val_t) noexcept { Free(p); }
