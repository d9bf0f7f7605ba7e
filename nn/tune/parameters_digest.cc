#include "intaglio/nn/tune/parameters_digest.h"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "intaglio/nn/ops/operators.h"

namespace intaglio::nn::tune {
namespace {

// What converts to a member of any type.
struct Anything {
  template <class T>
  operator T() const;
};
template <size_t>
using AnythingOf = Anything;

template <class T, size_t... kIndices>
constexpr bool HasMembers(std::index_sequence<kIndices...>) {
  return requires { T{AnythingOf<kIndices>{}...}; };
}
// The number of members of a struct of at most `kMost` ones.
template <class T, size_t kMost = 7>
constexpr size_t CountMembers() {
  if constexpr (kMost == 0) {
    return 0;
  } else if constexpr (HasMembers<T>(std::make_index_sequence<kMost>())) {
    return kMost;
  } else {
    return CountMembers<T, kMost - 1>();
  }
}

template <class T>
void Put(const T& value, Hash& hash);

template <class T>
void Put(const std::vector<T>& values, Hash& hash) {
  hash.Add(values.size());
  for (const T& value : values) Put(value, hash);
}

template <class... Members>
void AddAll(Hash& hash, const Members&... members) {
  (Put(members, hash), ...);
}

template <class T>
void AddMembers(const T& all, Hash& hash) {
  constexpr size_t kCount = CountMembers<T>();
  static_assert(kCount < 7, "add a case");
  static_assert(kCount > 0 || std::is_empty_v<T>);
  if constexpr (kCount == 1) {
    const auto& [a] = all;
    AddAll(hash, a);
  } else if constexpr (kCount == 2) {
    const auto& [a, b] = all;
    AddAll(hash, a, b);
  } else if constexpr (kCount == 3) {
    const auto& [a, b, c] = all;
    AddAll(hash, a, b, c);
  } else if constexpr (kCount == 4) {
    const auto& [a, b, c, d] = all;
    AddAll(hash, a, b, c, d);
  } else if constexpr (kCount == 5) {
    const auto& [a, b, c, d, e] = all;
    AddAll(hash, a, b, c, d, e);
  } else if constexpr (kCount == 6) {
    const auto& [a, b, c, d, e, f] = all;
    AddAll(hash, a, b, c, d, e, f);
  }
}

template <class T>
void Put(const T& value, Hash& hash) {
  if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
    hash.Add(static_cast<uint64_t>(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    hash.Add(&value, sizeof(value));
  } else {
    AddMembers(value, hash);
  }
}

template <class... Operators>
void AddAnyOf(const Operator& op, Hash& hash) {
  ((op.Is<Operators>() ? Put(*op.As<Operators>(), hash) : void()), ...);
}

}  // namespace

void AddParameters(const Operator& op, Hash& hash) {
  // Those of which a parameter, besides what shapes say, decides how much there is to do or how.
  AddAnyOf<Conv2D, DepthwiseConv2D, FullyConnected, TransposeConv, BatchMatMul, AveragePool2D,
           MaxPool2D, L2Pool2D, ResizeBilinear, ResizeNearestNeighbor, Interpolate, Add, Sub, Mul,
           Div, Concatenation, Transpose, Slice, Mean, Sum, ReduceMax, ReduceMin, ReduceProd,
           Softmax, LocalResponseNormalization, LayerNormalization, RmsNormalization, TopK, ArgMax,
           ArgMin, Cumsum, LeakyRelu, Elu, Gelu, Split, Pack, Unpack, Gather, OneHot, SpaceToDepth,
           DepthToSpace>(op, hash);
}

}  // namespace intaglio::nn::tune
