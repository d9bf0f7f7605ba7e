// Problems of selection for tests: random ones, and ones with the shapes of known networks.
#ifndef INTAGLIO_TEST_NN_TUNE_RANDOM_PROBLEMS_H_
#define INTAGLIO_TEST_NN_TUNE_RANDOM_PROBLEMS_H_

#include <functional>
#include <initializer_list>
#include <random>
#include <vector>

#include "intaglio/nn/tune/select.h"

namespace intaglio::nn::tune {

// What the numbers of a problem are like. All times are whole nanoseconds.
struct Numbers {
  int schemas = 2;
  int most_options = 3;          // of a layer
  double most_combinations = 0;  // of the options of all layers; 0 stands for any number
  int most_time = 1000;          // a small number makes ties
  int most_adapter_time = 500;
  int most_bytes = 100;
  int most_difference = 0;
  int percent_impossible = 0;  // of all adapters
};

// Makes problems layer by layer. Tensors are numbered as they come to be.
class Maker {
 public:
  Maker(unsigned seed, const Numbers& numbers) : numbers_(numbers), engine_(seed) {}

  int Int(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }
  int Input();
  // Adds a layer with random options that writes one tensor, which is returned.
  int Layer(const std::vector<int>& reads);
  int Layer(std::initializer_list<int> reads) { return Layer(std::vector<int>(reads)); }
  // Lets the last layer write one more tensor.
  int Another();
  void Output(int tensor);
  // Adds the adapters.
  Problem Finish();

 private:
  const Numbers numbers_;
  std::mt19937 engine_;
  Problem problem_;
  double combinations_ = 1;
};

// Up to `most_layers` layers that read tensors before them: skip connections, several inputs and
// outputs, layers that write two tensors, tensors that nothing reads.
Problem RandomGraph(unsigned seed, int most_layers, const Numbers& numbers);

// Branches inside branches, some of them empty, joined by layers with two or three inputs.
Problem NestedBranches(unsigned seed, int most_layers, const Numbers& numbers);

// The network whose branches meet in the order for which the constraint sets of "SoftNeuro",
// algorithm 1, line 9, are not equal: layer 5 reads 1 and 3, and layer 6 reads 4 and 5.
Problem UnequalConstraints(unsigned seed, const Numbers& numbers);

// The layers and edges of ResNet-152, of Inception-v4 as far as branches go, and of DenseNet-201.
Problem ResNet(unsigned seed, const Numbers& numbers);
Problem Inception(unsigned seed, const Numbers& numbers);
// DenseNet's concatenations are a chain, as in .tflite files, or each of them reads all tensors of
// its block, as in PyTorch's.
Problem DenseNet(unsigned seed, bool chain, const Numbers& numbers);
// Every layer reads eight tensors before it, anywhere.
Problem Tangle(unsigned seed, int layers, const Numbers& numbers);

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_TEST_NN_TUNE_RANDOM_PROBLEMS_H_
