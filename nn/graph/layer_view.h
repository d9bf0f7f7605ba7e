// One layer of a graph, as the operators see it.
#ifndef INTAGLIO_NN_GRAPH_LAYER_VIEW_H_
#define INTAGLIO_NN_GRAPH_LAYER_VIEW_H_

#include <cstddef>
#include <string>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn {

class LayerView {
 public:
  LayerView(const Graph& graph, size_t index) : graph_(&graph), index_(index) {}

  // The parameters. Op must be the operator that the layer has.
  template <class Op>
  const Op& op() const {
    return *layer().op.As<Op>();
  }

  const Graph& graph() const { return *graph_; }
  const Layer& layer() const { return graph_->layers[index_]; }
  std::string label() const { return LabelOf(*graph_, index_); }
  size_t input_count() const { return layer().inputs.size(); }
  bool has_input(size_t i) const {
    return i < layer().inputs.size() && layer().inputs[i] != kNoTensor;
  }
  const Tensor& input(size_t i) const {  // only where has_input(i)
    return graph_->tensors[static_cast<size_t>(layer().inputs[i])];
  }
  const Tensor& output(size_t i = 0) const {
    return graph_->tensors[static_cast<size_t>(layer().outputs[i])];
  }

  // The layer's own numerics or, where it has none, TFLite's.
  Numerics numerics() const;

  // Errors whose message starts with the layer's label.
  Status Invalid(const std::string& what) const;
  Status Unsupported(const std::string& what) const;
  // The label before the message of an error from elsewhere.
  Status Wrap(const Status& status) const;

 private:
  const Graph* graph_;
  size_t index_;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_GRAPH_LAYER_VIEW_H_
