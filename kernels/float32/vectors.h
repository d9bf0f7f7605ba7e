// Vectors of float32 of any width, and what the loops do with them.
#ifndef INTAGLIO_KERNELS_FLOAT32_VECTORS_H_
#define INTAGLIO_KERNELS_FLOAT32_VECTORS_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "intaglio/fixedpoint/registers.h"

// Before a loop that shall remain one.
#if defined(__clang__)
#define INTAGLIO_ROLLED _Pragma("clang loop unroll(disable)")
#else
#define INTAGLIO_ROLLED _Pragma("GCC unroll 1")
#endif

namespace intaglio::float32 {

// These are the compiler's own vector types, because the compiler does not vectorize loops that
// compare reals. The bodies are always inlined, so that they are compiled for the target of the
// function around them.
template <int kBytes>
struct Vectors {
  static constexpr ptrdiff_t kLanes = kBytes / 4;
  typedef float Reals __attribute__((vector_size(kBytes)));
  typedef int32_t Words __attribute__((vector_size(kBytes)));
  typedef int8_t Bytes __attribute__((vector_size(kBytes / 4)));
};

// Calls f(i, kLanes) for each whole vector of elements, then f(i, n) for the n elements left.
template <int kBytes, class Function>
[[gnu::always_inline]] inline void ForVectors(ptrdiff_t count, const Function& f) {
  constexpr ptrdiff_t kLanes = Vectors<kBytes>::kLanes;
  ptrdiff_t i = 0;
  for (; i + kLanes <= count; i += kLanes) f(i, kLanes);
  if (i < count) f(i, count - i);
}

// Calls f(group, i, n) for groups of vectors of n elements each, the first of which starts at i:
// first for groups of several whole vectors, then for single ones. group() is how many they are. A
// loop whose steps wait for each other takes less time if it works on a group side by side.
template <int kBytes, class Function>
[[gnu::always_inline]] inline void ForGroups(ptrdiff_t count, const Function& f) {
  constexpr int kGroup = kBytes == 64 ? 4 : 2;  // as registers allow
  constexpr ptrdiff_t kLanes = Vectors<kBytes>::kLanes;
  ptrdiff_t i = 0;
  for (; i + kGroup * kLanes <= count; i += kGroup * kLanes) {
    f(std::integral_constant<int, kGroup>{}, i, kLanes);
  }
  for (; i < count; i += kLanes) {
    f(std::integral_constant<int, 1>{}, i, std::min(kLanes, count - i));
  }
}

// Subtracting 0 changes no number, so the compiler leaves it out.
template <class Reals>
[[gnu::always_inline]] inline void Broadcast(float number, Reals& v) {
  v = number - Reals{};
}

template <class Vector, class T>
[[gnu::always_inline]] inline void Load(const T* from, ptrdiff_t count, Vector& v) {
  if (count * ptrdiff_t{sizeof(T)} >= ptrdiff_t{sizeof(v)}) {
    std::memcpy(&v, from, sizeof(v));
  } else {
    v = Vector{};
    std::memcpy(&v, from, static_cast<size_t>(count) * sizeof(T));
  }
}

// Loads up to a vector of reals that lie `step` apart, of which `count` are left.
template <class Reals>
[[gnu::always_inline]] inline void LoadStrided(const float* from, ptrdiff_t step, ptrdiff_t count,
                                               Reals& v) {
  constexpr ptrdiff_t kLanes = sizeof(v) / sizeof(float);
  if (step == 1) return Load(from, count, v);
  float lanes[kLanes] = {};
  const ptrdiff_t n = std::min(kLanes, count);
  for (ptrdiff_t i = 0; i < n; ++i) lanes[i] = from[i * step];
  std::memcpy(&v, lanes, sizeof(v));
}

// Copies the bytes that the binary digits of `count` from kBytes down stand for.
template <ptrdiff_t kBytes>
[[gnu::always_inline]] inline void CopyDigits(const std::byte* from, ptrdiff_t count,
                                              std::byte* to) {
  if ((count & kBytes) != 0) {
    std::memcpy(to, from, kBytes);
    from += kBytes;
    to += kBytes;
  }
  if constexpr (kBytes > 1) CopyDigits<kBytes / 2>(from, count, to);
}

// Stores part of a vector without a call, which would take longer than everything else.
template <class Vector, class T>
[[gnu::always_inline]] inline void Store(const Vector& v, T* to, ptrdiff_t count) {
  if (count * ptrdiff_t{sizeof(T)} >= ptrdiff_t{sizeof(v)}) {
    std::memcpy(to, &v, sizeof(v));
  } else {
    std::byte bytes[sizeof(v)];
    std::memcpy(bytes, &v, sizeof(v));
    CopyDigits<ptrdiff_t{sizeof(v)} / 2>(bytes, count * ptrdiff_t{sizeof(T)},
                                         reinterpret_cast<std::byte*>(to));
  }
}

// The elements at even places of two vectors of bytes or 16-bit numbers, one after the other.
template <class Vector, size_t... kPlaces>
[[gnu::always_inline]] inline void TakeEven(const Vector& a, const Vector& b, Vector& even,
                                            std::index_sequence<kPlaces...>) {
  even = __builtin_shufflevector(a, b, (2 * kPlaces)...);
}

// Stores the low bytes of four vectors. Halving the elements twice takes a few packing
// instructions, where a conversion of one vector at a time takes each element apart.
template <int kBytes>
[[gnu::always_inline]] inline void StoreLowBytes(const typename Vectors<kBytes>::Words (&words)[4],
                                                 void* to) {
  static_assert(std::endian::native == std::endian::little);
  typedef int16_t Halves __attribute__((vector_size(kBytes)));
  typedef int8_t AllBytes __attribute__((vector_size(kBytes)));
  Halves halves[4];
  std::memcpy(halves, words, sizeof(halves));
  for (int k = 0; k < 2; ++k) {
    TakeEven(halves[2 * k], halves[2 * k + 1], halves[k], std::make_index_sequence<kBytes / 2>{});
  }
  AllBytes bytes[2];
  std::memcpy(bytes, halves, sizeof(bytes));
  TakeEven(bytes[0], bytes[1], bytes[0], std::make_index_sequence<kBytes>{});
  std::memcpy(to, bytes, kBytes);
}

// Converts `count` numbers to bytes: convert(i, n, words) makes a vector of the n numbers from i.
template <int kBytes, class T, class Convert>
[[gnu::always_inline]] inline void ToBytes(ptrdiff_t count, T* to, const Convert& convert) {
  using V = Vectors<kBytes>;
  static_assert(sizeof(T) == 1);
  ptrdiff_t i = 0;
  // AVX-512 has an instruction that narrows one vector.
  for (; kBytes < 64 && i + kBytes <= count; i += kBytes) {
    typename V::Words words[4];
    INTAGLIO_UNROLL
    for (int k = 0; k < 4; ++k) convert(i + k * V::kLanes, V::kLanes, words[k]);
    StoreLowBytes<kBytes>(words, to + i);
  }
  ForVectors<kBytes>(
      count - i, [&](ptrdiff_t k, ptrdiff_t n) __attribute__((always_inline)) {
        typename V::Words words;
        convert(i + k, n, words);
        Store(__builtin_convertvector(words, typename V::Bytes), to + i + k, n);
      });
}

// A register of float64, which holds half as many numbers as one of float32.
template <int kBytes>
struct Doubles {
  typedef double Reals __attribute__((vector_size(kBytes)));
  typedef int64_t Words __attribute__((vector_size(kBytes)));
};

template <class Whole, class Half, size_t... kPlaces>
[[gnu::always_inline]] inline void Halve(const Whole& whole, Half& low, Half& high,
                                         std::index_sequence<kPlaces...>) {
  low = __builtin_shufflevector(whole, whole, kPlaces...);
  high = __builtin_shufflevector(whole, whole, (sizeof...(kPlaces) + kPlaces)...);
}

template <class Whole, class Half, size_t... kPlaces>
[[gnu::always_inline]] inline void Join(const Half& low, const Half& high, Whole& whole,
                                        std::index_sequence<kPlaces...>) {
  whole = __builtin_shufflevector(low, high, kPlaces...);
}

// The first and the second half of v as float64. g++ keeps arrays of whole registers in registers,
// and arrays of anything larger in memory.
template <int kBytes>
[[gnu::always_inline]] inline void Widen(const typename Vectors<kBytes>::Reals& v,
                                         typename Doubles<kBytes>::Reals& low,
                                         typename Doubles<kBytes>::Reals& high) {
  typedef double Whole __attribute__((vector_size(2 * kBytes)));
  const Whole whole = __builtin_convertvector(v, Whole);
  Halve(whole, low, high, std::make_index_sequence<kBytes / 8>{});
}

// Rounds to float32.
template <int kBytes>
[[gnu::always_inline]] inline void Narrow(const typename Doubles<kBytes>::Reals& low,
                                          const typename Doubles<kBytes>::Reals& high,
                                          typename Vectors<kBytes>::Reals& v) {
  typedef double Whole __attribute__((vector_size(2 * kBytes)));
  Whole whole;
  Join(low, high, whole, std::make_index_sequence<kBytes / 4>{});
  v = __builtin_convertvector(whole, typename Vectors<kBytes>::Reals);
}

// f[v] = terms[0] + terms[1] x[v] + ..., each operation rounded, for several vectors side by side.
// The loop over the terms is not unrolled: g++ would compute one vector after the other.
template <class Reals, int kCount, size_t kTerms>
[[gnu::always_inline]] inline void Polynomials(const double (&terms)[kTerms],
                                               const Reals (&x)[kCount], Reals (&f)[kCount]) {
  INTAGLIO_UNROLL
  for (int v = 0; v < kCount; ++v) f[v] = Reals{} + terms[kTerms - 1];
  INTAGLIO_ROLLED
  for (size_t k = kTerms - 1; k > 0; --k) {
    INTAGLIO_UNROLL
    for (int v = 0; v < kCount; ++v) f[v] = f[v] * x[v] + terms[k - 1];
  }
}

// Bounds as vectors. NaN passes.
template <int kBytes>
struct Clamp {
  using Reals = typename Vectors<kBytes>::Reals;

  [[gnu::always_inline]] Clamp(float least, float greatest)
      : low(Reals{} + least), high(Reals{} + greatest) {}
  [[gnu::always_inline]] void Apply(Reals& v) const {
    v = v < low ? low : v;
    v = v > high ? high : v;
  }

  Reals low;
  Reals high;
};

template <class Reals, int kLines, int kWidth>
[[gnu::always_inline]] inline void Clear(Reals (&sums)[kLines][kWidth]) {
  INTAGLIO_UNROLL
  for (auto& line : sums) {
    INTAGLIO_UNROLL
    for (auto& sum : line) sum = Reals{};
  }
}

// Stores lines of clamp(sums + bias), kWidth vectors each, or only the first `count` elements of
// them. Whole vectors stay in registers because the loops are unrolled: g++ keeps an array in
// memory if it does not know which element is used.
template <int kBytes, int kLines, int kWidth>
[[gnu::always_inline]] inline void StoreLines(
    const typename Vectors<kBytes>::Reals (&sums)[kLines][kWidth], const float* bias,
    const Clamp<kBytes>& clamp, float* to, ptrdiff_t stride, ptrdiff_t count) {
  using Reals = typename Vectors<kBytes>::Reals;
  constexpr ptrdiff_t kLanes = Vectors<kBytes>::kLanes;
  const bool whole = count >= kWidth * kLanes;
  INTAGLIO_UNROLL
  for (int v = 0; v < kWidth; ++v) {
    const ptrdiff_t n = whole ? kLanes : std::min(kLanes, count - v * kLanes);
    if (n <= 0) return;
    Reals addend = -Reals{};  // for no bias: -0 is the only addend that changes no number
    if (bias != nullptr) Load(bias + v * kLanes, n, addend);
    Reals results[kLines];
    INTAGLIO_UNROLL
    for (int i = 0; i < kLines; ++i) {
      results[i] = sums[i][v] + addend;
      clamp.Apply(results[i]);
    }
    if (n == kLanes) {
      INTAGLIO_UNROLL
      for (int i = 0; i < kLines; ++i) {
        std::memcpy(to + i * stride + v * kLanes, &results[i], kBytes);
      }
    } else {
      for (int i = 0; i < kLines; ++i) Store(results[i], to + i * stride + v * kLanes, n);
    }
  }
}

}  // namespace intaglio::float32

#endif  // INTAGLIO_KERNELS_FLOAT32_VECTORS_H_
