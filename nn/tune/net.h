// A problem of selection that has been checked, in the form that its solution needs.
#ifndef INTAGLIO_NN_TUNE_NET_H_
#define INTAGLIO_NN_TUNE_NET_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/tune/select.h"

namespace intaglio::nn::tune {

inline constexpr double kUnitsPerNanosecond = 1024;
inline constexpr int kNoNode = -1;

// Nodes are the layers, then the inputs, then the outputs. An input or an output is a layer of one
// schema that costs nothing.
class Net {
 public:
  // `problem` has to outlive the net.
  static Result<Net> Make(const Problem& problem);

  int layers() const { return static_cast<int>(problem_->layers.size()); }
  int nodes() const { return static_cast<int>(schemas_.size()); }
  int tensors() const { return problem_->tensors; }
  // "layer 3", "input 0", "output 1".
  std::string NameOf(int node) const;
  const Problem::Layer& layer(int i) const { return problem_->layers[At(i)]; }

  // The schemas of a node's options, each once, in increasing order.
  const std::vector<int>& schemas(int node) const { return schemas_[At(node)]; }
  // Who writes the tensor, or kNoNode.
  int writer(int tensor) const { return writers_[At(tensor)]; }
  // Who reads it: every node once, in increasing order.
  const std::vector<int>& readers(int tensor) const { return readers_[At(tensor)]; }

  // All costs are in units; kUnitsPerNanosecond of them are a nanosecond.
  static int64_t CostOf(const Option& option);
  // What it costs to read the tensor in a schema, which is nothing in the one where it was written.
  // There is no value if it is impossible.
  std::optional<int64_t> CostOf(int tensor, int from, int to) const;

  // The selection of these options, one for each layer.
  Result<Selection> Complete(const std::vector<int>& options) const;

 private:
  static size_t At(int64_t i) { return static_cast<size_t>(i); }

  explicit Net(const Problem& problem) : problem_(&problem) {}
  Status AddLayers();
  Status AddEnds();
  Status AddAdapters();
  Status AddWriter(int tensor, int node);
  Status AddReader(int tensor, int node);
  Status CheckTensor(int tensor, int node) const;
  Status CheckOption(const Option& option, int layer, size_t index);
  Status CheckSums() const;
  Status CheckWriters() const;
  Status CheckCycles() const;

  const Problem* problem_;
  std::vector<std::vector<int>> schemas_;  // by node
  std::vector<int> writers_;               // by tensor
  std::vector<std::vector<int>> readers_;  // by tensor
  std::map<std::array<int, 3>, int64_t> adapters_;
  double nanoseconds_ = 0;  // of all options and adapters
  double bytes_ = 0;
  double difference_ = 0;
};

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_NET_H_
