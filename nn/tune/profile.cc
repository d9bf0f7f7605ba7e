#include "intaglio/nn/tune/profile.h"

#include <algorithm>
#include <cmath>

#include "intaglio/nn/tune/times.h"

namespace intaglio::nn::tune {
namespace {

using std::chrono::nanoseconds;

// A way is dropped if its best time so far is this many times the best of all: soon if it is far
// behind, later if it is a little.
struct Cut {
  size_t rounds;
  double factor;
};
constexpr Cut kCuts[] = {{1, 8.0}, {2, 5.0}, {5, 2.0}, {12, 1.25}};
constexpr double kLeastGain = 0.01;
// If nothing else is left, so many rounds tell how long the defaults take.
constexpr size_t kRoundsOfDefaults = 6;

class Profiler {
 public:
  Profiler(Stage& stage, std::span<const size_t> ways, const ProfileOptions& options)
      : stage_(stage), options_(options), control_(ways.size()), now_(ways.size()) {
    for (const size_t count : ways) layers_.emplace_back(count);
    variants_ = ways.empty() ? 0 : *std::max_element(ways.begin(), ways.end());
  }

  Status Run() {
    begin_ = stage_.Now();
    for (size_t round = 0; round < options_.most_rounds; ++round) {
      INTAGLIO_RETURN_IF_ERROR(RunRound(round));
      const bool over = IsOver();
      for (const Cut& cut : kCuts) {
        if (!over && round + 1 == cut.rounds) DropFarBehind(cut.factor);
      }
      Show(round);
      if (over || (round + 1 >= kRoundsOfDefaults && OnlyDefaultsAreLeft())) break;
    }
    return {};
  }

  std::vector<LayerProfile> Result() const {
    std::vector<LayerProfile> profiles;
    for (size_t i = 0; i < layers_.size(); ++i) {
      LayerProfile& profile = profiles.emplace_back();
      for (const Way& way : layers_[i]) {
        const double ns = way.times.count() == 0 ? 0 : way.times.estimate();
        profile.ways.push_back({ns, way.times.count(), !way.alive});
      }
      const double least = std::max(1.0, profile.ways[0].ns);
      profile.noise = std::abs(control_[i].estimate() - profile.ways[0].ns) / least;
    }
    return profiles;
  }

 private:
  struct Way {
    Times times;
    bool alive = true;
  };

  // Starts elsewhere each time, so that no variant always follows the same one.
  Status RunRound(size_t round) {
    INTAGLIO_RETURN_IF_ERROR(stage_.RunControl(now_));
    for (size_t i = 0; i < layers_.size(); ++i) control_[i].Add(Nanoseconds(i));
    for (size_t k = 0; k < variants_; ++k) {
      const size_t variant = (round + k) % variants_;
      // A default that was never run would leave its layers without a time.
      const bool must = round == 0 && variant == 0;
      if (!must && (!IsAlive(variant) || IsOver())) continue;
      INTAGLIO_RETURN_IF_ERROR(stage_.Run(variant, now_));
      for (size_t i = 0; i < layers_.size(); ++i) {
        if (variant < layers_[i].size()) layers_[i][variant].times.Add(Nanoseconds(i));
      }
    }
    return {};
  }

  bool IsOver() const { return stage_.Now() - begin_ >= options_.budget; }

  double Nanoseconds(size_t layer) const { return static_cast<double>(now_[layer].count()); }

  bool IsAlive(size_t variant) const {
    return variant == 0 || std::any_of(layers_.begin(), layers_.end(), [&](const auto& ways) {
             return variant < ways.size() && ways[variant].alive;
           });
  }

  bool OnlyDefaultsAreLeft() const {
    for (size_t variant = 1; variant < variants_; ++variant) {
      if (IsAlive(variant)) return false;
    }
    return true;
  }

  // The default stays.
  void DropFarBehind(double factor) {
    for (std::vector<Way>& ways : layers_) {
      double best = ways[0].times.least();
      for (const Way& way : ways) {
        if (way.times.count() > 0) best = std::min(best, way.times.least());
      }
      for (size_t w = 1; w < ways.size(); ++w) {
        if (ways[w].times.count() == 0) continue;
        if (ways[w].times.least() > factor * best) ways[w].alive = false;
      }
    }
  }

  void Show(size_t round) const {
    if (!options_.progress) return;
    const nanoseconds spent = stage_.Now() - begin_;
    const double by_rounds =
        static_cast<double>(round + 1) / static_cast<double>(options_.most_rounds);
    const double by_time = static_cast<double>(spent.count()) /
                           static_cast<double>(std::max<int64_t>(1, options_.budget.count()));
    options_.progress(std::min(1.0, std::max(by_rounds, by_time)));
  }

  Stage& stage_;
  const ProfileOptions& options_;
  nanoseconds begin_{0};
  size_t variants_ = 0;
  std::vector<std::vector<Way>> layers_;
  std::vector<Times> control_;
  std::vector<nanoseconds> now_;
};

}  // namespace

Result<std::vector<LayerProfile>> Profile(Stage& stage, std::span<const size_t> ways,
                                          const ProfileOptions& options) {
  Profiler profiler(stage, ways, options);
  INTAGLIO_RETURN_IF_ERROR(profiler.Run());
  return profiler.Result();
}

size_t FastestWay(const LayerProfile& profile) {
  size_t fastest = 0;
  for (size_t w = 1; w < profile.ways.size(); ++w) {
    const WayTimes& way = profile.ways[w];
    if (way.dropped || way.runs == 0) continue;
    if (way.ns < profile.ways[fastest].ns) fastest = w;
  }
  const double gain = 1 - profile.ways[fastest].ns / std::max(1.0, profile.ways[0].ns);
  return gain > std::max(kLeastGain, profile.noise) ? fastest : 0;
}

}  // namespace intaglio::nn::tune
