#include "intaglio/nn/ops/wide.h"

#include <algorithm>
#include <cstring>

namespace intaglio::nn {
namespace {

// The compiler's own vectors: of loops with comparisons of reals it makes none. The bodies are
// always inlined, so that they are compiled for the target of the function that they are in.
template <int kBytes>
struct Vectors {
  static constexpr ptrdiff_t kLanes = kBytes / 4;
  typedef float Reals __attribute__((vector_size(kBytes)));
  typedef int32_t Words __attribute__((vector_size(kBytes)));
  typedef int8_t Bytes __attribute__((vector_size(kBytes / 4)));
};

// Calls f(i, kLanes) for whole vectors of elements, then f(i, those that are left).
template <int kBytes, class Function>
[[gnu::always_inline]] inline void ForVectors(ptrdiff_t count, const Function& f) {
  constexpr ptrdiff_t kLanes = Vectors<kBytes>::kLanes;
  ptrdiff_t i = 0;
  for (; i + kLanes <= count; i += kLanes) f(i, kLanes);
  if (i < count) f(i, count - i);
}

template <class Vector, class T>
[[gnu::always_inline]] inline void Load(const T* from, ptrdiff_t count, Vector& v) {
  if (count * ptrdiff_t{sizeof(T)} == ptrdiff_t{sizeof(v)}) {
    std::memcpy(&v, from, sizeof(v));
  } else {
    v = Vector{};
    std::memcpy(&v, from, static_cast<size_t>(count) * sizeof(T));
  }
}

template <class Vector, class T>
[[gnu::always_inline]] inline void Store(const Vector& v, T* to, ptrdiff_t count) {
  if (count * ptrdiff_t{sizeof(T)} == ptrdiff_t{sizeof(v)}) {
    std::memcpy(to, &v, sizeof(v));
  } else {
    std::memcpy(to, &v, static_cast<size_t>(count) * sizeof(T));
  }
}

template <int kBytes>
[[gnu::always_inline]] inline void Range(const float* x, ptrdiff_t count, float* least,
                                         float* greatest) {
  using V = Vectors<kBytes>;
  // Four of each, for the latency of a comparison.
  constexpr int kChains = 4;
  typename V::Reals low[kChains] = {};
  typename V::Reals high[kChains] = {};
  const auto take = [&](int chain, const float* from, ptrdiff_t n) __attribute__((always_inline)) {
    typename V::Reals v;
    Load(from, n, v);
    low[chain] = v < low[chain] ? v : low[chain];
    high[chain] = v > high[chain] ? v : high[chain];
  };
  ptrdiff_t i = 0;
  for (; i + kChains * V::kLanes <= count; i += kChains * V::kLanes) {
    for (int c = 0; c < kChains; ++c) take(c, x + i + c * V::kLanes, V::kLanes);
  }
  ForVectors<kBytes>(
      count - i, [&](ptrdiff_t k, ptrdiff_t n)
                     __attribute__((always_inline)) { take(0, x + i + k, n); });
  float lows[kChains * V::kLanes];
  float highs[kChains * V::kLanes];
  std::memcpy(lows, low, sizeof(low));
  std::memcpy(highs, high, sizeof(high));
  *least = 0;
  *greatest = 0;
  for (int k = 0; k < kChains * V::kLanes; ++k) {
    *least = lows[k] < *least ? lows[k] : *least;
    *greatest = highs[k] > *greatest ? highs[k] : *greatest;
  }
}

// Limits are integers, so that they may come before the rounding. Half, less its last bit, rounds
// ties away from zero and nothing else beyond: what is limited is below 2^23.
template <int kBytes>
[[gnu::always_inline]] inline void Quantize(const LineQuantizer& q, const float* x, ptrdiff_t count,
                                            int8_t* to) {
  using V = Vectors<kBytes>;
  constexpr float kAlmostHalf = 0x1.fffffep-2f;
  const typename V::Reals zero = {};
  const typename V::Reals low = zero + q.low;
  const typename V::Reals high = zero + q.high;
  const float inverse = q.inverse;
  const float zero_point = q.zero_point;
  ForVectors<kBytes>(
      count, [&](ptrdiff_t i, ptrdiff_t n) __attribute__((always_inline)) {
        typename V::Reals v;
        Load(x + i, n, v);
        v = v * inverse + zero_point;
        v = v > low ? v : low;
        v = v < high ? v : high;
        v += v < zero ? zero - kAlmostHalf : zero + kAlmostHalf;
        const auto words = __builtin_convertvector(v, typename V::Words);
        Store(__builtin_convertvector(words, typename V::Bytes), to + i, n);
      });
}

template <int kBytes>
[[gnu::always_inline]] inline void ToReal(const LineToReal& r, const int32_t* acc, ptrdiff_t count,
                                          float* to) {
  using V = Vectors<kBytes>;
  const typename V::Reals zero = {};
  const typename V::Reals low = zero + r.low;
  const typename V::Reals high = zero + r.high;
  const LineToReal line = r;  // whose fields no store to `to` can change
  ForVectors<kBytes>(
      count, [&](ptrdiff_t i, ptrdiff_t n) __attribute__((always_inline)) {
        typename V::Words words;
        typename V::Reals scales;
        typename V::Reals bias;
        Load(acc + i, n, words);
        if (line.zero_point != 0) {
          typename V::Words sums;
          Load(line.weight_sums + i, n, sums);
          words -= sums * line.zero_point;
        }
        Load(line.weight_scales + i, n, scales);
        Load(line.bias + i, n, bias);
        typename V::Reals v = __builtin_convertvector(words, typename V::Reals);
        v = v * (scales * line.scale) + bias;
        v = v < low ? low : v;
        v = v > high ? high : v;
        Store(v, to + i, n);
      });
}

template <int kBytes>
constexpr WideRoutines kRoutines = {Range<kBytes>, Quantize<kBytes>, ToReal<kBytes>};

#if defined(__x86_64__)
[[gnu::target("avx2")]] void RangeAvx2(const float* x, ptrdiff_t count, float* least,
                                       float* greatest) {
  Range<32>(x, count, least, greatest);
}
[[gnu::target("avx2")]] void QuantizeAvx2(const LineQuantizer& q, const float* x, ptrdiff_t count,
                                          int8_t* to) {
  Quantize<32>(q, x, count, to);
}
[[gnu::target("avx2")]] void ToRealAvx2(const LineToReal& r, const int32_t* acc, ptrdiff_t count,
                                        float* to) {
  ToReal<32>(r, acc, count, to);
}
constexpr WideRoutines kAvx2 = {RangeAvx2, QuantizeAvx2, ToRealAvx2};

[[gnu::target("avx512f,avx512bw")]] void RangeAvx512(const float* x, ptrdiff_t count, float* least,
                                                     float* greatest) {
  Range<64>(x, count, least, greatest);
}
[[gnu::target("avx512f,avx512bw")]] void QuantizeAvx512(const LineQuantizer& q, const float* x,
                                                        ptrdiff_t count, int8_t* to) {
  Quantize<64>(q, x, count, to);
}
[[gnu::target("avx512f,avx512bw")]] void ToRealAvx512(const LineToReal& r, const int32_t* acc,
                                                      ptrdiff_t count, float* to) {
  ToReal<64>(r, acc, count, to);
}
constexpr WideRoutines kAvx512 = {RangeAvx512, QuantizeAvx512, ToRealAvx512};
#endif

}  // namespace

const WideRoutines& WideRoutinesOf(std::string_view kernel) {
#if defined(__x86_64__)
  if (kernel.starts_with("avx512") || kernel.starts_with("amx")) return kAvx512;
  if (kernel.starts_with("avx")) return kAvx2;
#endif
  (void)kernel;
  return kRoutines<16>;
}

}  // namespace intaglio::nn
