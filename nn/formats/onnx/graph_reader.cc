#include "intaglio/nn/formats/onnx/graph_reader.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "intaglio/nn/formats/onnx/quantization.h"
#include "intaglio/nn/formats/onnx/rows.h"
#include "intaglio/nn/formats/onnx/tensors.h"
#include "intaglio/nn/formats/take_constants.h"
#include "intaglio/nn/graph/folded_shapes.h"
#include "intaglio/nn/graph/input_advice.h"
#include "intaglio/nn/graph/printable.h"
#include "intaglio/nn/passes/pass_list.h"

namespace intaglio::nn::onnx {

std::string DomainOf(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

namespace {

constexpr int kMaxDepth = 32;           // far more than models nest
constexpr int64_t kMaxNodes = 1000000;  // far more than models have

// Sets a member for as long as a block lasts.
template <class T>
class Swap {
 public:
  Swap(T& member, T value) : member_(member), old_(std::exchange(member, value)) {}
  ~Swap() { member_ = old_; }
  Swap(const Swap&) = delete;
  Swap& operator=(const Swap&) = delete;

 private:
  T& member_;
  T old_;
};

std::map<std::string, int> OpsetsFrom(
    const google::protobuf::RepeatedPtrField<OperatorSetIdProto>& from) {
  std::map<std::string, int> opsets;
  for (const OperatorSetIdProto& opset : from) {
    constexpr int64_t kMost = std::numeric_limits<int>::max();
    opsets[DomainOf(opset.domain())] =
        static_cast<int>(std::clamp<int64_t>(opset.version(), 0, kMost));
  }
  return opsets;
}

}  // namespace

const OnnxRow* RowOf(const NodeProto& node, int opset) {
  const std::string domain = DomainOf(node.domain());
  return FindRow([&](const OnnxRow& row) {
    return node.op_type() == row.name && domain == row.domain && opset >= row.since &&
           opset <= row.until;
  });
}

const TensorId* Scope::Find(const std::string& name) const {
  const auto found = ids_.find(name);
  if (found != ids_.end()) return &found->second;
  return outer_ == nullptr ? nullptr : outer_->Find(name);
}

std::string GraphReader::Describe(const NodeProto& node) const {
  std::string name = Printable(node.op_type());
  if (!DomainOf(node.domain()).empty()) name = Printable(node.domain()) + "." + name;
  const std::string& shown =
      node.name().empty() && node.output_size() > 0 ? node.output(0) : node.name();
  return name + " '" + ShortName(shown) + "'";
}

TensorId GraphReader::AddConstant(TensorProto from) {
  Result<Tensor> tensor = TakeConstant(from, file_.external, file_.ledger);
  make_.Fail(tensor.status());
  const TensorId id = make_.AddTensor(std::move(*tensor));
  make_.SetNarrow(id, BitsOf(from.data_type()));
  return id;
}

Status GraphReader::ReadInitializers(GraphProto& from) {
  if (from.sparse_initializer_size() > 0) return Unsupported("sparse constants are not supported");
  for (TensorProto& initializer : *from.mutable_initializer()) {
    const std::string name = initializer.name();
    Result<Tensor> tensor = TakeConstant(initializer, file_.external, file_.ledger);
    if (!tensor.ok()) {
      return {tensor.status().code(),
              "constant '" + ShortName(name) + "' " + tensor.status().message()};
    }
    const TensorId id = make_.AddTensor(std::move(*tensor));
    make_.SetNarrow(id, BitsOf(initializer.data_type()));
    if (!scope_->Bind(name, id)) {
      return InvalidArgument("constant '" + ShortName(name) + "' is defined twice");
    }
  }
  return {};
}

namespace {

Result<Tensor> TensorFrom(const ValueInfoProto& from) {
  const auto wrong = [&](const Status& status) {
    std::string what = "'";
    what.append(ShortName(from.name())).append("' ").append(status.message());
    return Status(status.code(), std::move(what));
  };
  if (!from.has_type() || !from.type().has_tensor_type()) {
    return wrong(Unsupported("is no tensor"));
  }
  const TypeProto::Tensor& declared = from.type().tensor_type();
  const Result<Type> type = TypeFrom(declared.elem_type());
  if (!type.ok()) return wrong(type.status());
  if (!declared.has_shape()) return wrong(Unsupported("has no shape"));
  Result<Shape> shape = ShapeFrom(declared.shape());
  if (!shape.ok()) return wrong(shape.status());
  Tensor tensor;
  tensor.type = *type;
  tensor.shape = std::move(*shape);
  tensor.name = Printable(from.name());
  return tensor;
}

}  // namespace

Status GraphReader::CheckNamesOfConstants(const GraphProto& from) const {
  std::vector<std::string> names;
  for (const ValueInfoProto& input : from.input()) {
    if (scope_->Find(input.name()) == nullptr) names.push_back(input.name());
  }
  return nn::CheckNamesOfConstants(file_.options.constants, names);
}

Status GraphReader::ReadConstantInput(const ValueInfoProto& input, const InputConstant& value,
                                      Tensor tensor) {
  INTAGLIO_RETURN_IF_ERROR(file_.ledger.Charge(value.bytes.size()));
  Shape declared = tensor.shape;
  const TensorShapeProto& from = input.type().tensor_type().shape();
  for (size_t i = 0; i < declared.size(); ++i) {
    if (!IsKnown(from.dim(static_cast<int>(i)))) declared[i] = -1;
  }
  INTAGLIO_RETURN_IF_ERROR(BecomeConstant(value, declared, tensor));
  const TensorId id = make_.AddTensor(std::move(tensor));
  make_.SetNarrow(id, BitsOf(input.type().tensor_type().elem_type()));
  scope_->Bind(input.name(), id);
  return {};
}

Status GraphReader::ReadInputs(const GraphProto& from, const std::vector<Shape>& input_shapes) {
  INTAGLIO_RETURN_IF_ERROR(CheckNamesOfConstants(from));
  for (const ValueInfoProto& input : from.input()) {
    // Old files list constants among the inputs.
    if (scope_->Find(input.name()) != nullptr) continue;
    Result<Tensor> tensor = TensorFrom(input);
    if (!tensor.ok()) return {tensor.status().code(), "input " + tensor.status().message()};
    const InputConstant* const value = FindConstant(file_.options.constants, input.name());
    if (value != nullptr) {
      INTAGLIO_RETURN_IF_ERROR(ReadConstantInput(input, *value, std::move(*tensor)));
      continue;
    }
    const size_t place = graph_.inputs.size();
    Shape& shape = tensor->shape;
    const bool is_moved = file_.options.nhwc_inputs && shape.size() == 4;
    if (is_moved) shape = {shape[0], shape[2], shape[3], shape[1]};
    if (place < input_shapes.size() && !input_shapes[place].empty()) {
      shape = input_shapes[place];
    }
    const TensorId id = make_.AddTensor(std::move(*tensor));
    graph_.inputs.push_back(id);
    make_.SetLabel(Printable(input.name()));
    const TensorId read = is_moved ? make_.Transposed(id, {0, 3, 1, 2}) : id;
    make_.SetNarrow(read, BitsOf(input.type().tensor_type().elem_type()));
    scope_->Bind(input.name(), read);
  }
  if (input_shapes.size() > graph_.inputs.size()) {
    return InvalidArgument("there are shapes for " + std::to_string(input_shapes.size()) +
                           " inputs; the model has " + std::to_string(graph_.inputs.size()));
  }
  return {};
}

// The tensor, or one with the same elements that may be an output: not a constant, an input, or an
// output already.
TensorId GraphReader::OutputOf(TensorId id) {
  const auto taken = [&](const std::vector<TensorId>& ids) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
  };
  if (!make_.IsConstant(id) && !taken(graph_.inputs) && !taken(graph_.outputs)) return id;
  return make_.AddLike(Reshape{make_.ShapeOf(id)}, {id});
}

Status GraphReader::ReadOutputs(const GraphProto& from) {
  for (const ValueInfoProto& output : from.output()) {
    const TensorId* const found = scope_->Find(output.name());
    if (found == nullptr) {
      return InvalidArgument("output '" + ShortName(output.name()) + "' is made by no node");
    }
    make_.SetLabel(Printable(output.name()));
    const TensorId id = OutputOf(*found);
    graph_.tensors[static_cast<size_t>(id)].name = Printable(output.name());
    graph_.outputs.push_back(id);
  }
  return {};
}

const FunctionProto* GraphReader::FindFunction(const NodeProto& node) const {
  const auto& functions = file_.model.functions();
  const auto found =
      std::find_if(functions.begin(), functions.end(), [&](const FunctionProto& function) {
        return function.name() == node.op_type() && function.overload() == node.overload() &&
               DomainOf(function.domain()) == DomainOf(node.domain());
      });
  return found == functions.end() ? nullptr : &*found;
}

Status GraphReader::BindOutputs(const NodeProto& node, const std::vector<TensorId>& outputs) {
  for (int i = 0; i < node.output_size(); ++i) {
    const std::string& name = node.output(i);
    if (name.empty()) continue;
    const TensorId id = outputs[static_cast<size_t>(i)];
    if (id == kNoTensor) return Unsupported("output " + std::to_string(i) + " is not supported");
    if (!scope_->Bind(name, id)) {
      return InvalidArgument("output '" + ShortName(name) + "' is defined twice");
    }
  }
  return {};
}

Status GraphReader::Call(const FunctionProto& function, const NodeProto& node,
                         const std::vector<TensorId>& inputs) {
  if (inputs.size() > static_cast<size_t>(function.input_size()) ||
      node.output_size() > function.output_size()) {
    return InvalidArgument("has more inputs or outputs than the function");
  }
  Arguments arguments;
  for (const AttributeProto& attribute : function.attribute_proto()) {
    arguments[attribute.name()] = &attribute;
  }
  for (const AttributeProto& attribute : node.attribute()) {
    const AttributeProto* value = &attribute;
    if (!attribute.ref_attr_name().empty()) {
      const auto found = arguments_->find(attribute.ref_attr_name());
      if (found == arguments_->end()) continue;
      value = found->second;
    }
    arguments[attribute.name()] = value;
  }
  Scope inside(nullptr);
  for (int i = 0; i < function.input_size(); ++i) {
    const auto place = static_cast<size_t>(i);
    inside.Bind(function.input(i), place < inputs.size() ? inputs[place] : kNoTensor);
  }
  const Opsets opsets =
      function.opset_import_size() > 0 ? OpsetsFrom(function.opset_import()) : *opsets_;
  {
    const Swap scope(scope_, &inside);
    const Swap used_opsets(opsets_, &opsets);
    const Swap used_arguments(arguments_, static_cast<const Arguments*>(&arguments));
    INTAGLIO_RETURN_IF_ERROR(ReadNodes(function.node()));
  }
  std::vector<TensorId> outputs;
  for (const std::string& name : function.output()) {
    const TensorId* const id = inside.Find(name);
    outputs.push_back(id == nullptr ? kNoTensor : *id);
  }
  return BindOutputs(node, outputs);
}

Status GraphReader::Translate(const NodeProto& node, std::vector<TensorId> inputs) {
  const auto opset = opsets_->find(DomainOf(node.domain()));
  if (opset == opsets_->end()) {
    return InvalidArgument("the model does not say which version of the domain it uses");
  }
  const OnnxRow* const row = RowOf(node, opset->second);
  if (row == nullptr) {
    return Unsupported("not supported in opset " + std::to_string(opset->second));
  }
  make_.SetLabel(Describe(node));
  const Swap translated(translated_, &node);
  Translation translation(node, opset->second, *arguments_, std::move(inputs), make_, *this);
  try {
    row->read(translation);
  } catch (const TranslationFailed&) {
    return make_.status();
  }
  KeepNarrow(translation);
  return BindOutputs(node, translation.outputs());
}

// Operators without a rule of their own for elements of fewer than 8 bits only move them.
void GraphReader::KeepNarrow(const Translation& translation) {
  for (const TensorId from : translation.inputs()) {
    const int bits = make_.NarrowBits(from);
    if (bits == 0 || translation.decides_bits()) continue;
    for (const TensorId to : translation.outputs()) {
      if (to != kNoTensor && make_.At(to).type == make_.At(from).type) make_.SetNarrow(to, bits);
    }
  }
}

Status GraphReader::CountNode() {
  if (++file_.nodes <= kMaxNodes) return {};
  return Unsupported("the model has more than " + std::to_string(kMaxNodes) + " nodes");
}

Status GraphReader::ReadNode(const NodeProto& node) {
  INTAGLIO_RETURN_IF_ERROR(CountNode());
  std::vector<TensorId> inputs;
  for (const std::string& name : node.input()) {
    const TensorId* const id = name.empty() ? nullptr : Find(name);
    if (!name.empty() && id == nullptr) {
      return InvalidArgument("input '" + ShortName(name) + "' is made by no node before it");
    }
    inputs.push_back(id == nullptr ? kNoTensor : *id);
  }
  while (!inputs.empty() && inputs.back() == kNoTensor) inputs.pop_back();
  const FunctionProto* const function = FindFunction(node);
  return function != nullptr ? Call(*function, node, inputs) : Translate(node, std::move(inputs));
}

Status GraphReader::ReadNodes(const google::protobuf::RepeatedPtrField<NodeProto>& nodes) {
  if (file_.depth == kMaxDepth) {
    return Unsupported("graphs and functions lie in each other more than " +
                       std::to_string(kMaxDepth) + " deep");
  }
  const Swap depth(file_.depth, file_.depth + 1);
  for (const NodeProto& node : nodes) {
    const Status status = ReadNode(node);
    if (!status.ok()) return {status.code(), Describe(node) + ": " + status.message()};
  }
  return {};
}

std::vector<TensorId> GraphReader::ReadBranch(const GraphProto& branch,
                                              const std::vector<TensorId>& inputs) {
  make_.Fail(CountNode());   // a round of a loop without nodes takes time, too
  GraphProto copy = branch;  // constants are taken out of it
  Scope inside(scope_);
  const Swap scope(scope_, &inside);
  if (static_cast<size_t>(branch.input_size()) != inputs.size()) {
    make_.Fail(InvalidArgument("a graph has " + std::to_string(branch.input_size()) + " inputs; " +
                               std::to_string(inputs.size()) + " are needed"));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    inside.Bind(branch.input(static_cast<int>(i)).name(), inputs[i]);
  }
  make_.Fail(ReadInitializers(copy));
  make_.Fail(ReadNodes(copy.node()));
  std::vector<TensorId> outputs;
  for (const ValueInfoProto& output : branch.output()) {
    const TensorId* const id = Find(output.name());
    if (id == nullptr) make_.Fail(InvalidArgument("an output of a branch is made by no node"));
    outputs.push_back(*id);
  }
  // What else the node becomes has its name again.
  if (translated_ != nullptr) make_.SetLabel(Describe(*translated_));
  return outputs;
}

GraphReader::GraphReader(File& file, Graph& graph, GraphReader& around)
    : file_(file),
      graph_(graph),
      make_(graph, file.folding, file.ledger),
      around_(&around),
      scope_(&base_),
      opsets_(around.opsets_),
      arguments_(around.arguments_) {
  SetAdvice();
}

std::string GraphReader::Advice(const std::vector<TensorId>& unknown) const {
  std::vector<TensorId> inputs = InputsBehind(graph_, unknown);
  if (around_ == nullptr) return AdviceFor(graph_, inputs);
  for (TensorId& id : inputs) {
    const auto found = std::find(capturing_.begin(), capturing_.end(), id);
    // What a loop carries is known to no one beforehand.
    if (found == capturing_.end()) return {};
    id = captured_[static_cast<size_t>(found - capturing_.begin())];
  }
  return inputs.empty() ? "" : around_->Advice(inputs);
}

const TensorId* GraphReader::Find(const std::string& name) {
  const TensorId* const found = scope_->Find(name);
  // Functions see nothing of what is around them.
  if (found != nullptr || around_ == nullptr || !scope_->IsInside(base_)) return found;
  const TensorId* const outside = around_->Find(name);
  if (outside == nullptr) return nullptr;
  base_.Bind(name, *outside == kNoTensor ? kNoTensor : Capture(*outside));
  return base_.Find(name);
}

Status CheckCrosses(const LayerMaker& make, TensorId id) {
  if (make.NarrowBits(id) == 0) return {};
  return Unsupported(
      "elements of fewer than 8 bits go into a branch or a loop, or come out of one");
}

TensorId GraphReader::Capture(TensorId outside) {
  const auto found = std::find(captured_.begin(), captured_.end(), outside);
  if (found != captured_.end()) {
    return capturing_[static_cast<size_t>(found - captured_.begin())];
  }
  if (around_->make_.IsConstant(outside)) {
    const TensorId copy = make_.AddTensor(around_->make_.At(outside));
    if (const int bits = around_->make_.NarrowBits(outside); bits > 0) make_.SetNarrow(copy, bits);
    return copy;
  }
  // Products inside become products of integers only if their weights are dequantized inside.
  const TensorId weights = around_->make_.DequantizedConstant(outside);
  if (weights != kNoTensor) {
    const TensorId inside = make_.AddTensor(around_->make_.At(weights));
    return make_.Add(Dequantize{}, {inside}, Type::kFloat32, {}, HalfEven());
  }
  make_.Fail(CheckCrosses(around_->make_, outside));
  captured_.push_back(outside);
  capturing_.push_back(AddInput(around_->make_.At(outside)));
  return capturing_.back();
}

TensorId GraphReader::AddInput(const Tensor& like) {
  Tensor tensor;
  tensor.name = like.name;
  tensor.type = like.type;
  tensor.shape = like.shape;
  tensor.quantization = like.quantization;
  const TensorId id = make_.AddTensor(std::move(tensor));
  graph_.inputs.push_back(id);
  return id;
}

void GraphReader::AddOutput(TensorId id) {
  make_.Fail(CheckCrosses(make_, id));
  graph_.outputs.push_back(OutputOf(id));
}

Status GraphReader::Finish() {
  make_.Finish();
  // The reader computes with shapes itself, and keeps no record of it.
  graph_.folded_shapes = IncompleteShapes();
  INTAGLIO_RETURN_IF_ERROR(Validate(graph_));
  file_.reports =
      RunPasses(graph_, {file_.folding, file_.options.ort_fused}, file_.options.without_passes);
  INTAGLIO_RETURN_IF_ERROR(Validate(graph_));
  // Here, because each model would copy them again, and find nothing that another has packed.
  return AlignConstants(graph_, &file_.ledger, file_.aligned);
}

namespace {

// Operators whose first version holds until kOldest. Files of nothing else may be older.
bool IsUnchanged(const NodeProto& node) {
  constexpr std::string_view kNames[] = {
      "Constant", "Conv",    "Flatten", "GlobalAveragePool", "GlobalMaxPool",
      "Identity", "MaxPool", "Not",     "Softmax",           "Transpose"};
  return DomainOf(node.domain()).empty() &&
         std::find(std::begin(kNames), std::end(kNames), node.op_type()) != std::end(kNames);
}

}  // namespace

Status GraphReader::ReadOpsets() {
  model_opsets_ = OpsetsFrom(file_.model.opset_import());
  // Files from before IR version 3 say nothing.
  if (model_opsets_.empty()) model_opsets_[kOnnx] = 1;
  for (const char* const domain : {kMicrosoft}) model_opsets_.emplace(domain, 1);
  const auto main = model_opsets_.find(kOnnx);
  const auto& nodes = file_.model.graph().node();
  if (main != model_opsets_.end() && main->second < kOldest &&
      !std::all_of(nodes.begin(), nodes.end(), IsUnchanged)) {
    return Unsupported("opset " + std::to_string(main->second) + " is not supported (" +
                       std::to_string(kOldest) + " and newer ones are)");
  }
  return {};
}

Status GraphReader::ReadSignature() try {
  const GraphProto& from = file_.model.graph();
  std::set<std::string> constants;
  for (const TensorProto& initializer : from.initializer()) constants.insert(initializer.name());
  for (const ValueInfoProto& input : from.input()) {
    if (constants.count(input.name()) > 0) continue;
    Result<Tensor> tensor = TensorFrom(input);
    if (!tensor.ok()) return {tensor.status().code(), "input " + tensor.status().message()};
    graph_.inputs.push_back(make_.AddTensor(std::move(*tensor)));
  }
  return {};
} catch (const TranslationFailed&) {
  return make_.status();
}

Status GraphReader::ReadModel(const std::vector<Shape>& input_shapes) try {
  if (!file_.model.has_graph()) return InvalidArgument("the model has no graph");
  GraphProto& from = *file_.model.mutable_graph();
  INTAGLIO_RETURN_IF_ERROR(ReadOpsets());
  Scope scope(nullptr);
  const Arguments none;
  scope_ = &scope;
  opsets_ = &model_opsets_;
  arguments_ = &none;
  INTAGLIO_RETURN_IF_ERROR(ReadInitializers(from));
  INTAGLIO_RETURN_IF_ERROR(ReadInputs(from, input_shapes));
  INTAGLIO_RETURN_IF_ERROR(ReadNodes(from.node()));
  INTAGLIO_RETURN_IF_ERROR(ReadOutputs(from));
  return Finish();
} catch (const TranslationFailed&) {
  return make_.status();
}

}  // namespace intaglio::nn::onnx
