#include "intaglio/bench/cuda/targets.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <optional>
#include <string_view>

namespace intaglio::bench {
namespace {

using Value = std::optional<double>;

bool Is(const Figures& f, std::string_view start) {
  return std::string_view(f.product.name).starts_with(start);
}

Value Us(const Figures& f, const char* contender) {
  const auto found = f.us.find(contender);
  return found == f.us.end() ? Value() : Value(found->second);
}

// How many times the first contender's time the second one takes.
Value Times(const Figures& f, const char* first, const char* second) {
  const Value a = Us(f, first);
  const Value b = Us(f, second);
  return a && b ? Value(*b / *a) : Value();
}

Value Tops(const Figures& f) {
  const Value us = Us(f, kFused);
  const Case& p = f.product;
  return us ? Value(2e-6 * p.rows * p.channels * p.depth / *us) : Value();
}

// Times the time in which operands can be read, or a launch.
Value TimesFloor(const Figures& f, double memory) {
  const Value us = Us(f, kFused);
  const double bytes = (double{1} * f.product.rows + f.product.channels) * f.product.depth;
  return us ? Value(*us / std::max(bytes / memory, Us(f, kLaunch).value_or(0))) : Value();
}

// Of the cases that have one.
std::vector<double> Values(const std::vector<Figures>& all,
                           const std::function<Value(const Figures&)>& value) {
  std::vector<double> values;
  for (const Figures& f : all) {
    if (const Value v = value(f)) values.push_back(*v);
  }
  return values;
}

Value Least(const std::vector<double>& values) {
  return values.empty() ? Value() : Value(*std::min_element(values.begin(), values.end()));
}
Value Greatest(const std::vector<double>& values) {
  return values.empty() ? Value() : Value(*std::max_element(values.begin(), values.end()));
}
Value GeometricMean(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += std::log(v);
  return values.empty() ? Value() : Value(std::exp(sum / static_cast<double>(values.size())));
}

std::string Line(const char* what, Value value, bool at_least, double wanted) {
  char reached[32] = "n/a";
  if (value) std::snprintf(reached, sizeof reached, "%.2f", *value);
  const bool met = value && (at_least ? *value >= wanted : *value <= wanted);
  char line[160];
  std::snprintf(line, sizeof line, "  %-64s %8s, wanted %s %.2f: %s\n", what, reached,
                at_least ? ">=" : "<=", wanted,
                !value ? "n/a"
                : met  ? "met"
                       : "MISSED");
  return line;
}

}  // namespace

std::string TargetLines(const std::vector<Figures>& all, double memory) {
  const auto of = [](std::string_view start, const std::function<Value(const Figures&)>& value) {
    return [=](const Figures& f) { return Is(f, start) ? value(f) : Value(); };
  };
  const auto like_lt = [](const Figures& f) { return Times(f, kFused, kLt); };
  const auto layers = [](const Figures& f) {
    return Is(f, "resnet") || Is(f, "transformer") ? Times(f, kFused, kLtRequantized) : Value();
  };
  const auto cost = [](const Figures& f) {
    return f.product.depth >= 1024 ? Times(f, kRaw, kFused) : Value();
  };
  const auto floor = [=](const Figures& f) {
    return f.product.rows <= 16 ? TimesFloor(f, memory) : Value();
  };
  const auto fused = [](const Figures& f) { return Us(f, kFused); };
  const Value at_16 = Least(Values(all, of("few rows 16", fused)));
  const Value at_17 = Least(Values(all, of("few rows 17", fused)));
  return Line("8192^3, TOPS", Least(Values(all, of("large 8192", Tops))), true, 1400) +
         Line("1024 x 8192 x 21760, TOPS", Least(Values(all, of("large 1024", Tops))), true, 1400) +
         Line("large, times cuBLASLt to int32, the least", Least(Values(all, of("large", like_lt))),
              true, 1) +
         Line("resnet and transformer, times cuBLASLt + requantize, geomean",
              GeometricMean(Values(all, layers)), true, 1.2) +
         Line("fused epilogue, time over int32, depth >= 1024, the most",
              Greatest(Values(all, cost)), false, 1.03) +
         Line("rows 1 to 16, time over the memory's or a launch's, the most",
              Greatest(Values(all, floor)), false, 1.3) +
         Line("17 rows, time over 16 rows'", at_16 && at_17 ? Value(*at_17 / *at_16) : Value(),
              false, 1.3);
}

}  // namespace intaglio::bench
