// The definition of selection: tries everything.
#ifndef INTAGLIO_TEST_NN_TUNE_BRUTE_FORCE_H_
#define INTAGLIO_TEST_NN_TUNE_BRUTE_FORCE_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "intaglio/nn/tune/select.h"

namespace intaglio::nn::tune {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The definition: tries all combinations of options, and adds up what each comes to.
class BruteForce {
 public:
  explicit BruteForce(const Problem& problem) : problem_(problem) {
    for (const Adapter& adapter : problem.adapters) {
      adapters_[{adapter.tensor, adapter.from, adapter.to}] = adapter.nanoseconds;
    }
    writer_.assign(static_cast<size_t>(problem.tensors), -1);
    fixed_.assign(static_cast<size_t>(problem.tensors), -1);
    for (size_t i = 0; i < problem.layers.size(); ++i) {
      for (const int t : problem.layers[i].writes) {
        writer_[static_cast<size_t>(t)] = static_cast<int>(i);
      }
    }
    for (const End& end : problem.inputs) fixed_[static_cast<size_t>(end.tensor)] = end.schema;
  }

  // Infinity where an adapter is missing.
  double TimeOf(const std::vector<int>& options) const {
    double time = 0;
    std::set<std::pair<int, int>> copies;
    const auto read = [&](int tensor, int schema) {
      const int writer = writer_[static_cast<size_t>(tensor)];
      const int from = writer < 0 ? fixed_[static_cast<size_t>(tensor)]
                                  : OptionOf(static_cast<size_t>(writer), options).schema;
      if (from == schema || !copies.insert({tensor, schema}).second) return;
      const auto adapter = adapters_.find({tensor, from, schema});
      time += adapter == adapters_.end() ? kInfinity : adapter->second;
    };
    for (size_t i = 0; i < options.size(); ++i) {
      time += OptionOf(i, options).nanoseconds;
      for (const int t : problem_.layers[i].reads) read(t, OptionOf(i, options).schema);
    }
    for (const End& end : problem_.outputs) read(end.tensor, end.schema);
    return time;
  }

  int64_t BytesOf(const std::vector<int>& options) const {
    int64_t bytes = 0;
    for (size_t i = 0; i < options.size(); ++i) bytes += OptionOf(i, options).bytes;
    return bytes;
  }

  int64_t DifferenceOf(const std::vector<int>& options) const {
    int64_t difference = 0;
    for (size_t i = 0; i < options.size(); ++i) difference += OptionOf(i, options).difference;
    return difference;
  }

  // The least time of those that keep within both; infinity if there are none.
  double FastestWithin(int64_t bytes, int64_t difference) const {
    double best = kInfinity;
    ForEach([&](const std::vector<int>& options) {
      if (BytesOf(options) > bytes || DifferenceOf(options) > difference) return;
      best = std::min(best, TimeOf(options));
    });
    return best;
  }

  void ForEach(const std::function<void(const std::vector<int>&)>& visit) const {
    std::vector<int> options(problem_.layers.size(), 0);
    size_t i = 0;
    while (i < options.size() || options.empty()) {
      visit(options);
      for (i = 0; i < options.size(); ++i) {
        if (++options[i] < static_cast<int>(problem_.layers[i].options.size())) break;
        options[i] = 0;
      }
      if (options.empty()) break;
    }
  }

  // The least time, and the least sum of indices of options that have it.
  std::pair<double, int> Fastest() const {
    std::pair<double, int> best = {kInfinity, 0};
    ForEach([&](const std::vector<int>& options) {
      best = std::min(best, {TimeOf(options), std::accumulate(options.begin(), options.end(), 0)});
    });
    return best;
  }

  // All pairs of time and bytes that no other one beats, the fastest first.
  std::vector<std::pair<double, int64_t>> Front() const {
    std::map<double, int64_t> smallest;
    ForEach([&](const std::vector<int>& options) {
      const double time = TimeOf(options);
      const auto [place, is_new] = smallest.insert({time, BytesOf(options)});
      if (!is_new) place->second = std::min(place->second, BytesOf(options));
    });
    std::vector<std::pair<double, int64_t>> front;
    for (const auto& point : smallest) {
      if (std::isinf(point.first)) continue;
      if (front.empty() || point.second < front.back().second) front.push_back(point);
    }
    return front;
  }

 private:
  const Option& OptionOf(size_t layer, const std::vector<int>& options) const {
    return problem_.layers[layer].options[static_cast<size_t>(options[layer])];
  }

  const Problem& problem_;
  std::map<std::tuple<int, int, int>, double> adapters_;
  std::vector<int> writer_, fixed_;
};

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_TEST_NN_TUNE_BRUTE_FORCE_H_
