// Networks inside networks: what is selected innermost first is the fastest of all combinations.
#include "intaglio/nn/tune/nest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "intaglio/test/nn/tune/brute_force.h"
#include "intaglio/test/nn/tune/random_problems.h"

namespace intaglio::nn::tune {
namespace {

// Options of all nets, one for each layer of each.
using Everything = std::vector<std::vector<int>>;

// What a net takes if these options are selected everywhere, nets inside it included.
double TimeOf(const Nest& nest, size_t net, const Everything& options) {
  Problem problem = nest.nets[net].problem;
  for (const Childnet& child : nest.nets[net].children) {
    // Only where the option is selected does it matter.
    if (options[net][child.layer] != static_cast<int>(child.option)) continue;
    problem.layers[child.layer].options[child.option].nanoseconds +=
        TimeOf(nest, child.net, options);
  }
  return BruteForce(problem).TimeOf(options[net]);
}

// The least time over all combinations of options of all nets at once.
double LeastTime(const Nest& nest, size_t net, Everything& options) {
  if (net == nest.nets.size()) return TimeOf(nest, 0, options);
  double least = kInfinity;
  BruteForce(nest.nets[net].problem).ForEach([&](const std::vector<int>& own) {
    options[net] = own;
    least = std::min(least, LeastTime(nest, net + 1, options));
  });
  return least;
}

// A chain of nets, and a net that two others share; some adapters are missing.
Nest RandomNest(unsigned seed) {
  std::mt19937 random(seed);
  const Numbers numbers = {.schemas = 2,
                           .most_options = 2,
                           .most_combinations = 8,
                           .percent_impossible = seed % 3 == 0 ? 30 : 0};
  Nest nest;
  for (unsigned net = 0; net < 4; ++net) {
    nest.nets.push_back({RandomGraph(seed * 4 + net, 3, numbers)});
  }
  const auto add = [&](size_t parent, size_t net) {
    const std::vector<Problem::Layer>& layers = nest.nets[parent].problem.layers;
    if (layers.empty()) return;
    const size_t layer = random() % layers.size();
    const size_t option = random() % layers[layer].options.size();
    for (const Childnet& child : nest.nets[parent].children) {
      if (child.layer == layer && child.option == option) return;
    }
    nest.nets[parent].children.push_back({layer, option, net});
  };
  add(0, 1);
  add(0, 2);
  add(1, 2);
  add(1, 3);
  add(2, 3);
  return nest;
}

TEST(Nest, InnermostFirstIsTheFastestOfAllCombinations) {
  int solved = 0;
  int inside = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    const Nest nest = RandomNest(seed);
    Everything options(nest.nets.size());
    for (size_t net = 0; net < nest.nets.size(); ++net) {
      options[net].resize(nest.nets[net].problem.layers.size());
    }
    const double least = LeastTime(nest, 0, options);
    const Result<std::vector<Selection>> selected = SelectNest(nest);
    if (std::isinf(least)) {
      EXPECT_EQ(selected.status().code(), StatusCode::kUnsupported) << seed;
      continue;
    }
    ASSERT_TRUE(selected.ok()) << seed << selected.status().message();
    EXPECT_EQ(selected->front().nanoseconds, least) << seed;
    Everything taken;
    for (size_t net = 0; net < nest.nets.size(); ++net) {
      std::vector<int> own = (*selected)[net].options;
      own.resize(nest.nets[net].problem.layers.size());  // one without a solution
      taken.push_back(std::move(own));
    }
    EXPECT_EQ(TimeOf(nest, 0, taken), least) << seed;
    for (const Childnet& child : nest.nets[0].children) {
      inside += taken[0][child.layer] == static_cast<int>(child.option) ? 1 : 0;
    }
    ++solved;
  }
  EXPECT_GT(solved, 70);
  EXPECT_GT(inside, 25);
}

TEST(Nest, WithoutChildrenIsASelection) {
  const Problem problem = NestedBranches(5, 9, {});
  const Result<Selection> selection = Select(problem);
  const Result<std::vector<Selection>> nest = SelectNest({{{problem}}});
  ASSERT_TRUE(selection.ok() && nest.ok());
  EXPECT_EQ(nest->front().options, selection->options);
}

TEST(Nest, SaysWhatIsWrong) {
  Nest nest = RandomNest(1);
  EXPECT_FALSE(SelectNest({}).ok());
  const auto message = [&](size_t layer, size_t option, size_t net) {
    Nest wrong = nest;
    wrong.nets[1].children = {{layer, option, net}};
    return SelectNest(wrong).status().message();
  };
  EXPECT_EQ(message(99, 0, 2), "net 1: option 0 of layer 99 cannot be net 2");
  EXPECT_EQ(message(0, 99, 2), "net 1: option 99 of layer 0 cannot be net 2");
  EXPECT_EQ(message(0, 0, 1), "net 1: option 0 of layer 0 cannot be net 1");  // itself
  EXPECT_EQ(message(0, 0, 4), "net 1: option 0 of layer 0 cannot be net 4");
}

}  // namespace
}  // namespace intaglio::nn::tune
