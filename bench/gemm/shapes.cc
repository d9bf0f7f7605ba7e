#include "intaglio/bench/gemm/shapes.h"

#include <algorithm>
#include <cstdio>

namespace intaglio::bench {
namespace {

struct Size {
  int m, n, k;
};
struct Group {
  const char* name;
  std::vector<Size> sizes;
  bool both_change = false;
};

// Sides of the growth series: powers of two, and one between each pair of them.
std::vector<Size> Growth() {
  std::vector<Size> sizes;
  for (int side = 16; side <= 4096; side *= 2) {
    sizes.push_back({side, side, side});
    if (side < 4096) sizes.push_back({side * 3 / 2, side * 3 / 2, side * 3 / 2});
  }
  return sizes;
}

const std::vector<Group>& Groups() {
  static const std::vector<Group> groups = {
      // Those that have a target of their own.
      {"targets",
       {{64, 64, 64},
        {64, 12544, 32},
        {64, 3136, 64},
        {128, 3136, 64},
        {256, 784, 128},
        {256, 256, 256},
        {64, 3136, 576},
        {512, 196, 512},
        {768, 128, 768},
        {512, 49, 4608},
        {1024, 1024, 1024},
        {2048, 2048, 2048}}},
      {"square",
       {{64, 64, 64},
        {128, 128, 128},
        {256, 256, 256},
        {512, 512, 512},
        {1024, 1024, 1024},
        {2048, 2048, 2048}}},
      // Convolutions of ResNet-50 as products.
      {"resnet50",
       {{64, 3136, 64},
        {64, 3136, 576},
        {256, 3136, 64},
        {128, 784, 1152},
        {512, 784, 128},
        {256, 196, 2304},
        {1024, 196, 256},
        {512, 49, 4608},
        {2048, 49, 512}}},
      // 1x1 convolutions of MobileNet v1.
      {"mobilenet",
       {{64, 12544, 32},
        {128, 3136, 64},
        {256, 784, 128},
        {256, 784, 256},
        {512, 196, 256},
        {512, 196, 512},
        {1024, 49, 512},
        {1024, 49, 1024}}},
      {"gemv", {{1000, 1, 2048}, {4096, 1, 4096}, {1024, 1, 1024}}},
      {"transformer", {{768, 128, 768}, {3072, 128, 768}, {768, 128, 3072}, {4096, 32, 4096}}},
      // Four gates of an LSTM's step, batch 4: the product is 4 x K on the activation side.
      {"lstm", {{1024, 4, 256}, {2048, 4, 512}, {4096, 4, 1024}}},
      // Queries by keys, and weights by values.
      {"attention", {{128, 128, 64}, {64, 128, 128}, {512, 512, 64}, {64, 512, 512}}, true},
      // What a call costs beside its work.
      {"tiny", {{16, 16, 16}, {8, 8, 8}, {32, 1, 32}}},
      {"growth", Growth()},
  };
  return groups;
}

Shape Make(const Group& group, const Size& size) {
  return {group.name, size.m, size.n, size.k, group.both_change};
}

}  // namespace

std::string Shape::name() const {
  return std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
}

std::vector<std::string> GroupNames() {
  std::vector<std::string> names;
  for (const Group& group : Groups()) names.push_back(group.name);
  return names;
}

std::vector<Shape> ShapesOf(std::string_view group_or_shape) {
  std::vector<Shape> shapes;
  for (const Group& group : Groups()) {
    if (group_or_shape != group.name) continue;
    for (const Size& size : group.sizes) shapes.push_back(Make(group, size));
    return shapes;
  }
  Shape shape{"shape", 0, 0, 0, false};
  const std::string text(group_or_shape);
  char end = 0;
  if (std::sscanf(text.c_str(), "%dx%dx%d%c", &shape.m, &shape.n, &shape.k, &end) == 3 &&
      std::min({shape.m, shape.n, shape.k}) > 0) {
    shapes.push_back(shape);
  }
  return shapes;
}

}  // namespace intaglio::bench
