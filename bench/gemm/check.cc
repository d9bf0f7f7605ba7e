#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include "intaglio/bench/gemm/engine.h"

namespace intaglio::bench {
namespace {

// Multiply-accumulates that the definition may spend on a sample.
constexpr double kSampleWork = 4e6;

// Float32 sums round; integers do not.
bool Near(Arithmetic arithmetic, double tolerance, double a, double b) {
  if (arithmetic == Arithmetic::kReal) {
    return std::abs(a - b) <= std::max(tolerance, 1e-5) * std::max(1.0, std::abs(b));
  }
  return std::abs(a - b) <= tolerance;
}

std::string Differs(const Engine& engine, int row, int channel, double got, double want,
                    const std::string& by) {
  char text[256];
  std::snprintf(text, sizeof text, "%s: element (%d, %d) is %.9g, %s has %.9g", engine.name.c_str(),
                row, channel, got, by.c_str(), want);
  return text;
}

}  // namespace

std::string Check(const Problem& p, Engine& engine, Engine* other) {
  engine.Run();
  std::mt19937 random(99);
  const auto samples = static_cast<int>(
      std::min(static_cast<double>(p.n()) * p.m(), std::clamp(kSampleWork / p.k(), 64.0, 4096.0)));
  for (int i = 0; i < samples; ++i) {
    const int row = static_cast<int>(random() % static_cast<unsigned>(p.n()));
    const int channel = static_cast<int>(random() % static_cast<unsigned>(p.m()));
    const double got = engine.Value(row, channel);
    const double want = Expected(p, engine.arithmetic, row, channel);
    if (!Near(engine.arithmetic, engine.tolerance, got, want)) {
      return Differs(engine, row, channel, got, want, "the definition");
    }
  }
  if (other == nullptr || other->arithmetic != engine.arithmetic) return "";
  for (int row = 0; row < p.n(); ++row) {
    for (int channel = 0; channel < p.m(); ++channel) {
      const double got = engine.Value(row, channel);
      const double want = other->Value(row, channel);
      if (!Near(engine.arithmetic, engine.tolerance + other->tolerance, got, want)) {
        return Differs(engine, row, channel, got, want, other->name);
      }
    }
  }
  return "";
}

}  // namespace intaglio::bench
