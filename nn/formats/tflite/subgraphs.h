// Inside the .tflite writer: the graphs of a file, which name each other by number.
#ifndef INTAGLIO_NN_FORMATS_TFLITE_SUBGRAPHS_H_
#define INTAGLIO_NN_FORMATS_TFLITE_SUBGRAPHS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn {

class Subgraphs {
 public:
  // The model is number 0. The model and all graphs that its operators run must outlive this
  // object.
  explicit Subgraphs(const Graph& model) : graphs_{&model} {}

  size_t count() const { return graphs_.size(); }
  const Graph& At(size_t i) const { return *graphs_[i]; }

  // The number of a graph. A graph gets its number when it is first asked for.
  int32_t IndexOf(const Graph& graph) {
    const auto found = std::find(graphs_.begin(), graphs_.end(), &graph);
    const auto index = static_cast<int32_t>(found - graphs_.begin());
    if (found == graphs_.end()) graphs_.push_back(&graph);
    return index;
  }

  // Adds a graph that nobody else keeps, and returns its number.
  int32_t Add(Graph graph) {
    kept_.push_back(std::make_unique<const Graph>(std::move(graph)));
    return IndexOf(*kept_.back());
  }

 private:
  std::vector<const Graph*> graphs_;
  std::vector<std::unique_ptr<const Graph>> kept_;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_TFLITE_SUBGRAPHS_H_
