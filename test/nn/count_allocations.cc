// A file of its own: where a compiler sees both, it takes malloc for a wrong partner of delete.
#include "intaglio/test/nn/count_allocations.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<int64_t> allocations{0};
std::atomic<int64_t> until_failure{0};

// Counts an allocation; whether it is to fail.
bool Fails() {
  ++allocations;
  return until_failure > 0 && --until_failure == 0;
}

void* Allocate(size_t bytes) {
  if (Fails()) return nullptr;
  return std::malloc(bytes == 0 ? 1 : bytes);
}

void* Allocate(size_t bytes, std::align_val_t alignment) {
  if (Fails()) return nullptr;
  const auto align = static_cast<size_t>(alignment);
  return std::aligned_alloc(align, (bytes + align - 1) / align * align);
}

void* OrThrow(void* p) {
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

}  // namespace

namespace intaglio::nn {

int64_t CountAllocations() { return allocations; }
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

void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete[](void* p, size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, size_t, std::align_val_t) noexcept { std::free(p); }
