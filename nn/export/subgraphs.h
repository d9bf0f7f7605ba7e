// Inside the .tflite writer: the graphs of a file, which name each other by number.
#ifndef INTAGLIO_NN_EXPORT_SUBGRAPHS_H_
#define INTAGLIO_NN_EXPORT_SUBGRAPHS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "intaglio/nn/graph.h"

namespace intaglio::nn {

class Subgraphs {
 public:
  // The model is number 0. It must outlive this, with all that its operators run.
  explicit Subgraphs(const Graph& model) : graphs_{&model} {}

  size_t count() const { return graphs_.size(); }
  const Graph& At(size_t i) const { return *graphs_[i]; }

  // The number of a graph, which it gets when it is first asked for.
  int32_t IndexOf(const Graph& graph) {
    const auto found = std::find(graphs_.begin(), graphs_.end(), &graph);
    const auto index = static_cast<int32_t>(found - graphs_.begin());
    if (found == graphs_.end()) graphs_.push_back(&graph);
    return index;
  }

  // The same of one that nobody else keeps.
  int32_t Add(Graph graph) {
    kept_.push_back(std::make_unique<const Graph>(std::move(graph)));
    return IndexOf(*kept_.back());
  }

 private:
  std::vector<const Graph*> graphs_;
  std::vector<std::unique_ptr<const Graph>> kept_;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_EXPORT_SUBGRAPHS_H_
