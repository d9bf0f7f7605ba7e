#include "intaglio/bindings/c/stored_lines.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace intaglio::test {
namespace {

using Lines = std::vector<std::vector<uint8_t>>;

ConstMatrix Form(int rows, int cols, Order order, int64_t stride) {
  ConstMatrix form;
  form.type = Type::kInt8;
  form.rows = rows;
  form.cols = cols;
  form.order = order;
  form.stride = stride;
  return form;
}

Lines LinesOf(const ConstMatrix& form, const std::vector<uint8_t>& data) {
  Lines lines;
  c::ForEachLine(form, data.data(), [&](std::span<const uint8_t> line) {
    lines.emplace_back(line.begin(), line.end());
  });
  return lines;
}

TEST(StoredLines, LeaveOutTheGaps) {
  const std::vector<uint8_t> data = {1, 2, 9, 3, 4, 9, 5, 6};
  const Lines want = {{1, 2}, {3, 4}, {5, 6}};
  EXPECT_EQ(LinesOf(Form(3, 2, Order::kRowMajor, 3), data), want);
  EXPECT_EQ(LinesOf(Form(2, 3, Order::kColMajor, 3), data), want);
}

// The name of a matrix in a folder of packed weights follows from its lines. Before, each of two
// billion lines without elements took a turn.
TEST(StoredLines, OfNothingAreNone) {
  constexpr int kMany = std::numeric_limits<int>::max();
  const auto count = [](const ConstMatrix& form) {
    int64_t lines = 0;
    c::ForEachLine(form, nullptr, [&](std::span<const uint8_t>) { ++lines; });
    return lines;
  };
  EXPECT_EQ(count(Form(kMany, 0, Order::kRowMajor, 0)), 0);
  EXPECT_EQ(count(Form(0, kMany, Order::kColMajor, 0)), 0);
  EXPECT_EQ(count(Form(0, kMany, Order::kRowMajor, kMany)), 0);
}

}  // namespace
}  // namespace intaglio::test
