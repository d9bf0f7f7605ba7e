// The number of the interface to custom operators changes if a layout does.
#include "intaglio/nn/formats/tflite/operator_interface.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace intaglio::nn {
namespace {

// A new member of one of these structs does not compile here: name it in operator_interface.h, too.
[[maybe_unused]] void NameEveryMember(const CustomOperator& custom, const OperatorRow& row,
                                      const Candidate& candidate, const Packing& packing,
                                      const MatrixCounts& counts, const Numerics& numerics,
                                      const Quantization& quantization, const Tensor& tensor,
                                      const Layer& layer, const Graph& graph,
                                      const LayerOptions& options, const PreparedLayer& prepared,
                                      const RunArguments& arguments) {
  [[maybe_unused]] const auto& [a1, a2, a3, a4] = custom;
  [[maybe_unused]] const auto& [b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13, b14, b15] =
      row;
  [[maybe_unused]] const auto& [c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11] = candidate;
  [[maybe_unused]] const auto& [d1, d2, d3, d4] = packing;
  [[maybe_unused]] const auto& [e1, e2, e3] = counts;
  [[maybe_unused]] const auto& [f1, f2, f3, f4, f5, f6] = numerics;
  [[maybe_unused]] const auto& [g1, g2, g3] = quantization;
  [[maybe_unused]] const auto& [h1, h2, h3, h4, h5, h6, h7, h8, h9] = tensor;
  [[maybe_unused]] const auto& [i1, i2, i3, i4, i5] = layer;
  [[maybe_unused]] const auto& [j1, j2, j3, j4, j5, j6] = graph;
  [[maybe_unused]] const auto& [k1, k2, k3, k4, k5, k6, k7, k8, k9] = options;
  [[maybe_unused]] const auto& [l1, l2, l3, l4, l5, l6, l7, l8, l9, l10, l11, l12, l13, l14, l15] =
      prepared;
  [[maybe_unused]] const auto& [m1, m2, m3, m4, m5, m6, m7, m8] = arguments;
}

struct Before {
  int32_t first;
  bool fit;
  bool cold;
};
struct Swapped {
  int32_t first;
  bool cold;
  bool fit;
};

template <class T>
constexpr uint64_t LayoutOf() {
  return Digest({sizeof(T), INTAGLIO_AT(T, first), INTAGLIO_AT(T, fit), INTAGLIO_AT(T, cold)});
}

TEST(OperatorInterface, MembersOfOneSizeThatChangePlacesChangeIt) {
  static_assert(sizeof(Before) == sizeof(Swapped));
  static_assert(LayoutOf<Before>() != LayoutOf<Swapped>());
}

TEST(OperatorInterface, DigestsDependOnOrderAndCount) {
  static_assert(Digest({1, 2}) != Digest({2, 1}));
  static_assert(Digest({0}) != Digest({0, 0}));
}

}  // namespace
}  // namespace intaglio::nn
