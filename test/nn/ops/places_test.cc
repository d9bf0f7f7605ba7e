// Operators that other tensors tell places, and those that find places, against loops over indices.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/ops/operators.h"
#include "intaglio/test/nn/ops/one_layer.h"
#include "intaglio/test/nn/testing.h"

namespace intaglio::nn::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

size_t OffsetOf(const Shape& shape, const std::vector<int>& index) {
  size_t offset = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    offset = offset * static_cast<size_t>(shape[i]) + static_cast<size_t>(index[i]);
  }
  return offset;
}

size_t CountOf(const Shape& shape) { return static_cast<size_t>(*CountElements(shape)); }

template <class T>
std::vector<T> Counting(size_t count) {
  std::vector<T> x(count);
  for (size_t i = 0; i < count; ++i) x[i] = static_cast<T>(i * 37 % 101);
  return x;
}

// Indices in [-extent, extent).
template <class Index>
std::vector<Index> IndicesOf(size_t count, int extent, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> index(-extent, extent - 1);
  std::vector<Index> indices(count);
  for (Index& i : indices) i = static_cast<Index>(index(random));
  return indices;
}

bool Mentions(const Got& got, const std::string& what) {
  return got.error.find(what) != std::string::npos;
}

template <class T, class Index>
void CheckElements(const Shape& shape, const Shape& at, int axis) {
  SCOPED_TRACE(ToString(at) + " in " + ToString(shape) + " along " + std::to_string(axis));
  const auto along = static_cast<size_t>(axis < 0 ? axis + static_cast<int>(shape.size()) : axis);
  const std::vector<T> x = Counting<T>(CountOf(shape));
  const std::vector<Index> indices = IndicesOf<Index>(CountOf(at), shape[along], 1);
  const std::vector<T> updates = Counting<T>(CountOf(at));
  std::vector<T> gathered;
  std::vector<T> replaced = x;
  std::vector<T> sums = x;
  std::vector<T> greatest = x;
  ForEachIndex(at, [&](std::vector<int> index) {
    const size_t from = OffsetOf(at, index);
    const auto place = static_cast<int>(indices[from]);
    index[along] = place < 0 ? place + shape[along] : place;
    const size_t to = OffsetOf(shape, index);
    gathered.push_back(x[to]);
    replaced[to] = updates[from];
    sums[to] = static_cast<T>(sums[to] + updates[from]);
    greatest[to] = std::max(greatest[to], updates[from]);
  });
  const std::vector<Given> pair = {MakeGiven<T>(shape, x), MakeGiven<Index>(at, indices)};
  const std::vector<Given> three = {pair[0], pair[1], MakeGiven<T>(at, updates)};
  const Got got = RunLayer(GatherElements{axis}, pair, {TypeOf<T>});
  EXPECT_EQ(got.error, "");
  EXPECT_EQ(got.shapes, std::vector<Shape>({at}));
  EXPECT_EQ(got.template As<T>(), gathered);
  const auto scatter = [&](Scattering how) {
    return RunLayer(ScatterElements{axis, how}, three, {TypeOf<T>}).template As<T>();
  };
  EXPECT_EQ(scatter(Scattering::kReplace), replaced);
  EXPECT_EQ(scatter(Scattering::kAdd), sums);
  EXPECT_EQ(scatter(Scattering::kGreatest), greatest);
}

template <class T>
void CheckElementsOf() {
  CheckElements<T, int32_t>({3, 4, 5}, {3, 4, 5}, 1);
  CheckElements<T, int64_t>({3, 4, 5}, {2, 9, 4}, -2);
  CheckElements<T, int16_t>({3, 4, 5}, {7, 1, 5}, 0);
  CheckElements<T, int64_t>({3, 4, 5}, {3, 4, 2}, 2);
  CheckElements<T, int64_t>({6}, {11}, -1);
  CheckElements<T, int64_t>({3, 2}, {0, 2}, 0);
}

TEST(Places, ElementsAlongAnAxis) {
  CheckElementsOf<int8_t>();
  CheckElementsOf<uint8_t>();
  CheckElementsOf<int16_t>();
  CheckElementsOf<int32_t>();
  CheckElementsOf<int64_t>();
  CheckElementsOf<float>();
}

TEST(Places, ElementsThatDoNotExist) {
  const Given x = MakeGiven<float>({2, 3}, {0, 1, 2, 3, 4, 5});
  for (const int64_t wrong : {int64_t{3}, int64_t{-4}, std::numeric_limits<int64_t>::min(),
                              std::numeric_limits<int64_t>::max()}) {
    const Given at = MakeGiven<int64_t>({1, 2}, {0, wrong});
    const Given updates = MakeGiven<float>({1, 2}, {7, 8});
    EXPECT_TRUE(Mentions(RunLayer(GatherElements{1}, {x, at}, {x.type}), "[-3, 3)"));
    EXPECT_TRUE(Mentions(RunLayer(ScatterElements{1}, {x, at, updates}, {x.type}), "[-3, 3)"));
    const Given nd = MakeGiven<int64_t>({1, 2}, {1, wrong});
    EXPECT_TRUE(Mentions(RunLayer(ScatterNdUpdate{}, {x, nd, MakeGiven<float>({1}, {7})}, {x.type}),
                         "index"));
    EXPECT_TRUE(Mentions(RunLayer(GatherNd{0, true}, {x, nd}, {x.type}), "[-3, 3)"));
    EXPECT_TRUE(Mentions(RunLayer(Gather{1, 0, true}, {x, at}, {x.type}), "[-3, 3)"));
  }
  const Given minus = MakeGiven<int64_t>({1, 2}, {1, -1});
  EXPECT_TRUE(Mentions(RunLayer(GatherNd{}, {x, minus}, {x.type}), "[0, 3)"));
  EXPECT_TRUE(Mentions(RunLayer(Gather{1}, {x, minus}, {x.type}), "[0, 3)"));
  const Given long_at = MakeGiven<int64_t>({3, 1}, {0, 0, 0});
  EXPECT_NE(RunLayer(GatherElements{1}, {x, long_at}, {x.type}).error, "");
  EXPECT_NE(RunLayer(GatherElements{2}, {x, minus}, {x.type}).error, "");
  EXPECT_NE(RunLayer(ScatterElements{1}, {x, minus, x}, {x.type}).error, "");
}

TEST(Places, ScatteredNumbersCombine) {
  const Given x = MakeGiven<float>({5}, {1, 2, 3, kNan, 5});
  const Given at = MakeGiven<int32_t>({6}, {0, 0, -4, 2, 3, 4});
  const Given updates = MakeGiven<float>({6}, {4, 5, -1, kNan, 1, 7});
  const auto run = [&](Scattering how) {
    std::vector<std::string> texts;
    for (const float v :
         RunLayer(ScatterElements{0, how}, {x, at, updates}, {x.type}).As<float>()) {
      texts.push_back(std::isnan(v) ? "nan" : std::to_string(static_cast<int>(v)));
    }
    return texts;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(run(Scattering::kReplace), Texts({"5", "-1", "nan", "1", "7"}));
  EXPECT_EQ(run(Scattering::kAdd), Texts({"10", "1", "nan", "nan", "12"}));
  EXPECT_EQ(run(Scattering::kMultiply), Texts({"20", "-2", "nan", "nan", "35"}));
  EXPECT_EQ(run(Scattering::kLeast), Texts({"1", "-1", "nan", "nan", "5"}));
  EXPECT_EQ(run(Scattering::kGreatest), Texts({"5", "2", "nan", "nan", "7"}));
  const Given bytes = MakeGiven<int8_t>({1}, {100});
  const Given zeros = MakeGiven<int32_t>({1}, {0});
  EXPECT_EQ(RunLayer(ScatterElements{0, Scattering::kAdd}, {bytes, zeros, bytes}, {Type::kInt8})
                .As<int8_t>(),
            std::vector<int8_t>({-56}));
  const Given bools = MakeBools({2}, {0, 1});
  const Given bit = MakeBools({1}, {1});
  EXPECT_EQ(RunLayer(ScatterElements{}, {bools, zeros, bit}, {Type::kBool}).As<uint8_t>(),
            std::vector<uint8_t>({1, 1}));
  EXPECT_NE(
      RunLayer(ScatterElements{0, Scattering::kAdd}, {bools, zeros, bit}, {Type::kBool}).error, "");
}

TEST(Places, SlicesAreScattered) {
  const std::vector<int32_t> x = Counting<int32_t>(24);
  const std::vector<int64_t> at = {1, 2, -1, 0, 1, -1};
  const std::vector<int32_t> updates = Counting<int32_t>(12);
  const int places[] = {5, 3, 5};
  for (const Scattering how : {Scattering::kReplace, Scattering::kAdd, Scattering::kMultiply,
                               Scattering::kLeast, Scattering::kGreatest}) {
    std::vector<int32_t> expected = x;
    for (size_t i = 0; i < 12; ++i) {
      int32_t& to = expected[static_cast<size_t>(places[i / 4]) * 4 + i % 4];
      const int32_t update = updates[i];
      if (how == Scattering::kReplace) to = update;
      if (how == Scattering::kAdd) to += update;
      if (how == Scattering::kMultiply) to *= update;
      if (how == Scattering::kLeast) to = std::min(to, update);
      if (how == Scattering::kGreatest) to = std::max(to, update);
    }
    const Got got = RunLayer(ScatterNdUpdate{how},
                             {MakeGiven<int32_t>({2, 3, 4}, x), MakeGiven<int64_t>({3, 2}, at),
                              MakeGiven<int32_t>({3, 4}, updates)},
                             {Type::kInt32});
    EXPECT_EQ(got.error, "");
    EXPECT_EQ(got.As<int32_t>(), expected);
  }
  const Got none = RunLayer(ScatterNdUpdate{},
                            {MakeGiven<int32_t>({2}, {3, 4}), MakeGiven<int64_t>({0, 1}, {}),
                             MakeGiven<int32_t>({0}, {})},
                            {Type::kInt32});
  EXPECT_EQ(none.As<int32_t>(), std::vector<int32_t>({3, 4}));
  const Got wrong = RunLayer(ScatterNdUpdate{},
                             {MakeGiven<int32_t>({2}, {3, 4}), MakeGiven<int64_t>({1, 1}, {0}),
                              MakeGiven<int32_t>({2}, {1, 2})},
                             {Type::kInt32});
  EXPECT_TRUE(Mentions(wrong, "scatter"));
}

TEST(Places, GatherNdWithCommonDimensions) {
  const std::vector<int16_t> x = Counting<int16_t>(2 * 3 * 4 * 2);
  const std::vector<int32_t> at = {0, 1, -1, -4, 2, 3, 1, 0, -3, -1, 2, 2};
  std::vector<int16_t> expected;
  for (size_t i = 0; i < 6; ++i) {
    const size_t row = static_cast<size_t>((at[2 * i] + 3) % 3);
    const size_t column = static_cast<size_t>((at[2 * i + 1] + 4) % 4);
    for (size_t k = 0; k < 2; ++k) {
      expected.push_back(x[((i / 3 * 3 + row) * 4 + column) * 2 + k]);
    }
  }
  const Got got = RunLayer(GatherNd{1, true},
                           {MakeGiven<int16_t>({2, 3, 4, 2}, x), MakeGiven<int32_t>({2, 3, 2}, at)},
                           {Type::kInt16});
  EXPECT_EQ(got.error, "");
  EXPECT_EQ(got.shapes, std::vector<Shape>({{2, 3, 2}}));
  EXPECT_EQ(got.As<int16_t>(), expected);
  const Given small = MakeGiven<float>({2, 3}, {0, 1, 2, 3, 4, 5});
  const auto error = [&](const GatherNd& op, const Shape& shape) {
    return RunLayer(op, {small, MakeGiven<int32_t>(shape, std::vector<int32_t>(CountOf(shape)))},
                    {Type::kFloat32})
        .error;
  };
  EXPECT_EQ(error(GatherNd{1}, {2, 1}), "");
  EXPECT_NE(error(GatherNd{1}, {3, 1}), "");
  EXPECT_NE(error(GatherNd{1}, {2, 2}), "");
  EXPECT_NE(error(GatherNd{2}, {2, 1}), "");
  EXPECT_NE(error(GatherNd{-1}, {2, 1}), "");
}

TEST(Places, GatherFromTheEnd) {
  const Got got =
      RunLayer(Gather{0, 0, true},
               {MakeGiven<float>({3, 2}, {0, 1, 2, 3, 4, 5}), MakeGiven<int64_t>({3}, {-1, 1, -3})},
               {Type::kFloat32});
  EXPECT_EQ(got.As<float>(), std::vector<float>({4, 5, 2, 3, 0, 1}));
}

TEST(Places, OneHotFromTheEnd) {
  const Given at = MakeGiven<int64_t>({4}, {1, -1, 3, -4});
  const Given on = MakeGiven<int32_t>({}, {5});
  const Given off = MakeGiven<int32_t>({}, {2});
  const auto run = [&](const OneHot& op) {
    return RunLayer(op, {at, on, off}, {Type::kInt32}).As<int32_t>();
  };
  EXPECT_EQ(run({3, 0, true}), std::vector<int32_t>({2, 2, 2, 2, 5, 2, 2, 2, 2, 5, 2, 2}));
  EXPECT_EQ(run({3, 0}), std::vector<int32_t>({2, 2, 2, 2, 5, 2, 2, 2, 2, 2, 2, 2}));
}

template <class T>
void CheckTrilu() {
  const Shape shape = {2, 3, 4};
  const std::vector<T> x = Counting<T>(24);
  constexpr int64_t kFar = std::numeric_limits<int64_t>::max();
  for (const bool upper : {false, true}) {
    for (const int64_t k : {-kFar - 1, int64_t{-9}, int64_t{-3}, int64_t{-2}, int64_t{-1},
                            int64_t{0}, int64_t{1}, int64_t{3}, int64_t{4}, int64_t{9}, kFar}) {
      std::vector<T> expected;
      ForEachIndex(shape, [&](const std::vector<int>& i) {
        const int64_t diagonal = i[2] - i[1];
        const bool stays = upper ? diagonal >= k : diagonal <= k;
        expected.push_back(stays ? x[OffsetOf(shape, i)] : T(0));
      });
      const Got got = RunLayer(Trilu{upper, k}, {MakeGiven<T>(shape, x)}, {TypeOf<T>});
      EXPECT_EQ(got.template As<T>(), expected) << upper << " " << k << got.error;
    }
  }
}

TEST(Places, Triangles) {
  CheckTrilu<float>();
  CheckTrilu<int64_t>();
  CheckTrilu<uint8_t>();
  for (const Shape& empty : {Shape{0, 3}, Shape{3, 0}, Shape{2, 0, 0}}) {
    EXPECT_EQ(RunLayer(Trilu{}, {MakeGiven<float>(empty, {})}, {Type::kFloat32}).error, "");
  }
  EXPECT_NE(RunLayer(Trilu{}, {MakeGiven<float>({2}, {1, 2})}, {Type::kFloat32}).error, "");
}

template <class T, class Place>
void CheckTopK(const Shape& shape, int axis, int k, bool greatest) {
  const auto along = static_cast<size_t>(axis < 0 ? axis + static_cast<int>(shape.size()) : axis);
  std::vector<T> x = Counting<T>(CountOf(shape));
  for (size_t i = 0; i < x.size(); i += 3) x[i] = T(50);  // many are equal
  Shape out = shape;
  out[along] = k;
  std::vector<T> values(CountOf(out));
  std::vector<Place> places(CountOf(out));
  Shape lines = shape;
  lines[along] = 1;
  ForEachIndex(lines, [&](std::vector<int> index) {
    std::vector<std::pair<T, int>> line;
    for (int i = 0; i < shape[along]; ++i) {
      index[along] = i;
      line.emplace_back(x[OffsetOf(shape, index)], i);
    }
    std::stable_sort(line.begin(), line.end(), [&](const auto& a, const auto& b) {
      return greatest ? a.first > b.first : a.first < b.first;
    });
    for (int i = 0; i < k; ++i) {
      index[along] = i;
      values[OffsetOf(out, index)] = line[static_cast<size_t>(i)].first;
      places[OffsetOf(out, index)] = static_cast<Place>(line[static_cast<size_t>(i)].second);
    }
  });
  const Got got =
      RunLayer(TopK{k, axis, greatest}, {MakeGiven<T>(shape, x)}, {TypeOf<T>, TypeOf<Place>});
  EXPECT_EQ(got.error, "");
  EXPECT_EQ(got.shapes, std::vector<Shape>({out, out}));
  EXPECT_EQ(got.template As<T>(0), values);
  EXPECT_EQ(got.template As<Place>(1), places);
}

TEST(Places, TopKAlongEveryAxis) {
  for (const bool greatest : {false, true}) {
    for (const int axis : {-1, 0, 1, 2}) {
      for (const int k : {0, 1, 2, 3}) {
        CheckTopK<float, int64_t>({3, 4, 5}, axis, k, greatest);
        CheckTopK<int8_t, int32_t>({3, 4, 5}, axis, k, greatest);
        CheckTopK<int64_t, int16_t>({4, 3, 3}, axis, k, greatest);
      }
    }
  }
  const Given x = MakeGiven<float>({2, 2}, {kNan, 1, 2, kNan});
  for (const bool greatest : {false, true}) {
    const Got got = RunLayer(TopK{2, 0, greatest}, {x}, {Type::kFloat32, Type::kInt64});
    EXPECT_EQ(got.As<int64_t>(1), std::vector<int64_t>({1, 0, 0, 1}));
  }
  EXPECT_NE(RunLayer(TopK{3, 0}, {x}, {Type::kFloat32, Type::kInt64}).error, "");
  EXPECT_NE(RunLayer(TopK{1, 2}, {x}, {Type::kFloat32, Type::kInt64}).error, "");
}

TEST(Places, HardmaxMarksTheFirst) {
  const Given x = MakeGiven<float>({2, 3}, {1, 3, 3, 9, -INFINITY, kNan});
  const auto run = [&](int axis) {
    return RunLayer(Hardmax{axis}, {x}, {Type::kFloat32}).As<float>();
  };
  EXPECT_EQ(run(-1), std::vector<float>({0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(run(0), std::vector<float>({0, 1, 0, 1, 0, 1}));
  const Given low = MakeGiven<float>({3}, {-INFINITY, -INFINITY, -INFINITY});
  EXPECT_EQ(RunLayer(Hardmax{}, {low}, {Type::kFloat32}).As<float>(),
            std::vector<float>({1, 0, 0}));
  EXPECT_EQ(RunLayer(Hardmax{}, {MakeGiven<float>({2, 0}, {})}, {Type::kFloat32}).error, "");
}

}  // namespace
}  // namespace intaglio::nn::test
