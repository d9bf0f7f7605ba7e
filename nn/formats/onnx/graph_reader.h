// Inside the .onnx reader: reads the nodes of a graph, of the functions that it calls and of the
// branches that it takes.
#ifndef INTAGLIO_NN_FORMATS_ONNX_GRAPH_READER_H_
#define INTAGLIO_NN_FORMATS_ONNX_GRAPH_READER_H_

#include <map>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/formats/onnx/external_data.h"
#include "intaglio/nn/formats/onnx/layer_maker.h"
#include "intaglio/nn/formats/onnx/onnx.pb.h"
#include "intaglio/nn/formats/onnx/translation.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/graph/ledger.h"

namespace intaglio::nn::onnx {

// What is the same for all graphs of a file.
struct File {
  ModelProto& model;
  ExternalData& external;
  Ledger& ledger;
  FoldBudget& folding;
  bool nhwc_inputs = false;
  int depth = 0;      // of graphs and functions inside each other
  int64_t nodes = 0;  // translated so far, those of functions once for each call
};

// The values that nodes name, in one graph or function. Branches see those of the graphs around
// them.
class Scope {
 public:
  explicit Scope(const Scope* outer) : outer_(outer) {}
  // Null where nothing has the name.
  const TensorId* Find(const std::string& name) const;
  // Returns false if the name is taken in this scope.
  bool Bind(const std::string& name, TensorId id) { return ids_.emplace(name, id).second; }

 private:
  const Scope* outer_;
  std::map<std::string, TensorId> ids_;
};

class GraphReader {
 public:
  GraphReader(File& file, Graph& graph)
      : file_(file), graph_(graph), make_(graph, file.folding, file.ledger) {}

  // Reads the model into the graph.
  Status ReadModel(const std::vector<Shape>& input_shapes);

  // Reads the inputs as tensors of a graph without layers.
  Status ReadSignature();

  // Reads the nodes of a branch behind the layers so far. Returns its outputs. Throws
  // TranslationFailed.
  std::vector<TensorId> ReadBranch(const GraphProto& branch);

  LayerMaker& make() { return make_; }
  TensorId AddConstant(TensorProto tensor);

 private:
  using Opsets = std::map<std::string, int>;

  Status ReadOpsets();
  Status ReadInputs(const GraphProto& from, const std::vector<Shape>& input_shapes);
  Status ReadOutputs(const GraphProto& from);
  Status ReadInitializers(GraphProto& from);
  Status ReadNodes(const google::protobuf::RepeatedPtrField<NodeProto>& nodes);
  Status ReadNode(const NodeProto& node);
  Status Translate(const NodeProto& node, std::vector<TensorId> inputs);
  Status Call(const FunctionProto& function, const NodeProto& node,
              const std::vector<TensorId>& inputs);
  Status BindOutputs(const NodeProto& node, const std::vector<TensorId>& outputs);
  const FunctionProto* FindFunction(const NodeProto& node) const;
  std::string Describe(const NodeProto& node) const;

  File& file_;
  Graph& graph_;
  LayerMaker make_;
  Scope* scope_ = nullptr;          // of the nodes that are being read
  const Opsets* opsets_ = nullptr;  // for these nodes
  const Arguments* arguments_ = nullptr;
  Opsets model_opsets_;
};

struct OnnxRow;
// The row that reads a node; null where there is none.
const OnnxRow* RowOf(const NodeProto& node, int opset);
std::string DomainOf(const std::string& domain);  // "" for the standard's own

}  // namespace intaglio::nn::onnx

#endif  // INTAGLIO_NN_FORMATS_ONNX_GRAPH_READER_H_
