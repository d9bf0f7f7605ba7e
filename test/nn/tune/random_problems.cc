#include "intaglio/test/nn/tune/random_problems.h"

#include <algorithm>
#include <limits>

namespace intaglio::nn::tune {

int Maker::Input() {
  problem_.inputs.push_back({problem_.tensors, Int(0, numbers_.schemas - 1)});
  return problem_.tensors++;
}

int Maker::Layer(const std::vector<int>& reads) {
  int most = numbers_.most_options;
  if (numbers_.most_combinations > 0) {
    most = std::clamp(static_cast<int>(numbers_.most_combinations / combinations_), 1, most);
  }
  Problem::Layer layer;
  layer.options.resize(static_cast<size_t>(Int(1, most)));
  combinations_ *= static_cast<double>(layer.options.size());
  for (Option& option : layer.options) {
    option.schema = Int(0, numbers_.schemas - 1);
    option.nanoseconds = Int(0, numbers_.most_time);
    option.bytes = Int(0, numbers_.most_bytes);
    if (numbers_.most_difference > 0) option.difference = Int(0, numbers_.most_difference);
  }
  layer.reads = reads;
  layer.writes = {problem_.tensors};
  problem_.layers.push_back(std::move(layer));
  return problem_.tensors++;
}

int Maker::Another() {
  problem_.layers.back().writes.push_back(problem_.tensors);
  return problem_.tensors++;
}

void Maker::Output(int tensor) {
  problem_.outputs.push_back({tensor, Int(0, numbers_.schemas - 1)});
}

Problem Maker::Finish() {
  for (int tensor = 0; tensor < problem_.tensors; ++tensor) {
    for (int from = 0; from < numbers_.schemas; ++from) {
      for (int to = 0; to < numbers_.schemas; ++to) {
        if (from == to) continue;
        double time = Int(0, numbers_.most_adapter_time);
        if (Int(0, 99) < numbers_.percent_impossible) {
          if (Int(0, 1) == 0) continue;
          time = std::numeric_limits<double>::infinity();
        }
        problem_.adapters.push_back({tensor, from, to, time});
      }
    }
  }
  std::shuffle(problem_.adapters.begin(), problem_.adapters.end(), engine_);
  return std::move(problem_);
}

Problem RandomGraph(unsigned seed, int most_layers, const Numbers& numbers) {
  Maker maker(seed, numbers);
  std::vector<int> tensors;
  for (int i = maker.Int(1, 3); i > 0; --i) tensors.push_back(maker.Input());
  for (int i = maker.Int(1, most_layers); i > 0; --i) {
    std::vector<int> reads;
    for (int k = maker.Int(1, 3); k > 0; --k) {
      const int last = static_cast<int>(tensors.size()) - 1;
      const int first = maker.Int(0, 1) == 0 ? 0 : std::max(0, last - 2);
      reads.push_back(tensors[static_cast<size_t>(maker.Int(first, last))]);
    }
    if (maker.Int(0, 5) == 0) reads = tensors;
    tensors.push_back(maker.Layer(reads));
    if (maker.Int(0, 4) == 0) tensors.push_back(maker.Another());
  }
  maker.Output(tensors.back());
  for (int i = maker.Int(0, 2); i > 0; --i) {
    maker.Output(tensors[static_cast<size_t>(maker.Int(0, static_cast<int>(tensors.size()) - 1))]);
  }
  return maker.Finish();
}

Problem NestedBranches(unsigned seed, int most_layers, const Numbers& numbers) {
  Maker maker(seed, numbers);
  int left = maker.Int(1, most_layers);
  const auto layer = [&](const std::vector<int>& reads) {
    --left;
    return maker.Layer(reads);
  };
  const std::function<int(int, int)> block = [&](int tensor, int depth) {
    if (left <= 0 || maker.Int(0, 5) == 0) return tensor;
    if (left < 3 || depth == 0 || maker.Int(0, 3) == 0) return layer({tensor});
    std::vector<int> branches;
    for (int i = maker.Int(2, 3); i > 0; --i) branches.push_back(block(tensor, depth - 1));
    return layer(branches);
  };
  int tensor = maker.Input();
  while (left > 0) tensor = block(tensor, 3);
  maker.Output(tensor);
  return maker.Finish();
}

Problem UnequalConstraints(unsigned seed, const Numbers& numbers) {
  Maker maker(seed, numbers);
  const int first = maker.Layer({maker.Input()});
  const int second = maker.Layer({first});
  const int third = maker.Layer({second});
  const int fourth = maker.Layer({second});
  const int fifth = maker.Layer({first, third});
  maker.Output(maker.Layer({fourth, fifth}));
  return maker.Finish();
}

Problem ResNet(unsigned seed, const Numbers& numbers) {
  Maker maker(seed, numbers);
  int tensor = maker.Layer({maker.Layer({maker.Input()})});
  for (const int blocks : {3, 8, 36, 3}) {
    for (int i = 0; i < blocks; ++i) {
      const int shortcut = i == 0 ? maker.Layer({tensor}) : tensor;
      const int main = maker.Layer({maker.Layer({maker.Layer({tensor})})});
      tensor = maker.Layer({main, shortcut});
    }
  }
  maker.Output(maker.Layer({maker.Layer({tensor})}));
  return maker.Finish();
}

Problem Inception(unsigned seed, const Numbers& numbers) {
  Maker maker(seed, numbers);
  const auto chain = [&](int tensor, int layers) {
    for (int i = 0; i < layers; ++i) tensor = maker.Layer({tensor});
    return tensor;
  };
  int tensor = chain(maker.Input(), 3);
  for (const int modules : {4, 7, 3}) {
    tensor = maker.Layer({chain(tensor, 1), chain(tensor, 1), chain(tensor, 3)});
    for (int i = 0; i < modules; ++i) {
      // The last two branches of the last modules fork once more.
      const bool forks = modules == 3;
      const int third = chain(tensor, forks ? 1 : 3);
      const int fourth = chain(tensor, forks ? 3 : 5);
      std::vector<int> joined = {chain(tensor, 2), chain(tensor, 1)};
      for (const int branch : {third, fourth}) {
        joined.push_back(forks ? chain(branch, 1) : branch);
        if (forks) joined.push_back(chain(branch, 1));
      }
      tensor = maker.Layer(joined);
    }
  }
  maker.Output(chain(tensor, 2));
  return maker.Finish();
}

Problem DenseNet(unsigned seed, bool chain, const Numbers& numbers) {
  Maker maker(seed, numbers);
  int tensor = maker.Layer({maker.Layer({maker.Input()})});
  for (const int layers : {6, 12, 48, 32}) {
    std::vector<int> block = {tensor};
    for (int i = 0; i < layers; ++i) {
      block.push_back(maker.Layer({maker.Layer({tensor})}));
      tensor = maker.Layer(block);  // the concatenation
      if (chain) block = {tensor};
    }
    tensor = maker.Layer({maker.Layer({tensor})});
  }
  maker.Output(maker.Layer({tensor}));
  return maker.Finish();
}

Problem Tangle(unsigned seed, int layers, const Numbers& numbers) {
  Maker maker(seed, numbers);
  int last = maker.Input();
  for (int i = 0; i < layers; ++i) {
    std::vector<int> reads;
    for (int k = 0; k < 8; ++k) reads.push_back(maker.Int(0, last));
    last = maker.Layer(reads);
  }
  maker.Output(last);
  return maker.Finish();
}

}  // namespace intaglio::nn::tune
