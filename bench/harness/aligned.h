// Vectors whose memory begins on a cache line, for operands and results of all contenders.
#ifndef INTAGLIO_BENCH_HARNESS_ALIGNED_H_
#define INTAGLIO_BENCH_HARNESS_ALIGNED_H_

#include <cstddef>
#include <new>
#include <vector>

namespace intaglio::bench {

template <class T>
struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};

  LineAllocator() = default;
  template <class U>
  LineAllocator(const LineAllocator<U>&) {}  // NOLINT: implicit

  T* allocate(size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kLine)); }
  void deallocate(T* p, size_t) { ::operator delete(p, kLine); }
  template <class U>
  bool operator==(const LineAllocator<U>&) const {
    return true;
  }
};

template <class T>
using AlignedVector = std::vector<T, LineAllocator<T>>;

}  // namespace intaglio::bench

#endif  // INTAGLIO_BENCH_HARNESS_ALIGNED_H_
