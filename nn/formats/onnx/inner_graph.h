// Inside the .onnx reader: a branch or the body of a loop, as a graph of its own.
#ifndef INTAGLIO_NN_FORMATS_ONNX_INNER_GRAPH_H_
#define INTAGLIO_NN_FORMATS_ONNX_INNER_GRAPH_H_

#include <memory>
#include <vector>

#include "intaglio/nn/formats/onnx/graph_reader.h"

namespace intaglio::nn::onnx {

struct InnerGraph {
  explicit InnerGraph(GraphReader& around) : reader(around.file(), *graph, around) {}

  // Calls f, which reads the graph. Returns the reader's error where f fails by it.
  template <class Function>
  Status Try(const Function& f) {
    try {
      f();
    } catch (const TranslationFailed&) {
      if (reader.make().status().ok()) throw;  // of the graph around
    }
    return reader.make().status();
  }

  const std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  GraphReader reader;
};

}  // namespace intaglio::nn::onnx

#endif  // INTAGLIO_NN_FORMATS_ONNX_INNER_GRAPH_H_
