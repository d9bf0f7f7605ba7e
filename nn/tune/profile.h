// Times the ways to compute each layer of a network, in turns.
//
// A *way* is a layer's routine with its parameters; way 0 is the default. A *variant* is the whole
// network with a way for each layer: variant v uses way v of every layer that has so many, and way
// 0 of the others. So layers are timed among their neighbours, with caches as a run leaves them.
#ifndef INTAGLIO_NN_TUNE_PROFILE_H_
#define INTAGLIO_NN_TUNE_PROFILE_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "intaglio/fixedpoint/status.h"

namespace intaglio::nn::tune {

// The network and the clock. Tests have one that follows a script.
class Stage {
 public:
  virtual ~Stage() = default;
  // Runs a variant once. Each layer's time goes to `times`, which has an element per layer.
  virtual Status Run(size_t variant, std::span<std::chrono::nanoseconds> times) = 0;
  // A second instance of variant 0. How its times differ from those of variant 0 is noise.
  virtual Status RunControl(std::span<std::chrono::nanoseconds> times) = 0;
  virtual std::chrono::nanoseconds Now() = 0;
};

struct WayTimes {
  double ns = 0;  // the estimate (nn/tune/times.h); 0 if the way was never run
  size_t runs = 0;
  bool dropped = false;  // before the end, because it was far behind
};

struct LayerProfile {
  std::vector<WayTimes> ways;
  // By what share of its time the default differed from its control: what is less means nothing.
  double noise = 0;
};

struct ProfileOptions {
  std::chrono::nanoseconds budget = std::chrono::seconds(5);
  size_t most_rounds = 60;  // every way that is left runs once in each round
  // Called after each round with the share of the work that is done, from 0 to 1. May be empty.
  std::function<void(double share)> progress = {};
};

// `ways` has the number of ways of each layer, at least 1. The default and its control run once
// whatever the budget says; what else runs depends on it. An error is the stage's.
Result<std::vector<LayerProfile>> Profile(Stage& stage, std::span<const size_t> ways,
                                          const ProfileOptions& options);

// The way of a layer to take: the fastest or, unless that gains more than noise and one percent,
// the default.
size_t FastestWay(const LayerProfile& profile);

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_PROFILE_H_
