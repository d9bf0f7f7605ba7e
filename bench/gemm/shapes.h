// The shapes that are measured, by name.
#ifndef INTAGLIO_BENCH_GEMM_SHAPES_H_
#define INTAGLIO_BENCH_GEMM_SHAPES_H_

#include <string>
#include <string_view>
#include <vector>

namespace intaglio::bench {

// m output channels (the constant side), n rows of activations, k depth.
struct Shape {
  std::string group;
  int m;
  int n;
  int k;
  bool both_change = false;  // no side is constant: the product of two activations

  double ops() const { return 2.0 * m * n * k; }
  std::string name() const;  // "64x3136x576"
};

// Every group, in the order of the report.
std::vector<std::string> GroupNames();

// The shapes of a group, or the one shape that is written as MxNxK; empty for anything else.
std::vector<Shape> ShapesOf(std::string_view group_or_shape);

}  // namespace intaglio::bench

#endif  // INTAGLIO_BENCH_GEMM_SHAPES_H_
