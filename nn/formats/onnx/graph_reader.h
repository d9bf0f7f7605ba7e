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
#include "intaglio/nn/formats/onnx/reader.h"
#include "intaglio/nn/formats/onnx/translation.h"
#include "intaglio/nn/graph/align_constants.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/graph/ledger.h"

namespace intaglio::nn::onnx {

// What is the same for all graphs of a file.
struct File {
  ModelProto& model;
  ExternalData& external;
  Ledger& ledger;
  FoldBudget& folding;
  const OnnxOptions& options;
  AlignedCopies aligned = {};            // of constants that several graphs may have
  std::vector<PassReport> reports = {};  // of the last graph whose reading ended: the model's
  int depth = 0;                         // of graphs and functions inside each other
  int64_t nodes = 0;                     // translated so far, those of functions once for each call
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
  bool IsInside(const Scope& scope) const {
    return this == &scope || (outer_ != nullptr && outer_->IsInside(scope));
  }

 private:
  const Scope* outer_;
  std::map<std::string, TensorId> ids_;
};

// Refuses tensors of elements of fewer than 8 bits, which nobody keeps track of between a graph and
// its branches and loops. Constants are not asked for.
Status CheckCrosses(const LayerMaker& make, TensorId id);

class GraphReader {
 public:
  GraphReader(File& file, Graph& graph)
      : file_(file), graph_(graph), make_(graph, file.folding, file.ledger) {
    SetAdvice();
  }

  // A reader of a graph inside of a node that `around` is about to translate. What its nodes take
  // from the graph around becomes constants and inputs of the graph.
  GraphReader(File& file, Graph& graph, GraphReader& around);

  // Reads the model into the graph.
  Status ReadModel(const std::vector<Shape>& input_shapes);

  // Reads the inputs as tensors of a graph without layers.
  Status ReadSignature();

  // Reads the nodes of a branch behind the layers so far, which see its inputs as these tensors.
  // Returns its outputs. Throws TranslationFailed.
  std::vector<TensorId> ReadBranch(const GraphProto& branch,
                                   const std::vector<TensorId>& inputs = {});

  // The following read a graph inside of a node. AddInput makes an input that is like a tensor of
  // the graph around.
  TensorId AddInput(const Tensor& like);
  // Makes a tensor the graph's next output.
  void AddOutput(TensorId id);
  // The tensors of the graph around that are inputs of this one, behind those of AddInput.
  const std::vector<TensorId>& captured() const { return captured_; }
  // What stands for a tensor of the graph around: a constant of the same elements, a DEQUANTIZE of
  // such a constant, or else an input.
  TensorId Capture(TensorId outside);
  // Ends the reading. The graph may be prepared then.
  Status Finish();

  LayerMaker& make() { return make_; }
  File& file() { return file_; }
  TensorId AddConstant(TensorProto tensor);

 private:
  using Opsets = std::map<std::string, int>;

  Status ReadOpsets();
  Status ReadInputs(const GraphProto& from, const std::vector<Shape>& input_shapes);
  Status CheckNamesOfConstants(const GraphProto& from) const;
  // Reads the input as a constant.
  Status ReadConstantInput(const ValueInfoProto& input, const InputConstant& value, Tensor tensor);
  // Which inputs of the model to give values, if tensors of this graph have to be known.
  std::string Advice(const std::vector<TensorId>& unknown) const;
  void SetAdvice() {
    make_.SetAdvice([this](const std::vector<TensorId>& unknown) { return Advice(unknown); });
  }
  Status ReadOutputs(const GraphProto& from);
  TensorId OutputOf(TensorId id);
  const TensorId* Find(const std::string& name);
  Status ReadInitializers(GraphProto& from);
  Status ReadNodes(const google::protobuf::RepeatedPtrField<NodeProto>& nodes);
  Status CountNode();
  Status ReadNode(const NodeProto& node);
  Status Translate(const NodeProto& node, std::vector<TensorId> inputs);
  void KeepNarrow(const Translation& translation);
  Status Call(const FunctionProto& function, const NodeProto& node,
              const std::vector<TensorId>& inputs);
  Status BindOutputs(const NodeProto& node, const std::vector<TensorId>& outputs);
  const FunctionProto* FindFunction(const NodeProto& node) const;
  std::string Describe(const NodeProto& node) const;

  File& file_;
  Graph& graph_;
  LayerMaker make_;
  GraphReader* around_ = nullptr;  // of a graph inside of a node
  Scope base_{nullptr};            // its own scope
  std::vector<TensorId> captured_;
  std::vector<TensorId> capturing_;  // the inputs that stand for them
  Scope* scope_ = nullptr;           // of the nodes that are being read
  const Opsets* opsets_ = nullptr;   // for these nodes
  const Arguments* arguments_ = nullptr;
  const NodeProto* translated_ = nullptr;
  Opsets model_opsets_;
};

struct OnnxRow;
// The row that reads a node; null where there is none.
const OnnxRow* RowOf(const NodeProto& node, int opset);
std::string DomainOf(const std::string& domain);  // "" for the standard's own

}  // namespace intaglio::nn::onnx

#endif  // INTAGLIO_NN_FORMATS_ONNX_GRAPH_READER_H_
